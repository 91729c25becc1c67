// A process that has loaded GDAL and forks readers: loading takes ten times as long as most files.

import Dispatch
import Platform
import Reading
import Synchronization

/// A process that never gets a file and forks readers, which are children of the server.
///
/// A reader dies with the thread that spawned its template, so that thread lives until the last reader has ended.
final class ReaderTemplate: Sendable {
  private let process: ReaderHandle
  private let turn = Mutex<Void>(())
  private let isUnused = DispatchSemaphore(value: 0)

  init?(_ executable: String, memory: UInt64) {
    let isUnused = isUnused
    guard let process = ReaderHandle(executable, ["--reader-template", String(memory)], atEnd: { isUnused.wait() }) else { return nil }
    self.process = process
  }

  deinit {
    process.end()
    isUnused.signal()
  }

  /// Whether it runs with at least the priority of the calling thread: that of a reader cannot be raised.
  var isPrompt: Bool { process.isPrompt }

  /// Forks a reader; nil if that is not possible.
  ///
  /// - Parameter channel: the reader's end.
  func fork(_ channel: Channel) -> pid_t? {
    turn.withLock { _ in
      do {
        try process.send(.fork, files: [channel.descriptor])
        if case .forked(let number) = try process.receive("", isCancelled: { false }).reply, number > 0 { return pid_t(number) }
      } catch {}
      process.end()
      return nil
    }
  }
}
