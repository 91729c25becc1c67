// Documents on the disk: from a path to a world, and from a world to a path. Runs on workers.

import FeatureFormats
import Files
import GeoModel
import Geometry
import JSON
import JSONRPC
import Platform

enum DocumentFile {
  /// Bytes that a document may have.
  private static let largest = 1 << 30
  private static let limits = JSONLimits(values: 100_000_000)

  /// Reads a document into a world of its own.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - empty: an empty world.
  static func read(
    _ path: String, into empty: World, _ worker: Worker
  ) throws -> (world: World, foreign: ForeignMembers) {
    let real: String
    do throws(FileRefusal) { real = try worker.files.policy.resolve(path) } catch { throw RPCError(error, path) }
    let document: JSONDocument
    let bytes = try text(real, path)
    do { document = try bytes.withUnsafeBytes { try JSONDocument($0, limits: limits) } } catch let error
      as JSONSyntaxError
    { throw RPCError(error, inDocument: path) }
    defer { withExtendedLifetime(document) {} }
    var reader = DocumentReader(
      file: path, folder: DocumentFolder(of: real), document.unownedRoot, into: empty, worker)
    try reader.read()
    return (reader.world, reader.foreign)
  }

  private static func text(_ real: String, _ path: String) throws -> [UInt8] {
    func failure() -> RPCError {
      RPCError(FormatError.notReadable(path: path, reason: errorText()))
    }
    let descriptor = open(real, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let identity = FileIdentity(descriptor: descriptor) else { throw failure() }
    defer { close(descriptor) }
    guard identity.size <= largest else {
      throw RPCError(
        invalidDocument: path, at: "", expected: "at most \(largest) bytes", reason: "it has \(identity.size) bytes")
    }
    var problem: RPCError?
    let bytes = [UInt8](unsafeUninitializedCapacity: identity.size) { buffer, count in
      while count < buffer.count {
        let got = readBytes(
          descriptor, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
        if got < 0, errno == EINTR { continue }
        if got < 0 { problem = failure() }
        guard got > 0 else { return }
        count += got
      }
    }
    if let problem { throw problem }
    return bytes
  }
}
