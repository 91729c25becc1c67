// What is recorded of live data: lines on their way from the loop to the task that writes them.

import Synchronization

/// The lines of a recording. The loop adds them, a worker takes them.
public final class Recorder: Sendable {
  private struct State {
    var text: [UInt8] = []
    var count = 0
    var lost = 0
    var isStopped = false
  }
  private let state = Mutex(State())
  /// Bytes that may wait for a slow disk; what comes meanwhile is left out and counted.
  private static let limit = 16 << 20

  /// Whether lines are points of a GPX track, no GeoJSON features.
  public let isGPX: Bool

  public init(isGPX: Bool = false) { self.isGPX = isGPX }

  /// Whether more lines are wanted.
  public var isOpen: Bool { state.withLock { !$0.isStopped } }
  /// Number of lines so far, and of those left out.
  public var counts: (written: Int, lost: Int) { state.withLock { ($0.count, $0.lost) } }

  public func add(_ line: some Sequence<UInt8>) {
    state.withLock { state in
      guard !state.isStopped else { return }
      guard state.text.count < Self.limit else {
        state.lost += 1
        return
      }
      state.text += line
      state.text.append(UInt8(ascii: "\n"))
      state.count += 1
    }
  }

  /// Ends the recording; nothing is added after this.
  public func stop() { state.withLock { $0.isStopped = true } }

  /// What was added since the last call, and whether it was the last.
  public func take() -> (text: [UInt8], isLast: Bool) {
    state.withLock { state in
      defer { state.text = [] }
      return (state.text, state.isStopped)
    }
  }
}

extension World {
  /// Adds a recorder of a source. It is no part of the model, and no command that fails takes it back.
  public mutating func record(_ object: ObjectReference, to recorder: Recorder) {
    recorders[object] = (recorders[object] ?? []).filter(\.isOpen) + [recorder]
  }

  /// Ends the recordings of a source, or of all.
  ///
  /// - Returns: those that ran.
  @discardableResult
  public mutating func stopRecording(_ object: ObjectReference?) -> [Recorder] {
    let found = object.map { recorders.removeValue(forKey: $0) ?? [] } ?? recorders.values.flatMap(\.self)
    if object == nil { recorders = [:] }
    let running = found.filter(\.isOpen)
    for recorder in running { recorder.stop() }
    return running
  }
}
