// The files of an export beside its main one, and the earlier content of a file to which a layer is added.

import Files
import JSONRPC
import Platform
import Reading
import WireCoding

/// A file beside the main one, as a shapefile has several. They get their names one after another, before the main one.
final class SideFile {
  let descriptor: CInt
  let lost: [FileAttribute]
  private let name: HeldName
  private var file: AtomicFile?

  init(replacing name: HeldName) throws {
    let file = try AtomicFile.begin(replacing: name)
    (descriptor, lost, self.name) = (file.descriptor, file.lost, name)
    self.file = consume file
  }

  var size: Int { FileIdentity(descriptor: descriptor)?.size ?? 0 }

  /// Gives the file its name. A file that is empty is not part of the export: an earlier one would not belong to it either.
  func commit(replaces: Bool, for worker: Worker) throws {
    let isEmpty = size == 0
    guard let file = file.take() else { return }
    guard isEmpty else { return try file.commit(replaces: replaces, for: worker) }
    // What has appeared under the name meanwhile is somebody's.
    if replaces { name.unlink() }
  }
}

extension ExportFormat {
  /// The names of the files beside the main one.
  func sideNames(of main: HeldName) -> [HeldName] {
    guard case .process(let driver) = record.writer else { return [] }
    return Self.names(beside: main, driver.sideExtensions)
  }

  /// The names of indexes that belong to an earlier file: readers would use them for the new one.
  func indexNames(of main: HeldName) -> [HeldName] {
    Self.names(beside: main, record.indexExtensions)
  }

  private static func names(beside main: HeldName, _ extensions: [String]) -> [HeldName] {
    let stem = main.name.lastIndex(of: ".").map { main.name[..<$0] } ?? main.name[...]
    return extensions.map { main.sibling("\(stem).\($0)") }
  }
}

extension AtomicFile {
  /// Copies the file that is there, to which a layer will be added. Its content means nothing here: the writer alone reads it.
  ///
  /// - Returns: the state that was copied.
  func copy(_ name: HeldName, checking check: () throws -> Void) throws -> FileIdentity {
    let source = name.open(O_RDONLY)
    guard source >= 0, let identity = FileIdentity(descriptor: source) else { throw RPCError(savingTo: name.path, errno) }
    defer { close(source) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      try check()
      let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw RPCError(savingTo: name.path, errno) }
      if count == 0 { return identity }
      try buffer.withUnsafeBytes { try append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}
