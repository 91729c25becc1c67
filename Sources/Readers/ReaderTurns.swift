// Which readers run at the same time: short requests at once, long ones a few at a time, so that endless files delay no others.

import Platform
import Synchronization

/// Divides the processors among the readers that work on a request.
///
/// A request is short for its first second. Then it is long: its reader has the lowest priority, and at most ``longLimit`` of them run;
/// the others are stopped and continue in order of arrival.
final class ReaderTurns: Sendable {
  private static let shortLimit = 64
  private static let stoppedLimit = 64
  private static let shortNanoseconds: UInt64 = 1_000_000_000

  private struct State {
    /// The oldest first.
    var short: [(reader: ReaderHandle, since: UInt64)] = []
    var long: [ReaderHandle] = []
    var stopped: [ReaderHandle] = []
  }

  private let longLimit: Int
  private let state = Mutex(State())

  init(longLimit: Int) { self.longLimit = longLimit }

  /// Number of requests at the same time: all of them may turn out to be long.
  var limit: Int { longLimit + Self.stoppedLimit }

  /// Begins a request. If there are too many short ones, the oldest becomes a long one.
  func begin(_ reader: ReaderHandle) {
    state.withLock { state in
      if state.short.count >= Self.shortLimit { makeLong(0, &state) }
      state.short.append((reader, monotonicNanoseconds()))
    }
  }

  /// Makes a request a long one when it has taken a second. To be called while waiting for the reader.
  func review(_ reader: ReaderHandle) {
    let now = monotonicNanoseconds()
    state.withLock { state in
      guard let index = state.short.firstIndex(where: { $0.reader === reader }),
        now - state.short[index].since >= Self.shortNanoseconds
      else { return }
      makeLong(index, &state)
    }
  }

  /// Ends a request. The stopped reader that arrived first continues in its place.
  func end(_ reader: ReaderHandle) {
    state.withLock { state in
      state.short.removeAll { $0.reader === reader }
      state.stopped.removeAll { $0 === reader }
      guard let index = state.long.firstIndex(where: { $0 === reader }) else { return }
      state.long.remove(at: index)
      guard !state.stopped.isEmpty else { return }
      let next = state.stopped.removeFirst()
      state.long.append(next)
      next.setPace(.low)
    }
    reader.setPace(.normal)
  }

  private func makeLong(_ index: Int, _ state: inout State) {
    let reader = state.short.remove(at: index).reader
    if state.long.count < longLimit {
      reader.setPace(.low)
      state.long.append(reader)
    } else {
      reader.setPace(.stopped)
      state.stopped.append(reader)
    }
  }
}
