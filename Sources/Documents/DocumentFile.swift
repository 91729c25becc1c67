// Reads a document file into a world. Runs on workers.

import Files
import GeoModel
import Geometry
import Handlers
import JSON
import JSONRPC
import Platform

enum DocumentFile {
  /// The largest document, in bytes.
  private static let maxBytes = 1 << 30
  private static let maximumValues = 100_000_000

  /// Reads a document into a new world.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - empty: an empty world.
  static func read(
    _ path: String, into empty: World, _ worker: Worker
  ) throws -> (world: World, unknown: UnknownMembers) {
    let real: String
    do throws(FileRefusal) { real = try worker.files.policy.resolve(path) } catch { throw RPCError(error) }
    let document: JSONDocument
    let bytes = try text(real, path)
    do { document = try bytes.withUnsafeBytes { try JSONDocument($0, maximum: maximumValues) } } catch let error
      as JSONSyntaxError
    { throw RPCError(error, inDocument: path) }
    defer { withExtendedLifetime(document) {} }
    var reader = DocumentReader(
      file: path, folder: DocumentFolder(of: real), document.unownedRoot, into: empty, worker)
    try reader.read()
    return (reader.world, reader.unknown)
  }

  private static func text(_ real: String, _ path: String) throws -> [UInt8] {
    func failure() -> RPCError { RPCError(FileRefusal.notReadable(path: path, reason: errorText())) }
    let descriptor = open(real, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, let identity = FileIdentity(descriptor: descriptor) else { throw failure() }
    defer { close(descriptor) }
    guard identity.size <= maxBytes else {
      throw RPCError(
        invalidDocument: path, at: "", expected: "at most \(maxBytes) bytes", reason: "it has \(identity.size) bytes")
    }
    var problem: RPCError?
    let bytes = [UInt8](unsafeUninitializedCapacity: identity.size) { buffer, count in
      while count < buffer.count {
        let bytesRead = readBytes(
          descriptor, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
        if bytesRead < 0, errno == EINTR { continue }
        if bytesRead < 0 { problem = failure() }
        guard bytesRead > 0 else { return }
        count += bytesRead
      }
    }
    if let problem { throw problem }
    return bytes
  }
}
