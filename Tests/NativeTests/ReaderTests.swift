// Readers as processes: what confines them, how they end, and what the server makes of hostile ones.

import CReader
import Files
import Foundation
import Geometry
import Readers
import Synchronization
import TestSupport
import Testing

@testable import Reading

@Suite struct `Reader processes` {
  /// A shell script to stand in for a reader.
  private func program(_ lines: String, in directory: TemporaryDirectory) throws -> String {
    let path = try directory.write("#!/bin/sh\n\(lines)\n", to: "reader")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  @Test func `a reader is confined, and says by what`() throws {
    let own = Readers(executable: ServerProcess.path)
    #expect(own.confinement == nil)
    _ = try own.describe(.file(fixture("cities.fgb")))
    let holds = try #require(own.confinement)
    #expect(Set([.lifetime, .systemCalls, .memory]).isSubset(of: holds))
  }

  @Test func `a virtual table reads no other file`() throws {
    let found = try? features(.file(fixture("virtual_table.gpkg")), layer: "users").features
    #expect(found?.contains { "\($0.attributes)".contains("root") } != true)
  }

  @Test func `an endless query ends with its cancel, and other files are read meanwhile`() throws {
    let canceller = Canceller()
    let ended = Mutex<ReadError?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do throws(ReadError) {
        _ = try readers.describe(.file(fixture("endless_view.gpkg")), isCancelled: { canceller.isCancelled })
      } catch { ended.withLock { $0 = error } }
      done.signal()
    }
    #expect(try features(.file(fixture("cities.fgb"))).features.count == 243)
    canceller.cancel()
    done.wait()
    #expect(ended.withLock { $0 } == .cancelled)
  }

  @Test func `a reader that is killed is an error of its task alone`() throws {
    let memory: UInt64 = 3_987_654_321
    let own = Readers(executable: ServerProcess.path, memory: memory)
    let error = try #require(throws: ReadError.self) {
      try own.read(.geoJSON(Array(pointsGeoJSON(100_000).utf8))) { _ in
        for process in processes(memory: memory) { kill(process, SIGKILL) }
      }
    }
    guard case .readerFailed(let failure) = error else { throw error }
    #expect(failure.driver == "GeoJSON" && failure.signal == Int(SIGKILL))
    #expect(failure.reason == "it was killed, by the system for want of memory or by another process")
    #expect(throws: Never.self) { try own.describe(.file(fixture("cities.fgb"))) }
  }

  @Test func `a raster whose reader is killed is opened again`() throws {
    let memory: UInt64 = 3_987_654_322
    let own = Readers(executable: ServerProcess.path, memory: memory)
    let raster = try RasterReader(own, path: fixture("jacksboro_dem.tif"), policy: FilePolicy()) { false }
    let first = try raster.heights([RasterWindow(column: 0, row: 0, width: 8, height: 8)]) { false }
    for process in processes(memory: memory) { kill(process, SIGKILL) }
    #expect(try raster.heights([RasterWindow(column: 0, row: 0, width: 8, height: 8)]) { false } == first)
    #expect(try raster.heights([RasterWindow(column: 200, row: 200, width: 4, height: 2)]) { false }.byteCount == 8 * 4)
  }

  @Test(arguments: [false, true])
  func `a raster that is replaced gives an error instead of heights of two files`(isKilled: Bool) throws {
    let directory = try TemporaryDirectory()
    let memory: UInt64 = isKilled ? 3_987_654_324 : 3_987_654_325
    let own = Readers(executable: ServerProcess.path, memory: memory)
    let path = try directory.copy(fixture("jacksboro_dem.tif"), to: "dem.tif")
    let raster = try RasterReader(own, path: path, policy: FilePolicy()) { false }
    _ = try raster.heights([RasterWindow(column: 0, row: 0, width: 8, height: 8)]) { false }
    let other = try directory.copy(fixture("jacksboro_dem.tif"), to: "other.tif")
    #expect(rename(other, path) == 0)
    if isKilled { for process in processes(memory: memory) { kill(process, SIGKILL) } }
    #expect(throws: ReadError.changedWhileRead(path: path)) {
      try raster.heights([RasterWindow(column: 200, row: 200, width: 8, height: 8)]) { false }
    }
  }

  @Test func `the error of a reader that dies has its signal and GDAL's last messages`() throws {
    let directory = try TemporaryDirectory()
    let reply = #"{"type":"complaint","text":"this file is odd"}"#
    let length = String(reply.utf8.count, radix: 8)
    let script = try program("printf '\\\(length)\\000\\000\\000%s' '\(reply)' >&3\nkill -ABRT $$", in: directory)
    let error = try #require(throws: ReadError.self) {
      try Readers(executable: script).describe(.file(fixture("cities.fgb")))
    }
    guard case .readerFailed(let failure) = error else { throw error }
    #expect(failure.signal == Int(SIGABRT) && failure.messages == ["this file is odd"])
  }

  @Test func `GDAL's messages reach the server as they come`() throws {
    let directory = try TemporaryDirectory()
    let memory: UInt64 = 3_987_654_323
    let own = Readers(executable: ServerProcess.path, memory: memory)
    // A value that is no number, in a column that csvt declares as one, is a warning.
    let rows = (1...40_000).map { "\($0),\($0 == 7 ? "seven" : "7")" }
    _ = try directory.write("\"Integer\",\"Integer\"\n", to: "odd.csvt")
    let path = try directory.write("id,n\n" + rows.joined(separator: "\n") + "\n", to: "odd.csv")
    let error = try #require(throws: ReadError.self) {
      try own.read(.file(path)) { _ in for process in processes(memory: memory) { kill(process, SIGKILL) } }
    }
    guard case .readerFailed(let failure) = error else { throw error }
    #expect(failure.messages.contains { $0.contains("record 7") }, "\(failure)")
  }

  @Test func `a reader beyond its bound of memory fails alone`() throws {
    // GDAL makes a tree of the whole feature.
    let positions = String(repeating: "[1,2],", count: 2_000_000)
    let small = Readers(executable: ServerProcess.path, memory: 320 << 20)
    let error = try #require(throws: ReadError.self) {
      try small.describe(.geoJSON(Array("{\"type\":\"MultiPoint\",\"coordinates\":[\(positions)[1,2]]}".utf8)))
    }
    switch error {
    case .openFailed(_, _, let reason), .readFailed(_, _, _, let reason): #expect(reason.contains("memory"))
    case .readerFailed(let failure): #expect(failure.reason?.contains("memory") == true, "\(failure)")
    default: throw error
    }
  }

  @Test func `what is no reader is an error`() throws {
    let directory = try TemporaryDirectory()
    // It stays after its nonsense, so that its end is the server's doing.
    let script = try program("printf 'sixteen letters!' >&3\nexec sleep 100", in: directory)
    for program in ["/bin/true", "/bin/cat", "/nonexistent", script] {
      let error = try #require(throws: ReadError.self) {
        try Readers(executable: program).describe(.file(fixture("cities.fgb")))
      }
      // What ended it was the server, if anything.
      guard case .readerFailed(let failure) = error, failure.signal == nil else { throw error }
      #expect(failure.reason != nil)
      if program == "/nonexistent" {
        #expect(failure.messages == ["/nonexistent does not start: No such file or directory"])
      }
    }
  }
}

@Suite struct `Blocks of features` {
  private func block(_ rows: Int) -> FeatureBlockBuilder {
    var block = FeatureBlockBuilder(columns: [.integers, .doubles, .bools, .texts, .json])
    for row in 0..<rows {
      block.begin(id: Int64(row))
      if row % 7 == 3 { block.appendNoGeometry() } else { block.appendPoint(x: Double(row), y: -1, z: nil) }
      block.columns[0].append(Int64(row))
      if row % 3 == 0 { block.columns[1].appendNull() } else { block.columns[1].append(Double(row) / 2) }
      block.columns[2].append(row % 2 == 0)
      block.columns[3].append(row % 5 == 0 ? "ünïcode \(row)" : "text")
      block.columns[4].append("[\(row)]")
    }
    return block
  }

  /// Reads everything in a block.
  private func read(_ block: borrowing FeatureBlock) -> Int {
    var count = 0
    for row in 0..<block.count {
      if let geometry = try? block.geometries.geometry(row), geometry.envelope != nil { count += 1 }
      for column in block.columns.indices where block.value(column: column, row: row) != .null { count += 1 }
      if block.ids?[row] ?? -1 >= 0 { count += 1 }
    }
    return count
  }

  @Test func `a block gives what was put in`() throws {
    var builder = block(100)
    let finished = builder.finish()
    let file = try #require(finished)
    defer { close(file) }
    guard let block = FeatureBlock(mapping: file, columns: 5) else { throw Unexpected() }
    #expect(block.count == 100)
    #expect(block.ids?[42] == 42)
    #expect(try block.geometries.geometry(42) == .point(Point(x: 42, y: -1)))
    #expect(try block.geometries.geometry(3) == nil)
    #expect(block.value(column: 0, row: 99) == .integer(99))
    #expect(block.value(column: 1, row: 0) == .null)
    #expect(block.value(column: 1, row: 1) == .double(0.5))
    #expect(block.value(column: 2, row: 2) == .bool(true))
    #expect(block.value(column: 3, row: 5) == .string("ünïcode 5"))
    #expect(block.value(column: 4, row: 7) == .json("[7]"))
  }

  @Test func `a file that can still change is refused`() throws {
    var builder = block(10)
    let finished = builder.finish()
    let sealed = try #require(finished)
    defer { close(sealed) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = pread(sealed, &bytes, bytes.count, 0)
    let open = creader_memory_file()
    defer { close(open) }
    #expect(write(open, bytes, count) == count)
    if case .some = FeatureBlock(mapping: open, columns: 5) { Issue.record("an unsealed file was read") }
    if case .some = FeatureBlock(mapping: sealed, columns: 4) { Issue.record("a column too few was read") }
  }

  // As the kernel holds a page that it moves.
  @Test func `a file in memory that something holds for a moment is sealed`() throws {
    let file = creader_memory_file()
    defer { close(file) }
    #expect(ftruncate(file, 4096) == 0)
    let held = UInt(bitPattern: mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
    let sealing = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    let holder = Thread {
      // A seal that is refused waits for the next attempt.
      while isWorking(thread: "/proc/\(sealing)") { sched_yield() }
      munmap(UnsafeMutableRawPointer(bitPattern: held), 4096)
    }
    holder.start()
    #expect(SharedMemory.seal(file))
    #expect(creader_is_sealed(file) != 0)
  }

  /// The server reads what a reader sends as it reads what a client sends: anything may be in it.
  @Test func `changed bytes give another block or none`() throws {
    var random = SystemRandomNumberGenerator()
    var builder = block(50)
    let finished = builder.finish()
    let sealed = try #require(finished)
    defer { close(sealed) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    bytes.removeLast(bytes.count - pread(sealed, &bytes, bytes.count, 0))
    var blocks = 0
    for round in 0..<3000 {
      var changed = bytes
      for _ in 0...round % 4 {
        // The head, with its offsets and lengths, more often than the rest.
        let index = Int.random(in: 0..<(Bool.random(using: &random) ? 24 + 7 * 32 : changed.count), using: &random)
        changed[index] =
          [0, 1, 8, 127, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
      }
      if round % 10 == 9 { changed.removeLast(Int.random(in: 1..<changed.count, using: &random)) }
      let file = try #require(SharedMemory.file(holding: changed))
      defer { close(file) }
      guard let block = FeatureBlock(mapping: file, columns: 5) else { continue }
      blocks += 1
      #expect(read(block) <= 50 * 7)
    }
    #expect(blocks > 0)
  }
}
