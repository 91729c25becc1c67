// A document that opens is saved as one that opens and is saved as the same text.

import GeoModel
import Handlers
import Platform
import Projection
import Readers

@testable import Documents

extension FuzzTarget {
  static let document = FuzzTarget(
    name: "document",
    words: [
      "\"maps\": ", "\"views\": ", "\"overlays\": ", "\"graphics\": ", "\"layers\": ", "\"viewModels\": ",
      "\"viewpoint\": ",
      "\"symbol\": ", "\"renderer\": ", "\"camera\": ", "1e300", "-1e-15", "null", "EPSG:4326",
    ],
    isJSON: true,
    seeds: {
      try [Seeds.fixture("document-0.1.json")]
        + Seeds.texts().filter { $0.contains("geomodel-document") }.map { Array($0.utf8) }
    },
    run: { (input) throws(Broken) in
      guard let (opened, before) = try? folder.open(input) else { return }
      let first = try accepted("saving") { try folder.save(opened) }
      let (again, problems) = try accepted("what was saved is refused: \(String(decoding: first, as: UTF8.self))") {
        try first.withUnsafeBytes { try folder.open($0) }
      }
      // What is not valid is kept, and is not valid then either.
      try check(
        problems <= before, "what was saved has \(problems) problems: \(String(decoding: first, as: UTF8.self))")
      let second = try accepted("saving again") { try folder.save(again) }
      try check(
        first == second,
        "saved as \(String(decoding: first, as: UTF8.self)), then as \(String(decoding: second, as: UTF8.self))")
    })
}

private let folder = Folder()

/// A folder in memory, where the system has that, for the documents of this process. Nothing else may be opened.
private struct Folder {
  private let path: String
  private let worker: Worker
  private let proj = PROJTransformer()

  init() {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    path = "\(realPath(base) ?? base)/geomodel-fuzz-\(getpid())"
    mkdir(path, 0o700)
    // No file is read: each source fails.
    worker = Worker(
      files: FilePaths(root: path, allowedDirectories: [path]), readers: Readers(executable: "/nonexistent"),
      resultBytes: .max, documentLimits: DocumentLimits(), onProgress: { _ in })
    atexit {
      unlink("\(folder.path)/a.json")
      rmdir(folder.path)
    }
  }

  /// The world of a document, and how many problems it has.
  func open(_ text: UnsafeRawBufferPointer) throws -> (World, problems: Int) {
    let file = "\(path)/a.json"
    let descriptor = Platform.open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard writeAll(text, to: descriptor) else { throw Broken("\(file) cannot be written: \(errorText())") }
    let empty = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    let read = try DocumentFile.read(file, into: empty, worker)
    var world = empty
    world.begin(origin: .task)
    world.open(read.world, path: file, read.unknown)
    world.commit("document/open")
    return (world, read.problems.count)
  }

  func save(_ world: World) throws -> [UInt8] {
    let file = "\(path)/a.json"
    _ = try DocumentWriter.write(world, to: file, worker)
    let descriptor = Platform.open(file, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
    }
  }
}
