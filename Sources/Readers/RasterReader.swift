// The server's access to rasters: a reader holds the file open between requests.

import Files
import Geometry
import Platform
import Reading
import Synchronization

/// An open raster. Its reader may be ended to make room for others; the next read then opens the file again.
///
/// One thread at a time reads.
public final class RasterReader: Sendable {
  public let description: RasterDescription
  private let readers: Readers
  private let path: String
  private let use: RasterUse
  private let policy: FilePolicy
  /// The states of the files at the time of opening.
  private let files: OpenFiles.Key
  private let current: Mutex<ReaderWork>

  /// Opens a raster, for heights: GeoTIFF, Esri ASCII grid, SRTM HGT, DTED, ERDAS Imagine.
  ///
  /// - Parameter path: absolute.
  /// - Complexity: reads the headers only.
  public init(
    _ readers: Readers, path: String, _ use: RasterUse = .heights, policy: FilePolicy, isCancelled: () -> Bool
  ) throws(ReadError) {
    let (work, description, files) = try Self.open(readers, path, use, policy, isCancelled)
    current = Mutex(work)
    self.files = files
    self.description = description
    self.readers = readers
    self.path = path
    self.use = use
    self.policy = policy
  }

  private var work: ReaderWork { current.withLock { $0 } }

  deinit {
    let work = work
    readers.release(work)
    work.end()
  }

  private static func open(
    _ readers: Readers, _ path: String, _ use: RasterUse, _ policy: FilePolicy, _ isCancelled: () -> Bool
  ) throws(ReadError) -> (ReaderWork, RasterDescription, OpenFiles.Key) {
    let files = try OpenFiles(path, OpenOptions(), policy, refusesPart: true)
    let key = files.key ?? OpenFiles.Key()
    var work = try readers.begin(.openRaster(files.job, use), files, path)
    do throws(ReadError) { return try (work, description(from: work, readers, isCancelled), key) } catch {
      work.end()
      // The reader may have been killed while it was idle.
      guard case .readerFailed = error, !work.hasBegun else { throw error }
    }
    work = try readers.begin(.openRaster(files.job, use), files, path, isNew: true)
    do throws(ReadError) { return try (work, description(from: work, readers, isCancelled), key) } catch {
      work.end()
      throw error
    }
  }

  private static func description(
    from work: ReaderWork, _ readers: Readers, _ isCancelled: () -> Bool
  ) throws(ReadError) -> RasterDescription {
    var found: RasterDescription?
    try work.finish(isCancelled: isCancelled) { reply, _ in
      guard case .raster(let raster) = reply else { return false }
      found = raster
      return true
    }
    guard let found else { throw work.failure(died: false) }
    readers.keep(work)
    return found
  }

  /// The heights of windows within the raster in metres, one window after the other; NaN without a value.
  ///
  /// - Throws: `changedWhileRead` if the file has been replaced since it was opened, as heights of two files would be mixed.
  public func heights(_ windows: [RasterWindow], isCancelled: () -> Bool) throws(ReadError) -> RasterHeights {
    let count = windows.reduce(0) { $0 + $1.count }
    return try read(.readWindows, windows, isCancelled) { reply, file in
      reply == .heights ? RasterHeights(mapping: file, count: count) : nil
    }
  }

  /// The pixels of windows within a level.
  ///
  /// - Parameter isBytes: whether all of the bands have bytes.
  /// - Throws: `changedWhileRead` as for heights.
  func pixels(
    _ windows: [RasterWindow], level: Int, bands: [Int], isNearest: Bool, isBytes: Bool, isCancelled: () -> Bool
  ) throws(ReadError) -> [RasterPixels] {
    try read(.readPixels(level: level, bands: bands, isNearest: isNearest), windows, isCancelled) { reply, file in
      reply == .pixels ? RasterPixels.mapping(file, windows, bands: bands.count, isBytes: isBytes) : nil
    }
  }

  /// What is made of the file that answers a request.
  private typealias Taking<Value> = (ReaderReply, CInt) -> Value?

  private func read<Value>(
    _ request: ReaderRequest, _ windows: [RasterWindow], _ isCancelled: () -> Bool, _ take: Taking<Value>
  ) throws(ReadError) -> Value {
    guard let file = windows.withUnsafeBytes({ SharedMemory.file(holding: $0) }) else {
      throw .readFailed(driver: nil, path: path, layer: nil, reason: "shared memory: \(errorText())")
    }
    defer { close(file) }
    do throws(ReadError) {
      let value = try readAgain(request, file, isCancelled, take)
      if !files.wereReplaced { return value }
    } catch {
      if error == .cancelled || !files.wereReplaced { throw error }
    }
    throw .changedWhileRead(path: Address(path).shown)
  }

  private func readAgain<Value>(
    _ request: ReaderRequest, _ windows: CInt, _ isCancelled: () -> Bool, _ take: Taking<Value>
  ) throws(ReadError) -> Value {
    if !readers.isKept(work) { try reopen(isCancelled) }
    do throws(ReadError) { return try readOnce(request, windows, isCancelled, take) } catch {
      // The reader has died, or was ended to make room for another.
      guard case .readerFailed = error else { throw error }
    }
    try reopen(isCancelled)
    return try readOnce(request, windows, isCancelled, take)
  }

  private func reopen(_ isCancelled: () -> Bool) throws(ReadError) {
    let (work, description, _) = try Self.open(readers, path, use, policy, isCancelled)
    // A source without file states, such as an address, is compared by its description.
    guard description == self.description else {
      readers.release(work)
      work.end()
      throw .changedWhileRead(path: Address(path).shown)
    }
    current.withLock { $0 = work }
  }

  private func readOnce<Value>(
    _ request: ReaderRequest, _ windows: CInt, _ isCancelled: () -> Bool, _ take: Taking<Value>
  ) throws(ReadError) -> Value {
    var value: Value?
    do throws(ReadError) {
      try work.send(request, files: [windows])
      try work.finish(isCancelled: isCancelled) { reply, message in
        guard let file = message.files.first else { return false }
        value = take(reply, file)
        return value != nil
      }
      guard let value else { throw work.failure(died: false) }
      return value
    } catch {
      switch error {
      case .cancelled, .readerFailed: readers.release(work)
      case .file, .unrecognized, .openFailed, .readFailed, .changedWhileRead, .noSuchLayer, .missingField, .unavailable, .address,
        .writeFailed, .driverMissing, .writerFailed, .layerExists:
        break
      }
      throw error
    }
  }
}
