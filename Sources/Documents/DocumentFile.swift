// Reads a document file into a world. Runs on workers.

import Files
import GeoModel
import Handlers
import JSON
import JSONRPC
import Platform

/// A document as a world, with the problems found in it.
struct OpenedDocument: Sendable {
  let world: World
  let unknown: UnknownMembers
  let problems: DocumentProblems
}

enum DocumentFile {
  /// Reads a document into a new world. Invalid parts are left out.
  ///
  /// - Parameters:
  ///   - path: an absolute path.
  ///   - empty: an empty world.
  ///   - isOwn: whether a server wrote it, so that it may be anywhere.
  static func read(
    _ path: String, into empty: World, _ worker: Worker, isOwn: Bool = false
  ) throws -> OpenedDocument {
    let file: OpenedFile
    do throws(FileRefusal) { file = try (isOwn ? FilePolicy() : worker.files.policy).open(path) } catch { throw RPCError(error) }
    let document: JSONDocument
    let bytes = try text(file, path, worker.documentLimits.bytes)
    do {
      document = try bytes.withUnsafeBytes { try JSONDocument($0, maximum: worker.documentLimits.values) }
    } catch let error
      as JSONSyntaxError
    { throw RPCError(error, inDocument: path) }
    defer { withExtendedLifetime(document) {} }
    return try read(document.unownedRoot, of: path, in: file.name.path, into: empty, worker)
  }

  /// Reads a document's value, which the caller keeps alive.
  ///
  /// - Parameter real: its real path; `path` if nil.
  static func read(
    _ root: JSONValue, of path: String, in real: String? = nil, into empty: World, _ worker: Worker
  ) throws -> OpenedDocument {
    var reader = DocumentReader(file: path, folder: DocumentFolder(of: real ?? path), root, into: empty, worker)
    try reader.read()
    return OpenedDocument(world: reader.world, unknown: reader.unknown, problems: reader.problems)
  }

  /// The bytes of a file, which is closed.
  private static func text(_ file: OpenedFile, _ path: String, _ maxBytes: Int) throws -> [UInt8] {
    func failure() -> RPCError { RPCError(FileRefusal.notReadable(path: path, reason: errorText())) }
    let (descriptor, identity) = (file.descriptor, file.identity)
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
