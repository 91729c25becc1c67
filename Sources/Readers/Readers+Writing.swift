// The server's access to a writer: a process that writes one file of a GDAL format and has no other file open.

import Platform
import Reading

extension Readers {
  /// Number of blocks in flight: the writer continues while the next block is made, and shared memory is bounded.
  private static let blockLimit = 3

  /// Fills a file with a layer. The writer has ended when it returns or throws.
  ///
  /// - Parameters:
  ///   - target: open for reading and writing; empty unless a layer is added to it.
  ///   - scratch: another such file, empty, for the format's temporary data.
  ///   - sides: others, for the format's files beside the target.
  ///   - path: names the file in errors.
  ///   - isCancelled: called every 10 ms.
  ///   - next: makes the next ``FeatureBlock``, sealed, to be closed; nil at the end.
  /// - Returns: the layer as GDAL has written it, with the number of features where that is known, and GDAL's messages.
  public func write(
    _ job: WriteJob, to target: CInt, scratch: CInt, sides: [CInt] = [], path: String, isCancelled: () -> Bool,
    next: () throws -> CInt?
  ) throws -> (layer: LayerDescription, messages: [String]) {
    guard let writer = ReaderHandle(executable, ["--writer", String(memory)]) else {
      let reason = "a writer does not start: \(errorText())"
      throw ReadError.writerFailed(ReaderFailure(path: path, driver: nil, signal: nil, messages: [reason], reason: reason))
    }
    defer { _ = writer.endSignal() }
    let work = ReaderWork(writer, path, nil) { _ in }
    var isEnding = false
    var written: LayerDescription?
    func sendNext() throws {
      guard !isEnding else { return }
      guard let block = try next() else {
        isEnding = true
        return try work.send(.end)
      }
      defer { close(block) }
      try work.send(.block, files: [block])
    }
    // An error of `next`, in contrast to one of the writer.
    var own: (any Error)?
    do throws(ReadError) {
      try work.send(.write(job), files: [target, scratch] + sides)
      try work.finish(isCancelled: isCancelled) { reply, _ throws(ReadError) in
        do {
          switch reply {
          case .layer(let layer):
            if written == nil { for _ in 0..<Self.blockLimit { try sendNext() } }
            written = layer
          case .taken: try sendNext()
          default: return false
          }
        } catch let error as ReadError {
          throw error
        } catch {
          own = error
          throw ReadError.cancelled
        }
        return true
      }
    } catch {
      if let own { throw own }
      guard case .readerFailed(let failure) = error else { throw error }
      throw ReadError.writerFailed(failure)
    }
    guard let written, isEnding else {
      throw ReadError.writerFailed(
        ReaderFailure(path: path, driver: nil, signal: nil, messages: work.messages, reason: "its answer is invalid"))
    }
    return (written, work.messages)
  }
}
