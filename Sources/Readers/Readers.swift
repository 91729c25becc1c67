// Starts readers and passes them requests: the server's access to vector files.

import Files
import Geometry
import Platform
import Reading
import Synchronization

/// Reads foreign files in separate processes, so that a crash while reading one cannot end the server.
///
/// Calls block their thread until done, and may run on any. A cancel kills the process.
///
/// ```swift
/// let readers = Readers(executable: "/usr/local/bin/geomodel-server")
/// let description = try readers.describe(.file("/data/roads.gpkg"))
/// ```
public final class Readers: Sendable {
  let executable: String
  private let arguments: [String]
  /// Limit of the address space of a reader or writer in bytes.
  let memory: UInt64
  /// Forks readers; started with the first of them.
  private let template = Mutex<ReaderTemplate?>(nil)
  /// A reader that was forked before it is needed.
  private let reserve = Mutex<ReaderHandle?>(nil)
  /// Readers kept after a request for further requests about the same files: a source is described first, and its layers are
  /// loaded afterwards. They never serve other files, because a hostile file could then forge the content of another.
  private let idle = Mutex<[(files: OpenFiles.Key, reader: ReaderHandle)]>([])
  private static let idleLimit = 2
  /// A reader with more resident memory is not kept.
  private static let idleBytes = 192 << 20
  private let protections = Mutex<UInt32?>(nil)
  private let turns: ReaderTurns
  /// Computes with geometries where that takes much time or memory.
  public let engines: Engines
  /// Paints pictures.
  public let painters: Painters
  /// Files, FIFOs and devices that are followed.
  public let feeds: Feeds
  /// Heights of rasters.
  public let tiles = RasterTiles<RasterHeights>()
  let pixels = RasterTiles<RasterPixels>()
  /// Readers that hold rasters open, least recently used first.
  private let kept = Mutex<[ReaderHandle]>([])
  private static let keptLimit = 8

  /// - Parameters:
  ///   - executable: the program that serves with `--reader`.
  ///   - memory: limit of a reader's address space in bytes.
  ///   - longLimit: number of readers that run for longer than a second at the same time.
  ///   - engineMemory: limit of an engine's address space in bytes.
  ///   - painterMemory: limit of a painter's address space in bytes.
  ///   - feedLimit: number of feeds that are followed at the same time.
  public init(
    executable: String, memory: UInt64 = 4 << 30, longLimit: Int = 16, engineMemory: UInt64 = 1 << 30, painterMemory: UInt64 = 4 << 30,
    feedLimit: Int = 64
  ) {
    self.executable = executable
    self.memory = memory
    turns = ReaderTurns(longLimit: longLimit)
    engines = Engines(executable: executable, memory: engineMemory)
    painters = Painters(executable: executable, memory: painterMemory)
    feeds = Feeds(executable: executable, limit: feedLimit)
    arguments = ["--reader", String(memory)]
  }

  deinit {
    reserve.withLock { $0?.end() }
    idle.withLock { idle in for entry in idle { entry.reader.end() } }
  }

  /// Number of requests to readers at the same time; the caller lets further ones wait.
  public var limit: Int { turns.limit }

  /// The protections of the last reader that began to work; nil before the first.
  public var confinement: [ReaderConfinement]? {
    protections.withLock { held in held.map { held in ReaderConfinement.allCases.filter { $0.bit & held != 0 } } }
  }

  /// Describes the contents of a source.
  ///
  /// - Parameters:
  ///   - isCancelled: called every 10 ms.
  ///   - progress: a rising fraction in 0...1, by bytes read of a text format; ends with 1.
  /// - Complexity: text formats (GeoJSON, KML, GPX, CSV) are parsed as a whole, others by their headers.
  public func describe(
    _ source: FeatureSource, options: OpenOptions = OpenOptions(), policy: FilePolicy = FilePolicy(),
    isCancelled: () -> Bool = { false }, progress: (Double) -> Void = { _ in }
  ) throws(ReadError) -> SourceDescription {
    let files = try open(source, options, policy)
    var found: SourceDescription?
    let messages = try run(.describe(files.job), files, source.name, isCancelled: isCancelled) { reply, _ in
      switch reply {
      case .source(let source): found = source
      case .progress(let fraction): progress(fraction)
      default: return false
      }
      return true
    }
    guard let found else { throw Self.nonsense(source.name) }
    let warnings = (files.warnings + messages).prefix(ReaderWork.messageLimit)
    return SourceDescription(driver: found.driver, name: found.name, layers: found.layers, warnings: Array(warnings))
  }

  /// Reads the features of one layer in file order.
  ///
  /// - Parameters:
  ///   - layer: nil for the first.
  ///   - isCancelled: called every 10 ms, and between blocks.
  ///   - progress: a rising fraction in 0...1; ends with 1 only when everything has been read.
  ///   - begin: called with the layer before its first features.
  ///   - body: called with each block, while the reader reads on.
  /// - Throws: also after `body` was called; the caller then discards those features.
  /// - Complexity: O(n) in the file.
  @discardableResult
  public func read(
    _ source: FeatureSource, layer: String? = nil, options: OpenOptions = OpenOptions(),
    policy: FilePolicy = FilePolicy(), isCancelled: () -> Bool = { false }, progress: (Double) -> Void = { _ in },
    begin: (LayerDescription) -> Void = { _ in }, body: (borrowing FeatureBlock) throws(ReadError) -> Void
  ) throws(ReadError) -> LayerDescription {
    let files = try open(source, options, policy)
    var found: LayerDescription?
    try run(.readFeatures(files.job, layer: layer), files, source.name, isCancelled: isCancelled) {
      reply, message throws(ReadError) in
      switch reply {
      case .layer(let layer) where found == nil:
        found = layer
        begin(layer)
      case .block:
        guard let layer = found, let file = message.files.first,
          let block = FeatureBlock(mapping: file, columns: layer.fields.count)
        else { return false }
        try body(block)
      case .progress(let fraction): progress(fraction)
      default: return false
      }
      return true
    }
    guard let found else { throw Self.nonsense(source.name) }
    return found
  }

  /// The bytes of a packed entry of an archive.
  ///
  /// - Parameters:
  ///   - archive: open for reading.
  ///   - path: of the archive.
  public func unpack(
    _ entry: ZipEntry, of archive: CInt, _ path: String, isCancelled: () -> Bool
  ) throws(ReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    try unpack(entry, of: archive, path, isCancelled) { bytes = Array($0) }
    return bytes
  }

  /// Throws unless a packed entry of an archive unpacks as it says. Its bytes stay outside of this process.
  public func verify(_ entry: ZipEntry, of archive: CInt, _ path: String, isCancelled: () -> Bool) throws(ReadError) {
    try unpack(entry, of: archive, path, isCancelled) { _ in }
  }

  private func unpack(
    _ entry: ZipEntry, of archive: CInt, _ path: String, _ isCancelled: () -> Bool, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(ReadError) {
    let files = try OpenFiles(entry, of: archive, path)
    guard entry.size > 0 else { return }
    try run(.unpack(files.job), files, "\(path)/\(entry.name)", isCancelled: isCancelled) { reply, message in
      guard reply == .block, let file = message.files.first, let memory = SharedMemory.map(file) else { return false }
      defer { SharedMemory.unmap(memory) }
      guard memory.count == entry.size else { return false }
      body(memory)
      return true
    }
  }

  private func open(
    _ source: FeatureSource, _ options: OpenOptions, _ policy: FilePolicy
  ) throws(ReadError) -> OpenFiles {
    switch source {
    case .geoJSON(let bytes): try OpenFiles(geoJSON: bytes)
    case .file(let path): try OpenFiles(path, options, policy)
    }
  }

  static func nonsense(_ path: String) -> ReadError {
    .readerFailed(ReaderFailure(path: path, driver: nil, signal: nil, messages: [], reason: "its answer is invalid"))
  }

  /// Runs one request in a reader.
  ///
  /// - Parameter body: called with each reply but the last; returns false for an unexpected one.
  /// - Returns: GDAL's messages during the request.
  @discardableResult
  private func run(
    _ request: ReaderRequest, _ files: OpenFiles, _ path: String, isCancelled: () -> Bool,
    body: (ReaderReply, Message) throws(ReadError) -> Bool
  ) throws(ReadError) -> [String] {
    let messages: [String]
    do throws(ReadError) {
      var work = try begin(request, files, path)
      do throws(ReadError) { try work.finish(isCancelled: isCancelled, body) } catch {
        work.end()
        // The reader may have been killed while it was idle.
        guard case .readerFailed = error, !work.hasBegun else { throw error }
        work = try begin(request, files, path, isNew: true)
        do throws(ReadError) { try work.finish(isCancelled: isCancelled, body) } catch {
          work.end()
          throw error
        }
      }
      messages = work.messages
      putAside(work, files)
    } catch {
      // GDAL reports a file that changes while it is read as broken.
      if error != .cancelled, files.haveChanged { throw .changedWhileRead(path: path) }
      throw error
    }
    if files.haveChanged { throw .changedWhileRead(path: path) }
    return messages
  }

  /// Keeps the reader for further requests about the same files, or ends it.
  private func putAside(_ work: ReaderWork, _ files: OpenFiles) {
    guard let key = files.key, work.residentBytes <= Self.idleBytes else { return work.end() }
    let oldest = idle.withLock { idle in
      idle.append((key, work.reader))
      return idle.count > Self.idleLimit ? idle.removeFirst().reader : nil
    }
    oldest?.end()
  }

  /// Sends the first request to a reader.
  ///
  /// - Parameter isNew: whether to start a reader, because a waiting one may be dead.
  func begin(
    _ request: ReaderRequest, _ files: OpenFiles, _ path: String, isNew: Bool = false
  ) throws(ReadError) -> ReaderWork {
    // A reader with network access reads nothing else.
    let isRemote = files.job.address != nil
    let ready = isNew || isRemote ? nil : waiting(for: files)
    guard let reader = ready ?? ReaderHandle(executable, arguments + (isRemote ? ["--allow-network"] : [])) else {
      let reason = "a reader does not start: \(errorText())"
      throw .readerFailed(
        ReaderFailure(path: Address(path).shown, driver: nil, signal: nil, messages: [reason], reason: reason))
    }
    let work = ReaderWork(reader, Address(path).shown, turns) { [weak self] held in
      self?.protections.withLock { $0 = held }
    }
    // If the reader has died, receiving reports it.
    try? reader.send(request, files: files.descriptors)
    return work
  }

  /// The template; nil for the first reader, which takes no longer to start itself.
  private func runningTemplate() -> ReaderTemplate? {
    template.withLock { template in
      if let template, template.isPrompt { return template }
      template = ReaderTemplate(executable, memory: memory)
      return nil
    }
  }

  /// A reader that has read these files before, or else a forked one; nil if none can be forked yet.
  private func waiting(for files: OpenFiles) -> ReaderHandle? {
    let known = idle.withLock { idle in
      idle.lastIndex { $0.files == files.key }.map { idle.remove(at: $0).reader }
    }
    let waiting =
      known
      ?? runningTemplate().flatMap { template in
        let next = ReaderHandle(executable, arguments, template: template)
        let last = reserve.withLock { reserve in
          defer { reserve = next }
          return reserve
        }
        return last ?? ReaderHandle(executable, arguments, template: template)
      }
    guard let waiting, !waiting.matchPriority() else { return waiting }
    // The reader has the lower priority of the thread that started it, and it cannot be raised.
    waiting.end()
    return nil
  }
}

extension Readers {
  /// Keeps a raster's reader between requests, as the most recently used; ends the least recently used beyond ``keptLimit``.
  func keep(_ work: ReaderWork) {
    let oldest = kept.withLock { kept in
      kept.removeAll { $0 === work.reader }
      kept.append(work.reader)
      return kept.count > Self.keptLimit ? kept.removeFirst() : nil
    }
    oldest?.end()
  }

  /// Whether the reader is kept; if so, it becomes the most recently used.
  func isKept(_ work: ReaderWork) -> Bool {
    kept.withLock { kept in
      guard let index = kept.firstIndex(where: { $0 === work.reader }) else { return false }
      kept.append(kept.remove(at: index))
      return true
    }
  }

  func release(_ work: ReaderWork) { kept.withLock { kept in kept.removeAll { $0 === work.reader } } }
}
