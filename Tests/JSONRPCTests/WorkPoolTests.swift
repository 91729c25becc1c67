// Threads for tasks: the urgent first, and long work yields.

import Dispatch
import Platform
import Synchronization
import Testing

@testable import JSONRPC

@Suite struct WorkPoolTests {
  private final class Log: Sendable {
    let entries = Mutex<[String]>([])
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  private func pool() -> WorkPool {
    let queue = DispatchQueue(label: "usual priority")
    return WorkPool { queue.async(execute: $0) }
  }

  @Test func `when every thread is taken the most urgent work is next, then the oldest`() {
    let pool = pool()
    let (begun, go, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for _ in 0..<pool.threadLimit {
      pool.submit(.utility) {
        begun.signal()
        go.wait()
      }
    }
    for _ in 0..<pool.threadLimit { begun.wait() }
    let log = Log()
    for (priority, name) in [
      (WorkPriority.background, "last"), (.utility, "third"), (.utility, "fourth"), (.userInitiated, "first"),
      (.userInitiated, "second"),
    ] {
      pool.submit(priority) {
        log.add(name)
        done.signal()
      }
    }
    // One thread becomes free, and does it all.
    go.signal()
    for _ in 0..<5 { done.wait() }
    #expect(log.entries.withLock(\.self) == ["first", "second", "third", "fourth", "last"])
    for _ in 1..<pool.threadLimit { go.signal() }
  }

  /// One thread is woken at a time, and wakes the next: none may be forgotten.
  @Test func `all work is done, whoever submits it and however often the pool runs dry`() {
    let pool = pool()
    let missing = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 4) { seed in
      let done = DispatchSemaphore(value: 0)
      for round in 0..<5_000 {
        let count = 1 + (round + seed) % 3
        for number in 0..<count { pool.submit(WorkPriority.allCases[(round + number) % 3]) { done.signal() } }
        for _ in 0..<count where done.wait(timeout: .now() + 20) == .timedOut {
          return missing.withLock { $0 += 1 }
        }
      }
    }
    #expect(missing.withLock(\.self) == 0)
  }

  @Test func `work that takes long gets a lower priority, unless somebody waits for it`() {
    let pool = pool()
    let usual = niceness()
    let log = Log()
    let (begun, go, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for priority in WorkPriority.allCases {
      pool.submit(priority) {
        begun.signal()
        go.wait()
        log.add("\(priority) \(niceness() - usual)")
        done.signal()
      }
    }
    for _ in WorkPriority.allCases { begun.wait() }
    while pool.lowerLongWork() {}
    for _ in WorkPriority.allCases { go.signal() }
    for _ in WorkPriority.allCases { done.wait() }
    #expect(log.entries.withLock { $0.sorted() } == ["background 10", "userInitiated 0", "utility 5"])
    // New threads are as before.
    pool.submit(.utility) {
      log.add("\(niceness() - usual)")
      done.signal()
    }
    done.wait()
    #expect(log.entries.withLock(\.last) == "0")
  }

  @Test func `a thread in the place of one that was lowered is not`() {
    let pool = pool()
    let usual = niceness()
    let log = Log()
    let (begun, go, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for _ in 0..<pool.threadLimit {
      pool.submit(.background) {
        begun.signal()
        go.wait()
      }
    }
    for _ in 0..<pool.threadLimit { begun.wait() }
    pool.submit(.utility) {
      log.add("\(niceness() - usual)")
      done.signal()
    }
    go.signal()
    done.wait()
    #expect(log.entries.withLock(\.self) == ["0"])
    for _ in 1..<pool.threadLimit { go.signal() }
  }
}
