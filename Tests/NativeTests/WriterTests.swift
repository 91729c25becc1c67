// Writers as processes: what confines them, how they end, and what is left of their file.

import Files
import Foundation
import Geometry
import Readers
import Synchronization
import TestSupport
import Testing

@testable import Reading

@Suite struct `Writer processes` {
  private static let job = WriteJob(
    driver: .geoPackage,
    layer: LayerDescription(
      name: "points", geometryType: "Point", fields: [Field(name: "n", type: .integer)], featureCount: nil, extent: nil,
      spatialReference: .wgs84, fidColumn: "fid", geometryName: "geom"),
    z: .none, m: .none, isIndexed: true)

  /// A file of `name` and one without a name.
  private func files(_ name: String, in directory: TemporaryDirectory) -> (target: CInt, scratch: CInt) {
    func file(_ name: String) -> CInt { open(directory.file(name), O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    defer { unlink(directory.file("scratch")) }
    return (file(name), file("scratch"))
  }

  private func block(_ rows: Range<Int>) -> CInt? {
    var builder = FeatureBlockBuilder(columns: [.integers])
    for row in rows {
      builder.begin(id: Int64(row))
      builder.appendPoint(x: Double(row % 180), y: Double(row % 90), z: nil)
      builder.columns[0].append(Int64(row))
    }
    return builder.finish()
  }

  /// Writes blocks of 1,000 points.
  ///
  /// - Parameter each: called before each block.
  private func write(
    _ blocks: Int, by own: Readers, in directory: TemporaryDirectory, _ canceller: Canceller? = nil,
    before each: (Int) throws -> Void = { _ in }
  ) throws -> LayerDescription {
    let files = files("out.gpkg", in: directory)
    defer {
      close(files.target)
      close(files.scratch)
    }
    var count = 0
    return try own.write(
      Self.job, to: files.target, scratch: files.scratch, path: "/out.gpkg", isCancelled: { canceller?.isCancelled ?? false }
    ) {
      guard count < blocks else { return nil }
      try each(count)
      count += 1
      return block((count - 1) * 1000..<count * 1000)
    }.layer
  }

  @Test func `what a writer writes is read`() throws {
    let directory = try TemporaryDirectory()
    let layer = try write(20, by: readers, in: directory)
    #expect(layer.featureCount == 20_000 && layer.fields == Self.job.layer.fields)
    let read = try features(.file(directory.file("out.gpkg")))
    #expect(read.layer.name == "points" && read.layer.spatialReference == .wgs84)
    #expect(read.features.map(\.fid) == (0..<20_000).map { Int64($0) })
    #expect(read.features.allSatisfy { $0.attributes == [.integer($0.fid ?? -1)] })
  }

  @Test func `a writer is confined, and has nothing open but its files`() throws {
    let directory = try TemporaryDirectory()
    let memory: UInt64 = 3_987_654_331
    let seen = Mutex<(files: Set<String>, status: String)>(([], ""))
    _ = try write(8, by: Readers(executable: ServerProcess.path, memory: memory), in: directory) { number in
      guard number == 5, let process = processes(memory: memory).first else { return }
      let folder = "/proc/\(process)/fd"
      let files = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      }
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      seen.withLock { $0 = (Set(files), status) }
    }
    let own = directory.path + "/"
    let (files, status) = seen.withLock { $0 }
    #expect(files.contains(own + "out.gpkg") && status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"))
    let others = files.filter { name in
      ![own, "/dev/null", "socket:", "/memfd:", "anon_inode:"].contains { name.hasPrefix($0) }
        && !name.hasSuffix("/proj.db")
    }
    #expect(others.isEmpty)
  }

  @Test func `a writer that is killed is an error of its task alone`() throws {
    let directory = try TemporaryDirectory()
    let memory: UInt64 = 3_987_654_332
    let own = Readers(executable: ServerProcess.path, memory: memory)
    let error = try #require(throws: ReadError.self) {
      try write(20, by: own, in: directory) { number in
        if number == 7 { for process in processes(memory: memory) { kill(process, SIGKILL) } }
      }
    }
    guard case .writerFailed(let failure) = error else { throw error }
    #expect(failure.signal == Int(SIGKILL) && failure.path == "/out.gpkg")
    #expect(try write(2, by: own, in: directory).featureCount == 2000)
  }

  @Test func `a cancel ends the writer at once`() throws {
    let directory = try TemporaryDirectory()
    let memory: UInt64 = 3_987_654_333
    let canceller = Canceller()
    #expect(throws: ReadError.cancelled) {
      _ = try write(
        1000, by: Readers(executable: ServerProcess.path, memory: memory), in: directory, canceller
      ) { if $0 == 5 { canceller.cancel() } }
    }
    #expect(processes(memory: memory).isEmpty)
  }

  @Test func `an error while features are made ends the writer, and is the error`() throws {
    struct Own: Error {}
    let directory = try TemporaryDirectory()
    let memory: UInt64 = 3_987_654_334
    #expect(throws: Own.self) {
      _ = try write(20, by: Readers(executable: ServerProcess.path, memory: memory), in: directory) { number in
        if number == 4 { throw Own() }
      }
    }
    #expect(processes(memory: memory).isEmpty)
  }

  @Test(arguments: ["exit 0", "printf '\\004\\000\\000\\000nope' >&3", "echo >&3"])
  func `what is no writer is an error`(lines: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("#!/bin/sh\n\(lines)\n", to: "writer")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let error = try #require(throws: ReadError.self) {
      try write(2, by: Readers(executable: path), in: directory)
    }
    guard case .writerFailed = error else { throw error }
  }

  @Test func `a driver that this GDAL does not have is named, with those it has`() throws {
    let directory = try TemporaryDirectory()
    let files = files("out.parquet", in: directory)
    defer {
      close(files.target)
      close(files.scratch)
    }
    var job = Self.job
    job.driver = .parquet
    do {
      _ = try readers.write(
        job, to: files.target, scratch: files.scratch, path: "/out.parquet", isCancelled: { false }
      ) { nil }
    } catch ReadError.driverMissing(let driver, let available) {
      #expect(driver == .parquet && available.contains(.geoPackage))
    }
  }
}
