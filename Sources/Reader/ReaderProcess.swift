// The reader role of the process: confines itself, then serves the server's requests about one set of files.

import CGDAL
import CLibraries
import CReader
import Geometry
import JSON
import Platform
import Reading
import Synchronization

/// A process that reads foreign files and does nothing else, one source after the other. It ends when its channel closes.
public enum ReaderProcess {
  /// Serves requests at a descriptor until the other end is gone.
  ///
  /// - Parameters:
  ///   - memory: limit of the address space in bytes.
  ///   - allowsNetwork: whether it reads from the network; it then gets no files.
  ///   - inherited: what confines it already, as the process that it was forked from.
  public static func serve(at descriptor: CInt, memory: UInt64, allowsNetwork: Bool, inherited: UInt32 = 0) -> Never {
    let channel = Channel(descriptor: descriptor)
    setEnvironment(allowsNetwork)
    cgdal_allow_network(allowsNetwork ? 1 : 0)
    var protections = creader_confine(memory, fileSizeLimit, allowsNetwork ? 1 : 0, inherited)
    listen(channel)
    do {
      try reply(.ready(protections), channel)
      // GDAL takes most of the start-up time, so it is loaded while the process waits for work, but not between requests in quick
      // succession, which may not need it.
      if !channel.hasMessage(within: quietMilliseconds) { _ = GDALLibrary.shared }
      var server: ReaderServer?
      while true {
        let message = try channel.receive()
        let request = try message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
        if let job = request.job {
          if server == nil {
            guard (job.address != nil) == allowsNetwork else { _exit(1) }
            // Loaded before the restriction: libraries may be in folders that a confined reader cannot open.
            if !TextFile.isExpected(of: job) { _ = GDALLibrary.shared }
            protections |= restrict(job, message.files)
            try reply(.ready(protections), channel)
            startThread {
              channel.awaitEnd()
              _exit(0)
            }
          }
          listen(channel)
          server = ReaderServer(job, job.database == nil ? message.takeFiles() : [], channel, memory)
        }
        guard let server else { _exit(1) }
        try server.answer(request, in: message)
      }
    } catch ChannelError.exhausted {
      try? reply(.failed(.openFailed(driver: nil, path: "", reason: errorText(EMFILE))), channel)
      _exit(1)
    } catch {
      _exit(0)
    }
  }

  /// Forks readers, with GDAL loaded, until the other end is gone. The process itself never gets a file, and has one thread.
  public static func serveTemplate(at descriptor: CInt, memory: UInt64) -> Never {
    let channel = Channel(descriptor: descriptor)
    setEnvironment(false)
    let inherited = creader_confine_template()
    // Not while the first reader loads it too, unless another is wanted.
    _ = channel.hasMessage(within: quietMilliseconds)
    _ = GDALLibrary.shared
    do {
      while true {
        // A reader must not close its channel, which has the number of this one.
        try withExtendedLifetime(channel) {
          let files = try channel.receive().takeFiles()
          defer { for file in files { close(file) } }
          guard let file = files.first else { _exit(1) }
          let process = creader_fork(file)
          if process == 0 { serve(at: 3, memory: memory, allowsNetwork: false, inherited: inherited) }
          try reply(.forked(Int(process)), channel)
        }
      }
    } catch {
      _exit(0)
    }
  }

  private static let quietMilliseconds: CInt = 250

  /// The channel for GDAL's messages, and how many more are sent for this source: some drivers warn about every feature.
  private static let complaints = Mutex<(channel: Channel?, left: Int)>((nil, 0))
  private static let complaintLimit = 100

  /// Sends GDAL's messages to the channel, up to ``complaintLimit``.
  static func listen(_ channel: Channel) {
    complaints.withLock { $0 = (channel, complaintLimit) }
    cgdal_listen { ReaderProcess.report(String(cString: $0)) }
  }

  static func report(_ text: String) {
    complaints.withLock { complaints in
      guard complaints.left > 0, let channel = complaints.channel else { return }
      complaints.left -= 1
      try? reply(.complaint(ReaderFiles.cleaned(text)), channel)
    }
  }

  /// Limit of a shared file: a block of features or a tile is far smaller, a single geometry may be large.
  private static let fileSizeLimit: UInt64 = 1 << 30

  static func reply(_ reply: ReaderReply, _ channel: Channel, files: [CInt] = []) throws(ChannelError) {
    try channel.send(files: files) { reply.encode(to: &$0) }
  }

  /// Sets the variables that configure GDAL and its libraries, overriding the client's environment.
  static func setEnvironment(_ allowsNetwork: Bool) {
    for (name, value) in [
      ("SPATIALITE_LOAD", "NO"), ("OGR_SQLITE_LOAD_EXTENSIONS", ""), ("PROJ_NETWORK", "OFF"), ("CPL_DEBUG", "OFF"),
      ("GDAL_DRIVER_PATH", "disable"), ("OGR_DRIVER_PATH", "disable"), ("GDAL_CONFIG_FILE", "/dev/null"),
      // Threads of libraries would keep a template from forking.
      ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1"),
      ("OGR_SQLITE_PRAGMA", "temp_store=MEMORY,trusted_schema=0"),
      // Timeouts in seconds: without a connection, and below one byte a second. Whole downloads have no time limit.
      ("GDAL_HTTP_CONNECTTIMEOUT", allowsNetwork ? "30" : "1"), ("GDAL_HTTP_LOW_SPEED_TIME", "60"),
      ("GDAL_HTTP_LOW_SPEED_LIMIT", "1"), ("GDAL_DISABLE_READDIR_ON_OPEN", allowsNetwork ? "EMPTY_DIR" : "FALSE"),
    ] { setenv(name, value, 1) }
    unsetenv("GDAL_SKIP")
    if let folder = bundledFolder { useBundle(in: folder, allowsNetwork) }
  }

  /// The folder of libraries beside the program, if it brings its own.
  static var bundledFolder: String? { clibraries_folder().map { String(cString: $0) } }

  /// Variables of the machine's GDAL do not apply to the bundled one, which has PROJ and its database inside.
  private static func useBundle(in folder: String, _ allowsNetwork: Bool) {
    let data = folder + "/gdal"
    // PROJ takes a proj.db of the user's folder or of the current one before its own.
    for name in ["GDAL_DATA", "PROJ_USER_WRITABLE_DIRECTORY"] { setenv(name, data, 1) }
    _ = chdir(data)
    // Certificates that the user or the machine trusts come before the bundle's.
    guard allowsNetwork, getenv("CURL_CA_BUNDLE") == nil, getenv("SSL_CERT_FILE") == nil else { return }
    let trusted = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"]
    setenv("CURL_CA_BUNDLE", trusted.first { access($0, R_OK) == 0 } ?? folder + "/cacert.pem", 1)
  }

  /// Paths that libraries read.
  private static let libraryFolders = [
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/proj", "/usr/share/gdal", "/usr/local/lib",
    "/usr/local/share/proj", "/usr/local/share/gdal", "/opt/homebrew", "/etc/ld.so.cache", "/dev/null",
    "/dev/urandom",
  ]

  /// Paths that libraries read to reach the network.
  private static let networkFolders = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/ssl",
    "/etc/pki",
    "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/run/systemd/resolve",
  ]

  /// Makes only the request's files and the libraries' paths readable.
  private static func restrict(_ job: ReadJob, _ files: [CInt]) -> UInt32 {
    restrict(to: job.database == nil ? [] : files, reachesNetwork: job.address != nil)
  }

  /// Makes only the files open at `files`, read-only, the libraries' paths and `more` accessible.
  static func restrict(to files: [CInt], reachesNetwork: Bool = false, _ more: [String] = []) -> UInt32 {
    var folders = libraryFolders + more + (bundledFolder.map { [$0] } ?? []) + (reachesNetwork ? networkFolders : [])
    for name in [
      "LD_LIBRARY_PATH", "PROJ_DATA", "PROJ_LIB", "GDAL_DATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
    ] {
      if let value = getenv(name) { folders += String(cString: value).split(separator: ":").map(String.init) }
    }
    return withStrings(folders) { list in
      list.map { creader_restrict_files($0, files, files.count) } ?? 0
    }
  }
}

/// Answers requests about one set of files, one after the other.
private final class ReaderServer {
  private let job: ReadJob
  private let files: ReaderFiles
  private let channel: Channel
  /// Limit of the address space in bytes.
  private let memory: UInt64
  private var raster: RasterFile?
  private var pixels: PixelFile?
  /// Blocks sent and not yet taken; limits the use of shared memory.
  private var unread = 0

  init(_ job: ReadJob, _ descriptors: [CInt], _ channel: Channel, _ memory: UInt64) {
    self.job = job
    self.memory = memory
    files = ReaderFiles(job, descriptors) { try? ReaderProcess.reply(.progress($0), channel) }
    self.channel = channel
    if let address = job.address { AddressCheck.guardNetwork(for: address) }
  }

  /// - Parameter message: its message.
  func answer(_ request: ReaderRequest, in message: Message) throws {
    do {
      if let fault = files.fault { throw fault }
      switch request {
      case .unpack: try unpack()
      case .describe: try describe()
      case .readFeatures(_, let layer): try readFeatures(of: layer)
      case .openRaster(_, .pixels(let table)):
        let pixels = try PixelFile(files, table: table)
        self.pixels = pixels
        try send(.raster(pixels.description))
      case .openRaster:
        let raster = try RasterFile(files)
        self.raster = raster
        try send(.raster(raster.description))
      case .readWindows: try readWindows(message.files.first)
      case .readPixels(let level, let bands, let isNearest):
        try readPixels(message.files.first, level, bands, isNearest: isNearest)
      case .taken: return
      // Requests to other processes.
      case .fork, .write, .block, .end, .relate, .compute, .follow, .paint, .measure: _exit(1)
      }
      try send(.done(residentBytes() ?? 0))
    } catch let error as ReadError {
      try send(.failed(explained(error)))
    }
  }

  /// The reason why no data came from an address, or were too many, beside or in place of what GDAL makes of that.
  private func explained(_ error: ReadError) -> ReadError {
    switch error {
    case .unrecognized, .openFailed, .readFailed:
      if let address = job.address, let fault = AddressCheck.fault(of: address) { return .address(path: "", fault) }
    case .file, .changedWhileRead, .noSuchLayer, .layerExists, .address, .missingField, .cancelled, .unavailable, .readerFailed,
      .writeFailed, .driverMissing, .writerFailed:
      return error
    }
    // Libraries take address space, and parsers double what they have: beyond a quarter a failure may be one of memory.
    let peak = creader_peak_memory()
    guard peak > memory / 4 else { return error }
    let note = "; the reader had \(peak >> 20) of the \(memory >> 20) MiB of memory that it may have"
    if case .openFailed(let driver, let path, let reason) = error {
      return .openFailed(driver: driver, path: path, reason: reason + note)
    }
    if case .readFailed(let driver, let path, let layer, let reason) = error {
      return .readFailed(driver: driver, path: path, layer: layer, reason: reason + note)
    }
    return error
  }

  private func send(_ reply: ReaderReply, files: [CInt] = []) throws(ChannelError) {
    try ReaderProcess.reply(reply, channel, files: files)
  }

  private func unpack() throws {
    guard let file = files.mainDescriptor, SharedMemory.seal(file) else {
      throw ReadError.openFailed(driver: nil, path: "", reason: "shared memory: \(errorText())")
    }
    try send(.block, files: [file])
  }

  private func opened(_ driver: String) { try? send(.opened(driver)) }

  private func describe() throws {
    let text = TextFile(job, files)
    if let text {
      opened(FeatureDriver.geoJSON.rawValue)
      if let layer = text.layer(share: 1), let description = try text.description(layer) {
        files.reached(1)
        return try send(.source(SourceDescription(driver: layer.driver, name: "", layers: [description])))
      }
    }
    do { try describeByGDAL() } catch let error as ReadError { throw text?.located(error) ?? error }
  }

  private func describeByGDAL() throws {
    let description = try FeatureDataset.with(job, files, for: .description, opened: opened) {
      dataset throws(ReadError) in
      var layers: [LayerDescription] = []
      for index in 0..<dataset.layerCount { layers.append(try dataset.layer(at: index).description) }
      return SourceDescription(driver: dataset.driver, name: "", layers: layers)
    }
    try send(.source(description))
  }

  private func readFeatures(of name: String?) throws {
    let text = TextFile(job, files)
    if let text, try readText(text, name) { return try awaitAllTaken() }
    do throws(ReadError) {
      try FeatureDataset.with(job, files, for: .features, opened: opened) { dataset throws(ReadError) in
        let layer = try dataset.layer(named: name)
        try orEnd { () throws(ChannelError) in try send(.layer(layer.description)) }
        try dataset.readFeatures(of: layer) { block throws(ReadError) in
          try send(&block, dataset.driver, layer.description)
        }
      }
    } catch {
      throw text?.located(error) ?? error
    }
    try awaitAllTaken()
  }

  /// - Returns: false, with nothing sent, if the file is left to GDAL.
  private func readText(_ text: TextFile, _ name: String?) throws(ReadError) -> Bool {
    opened(FeatureDriver.geoJSON.rawValue)
    let start = text.isKnown ? 0 : 0.5
    guard let layer = text.layer(share: start), let description = try text.description(layer) else { return false }
    if let name, name != description.name { throw .noSuchLayer(name, available: [description.name]) }
    try orEnd { () throws(ChannelError) in try send(.layer(description)) }
    try text.readFeatures(of: layer, from: start) { block throws(ReadError) in
      try send(&block, layer.driver, description)
    }
    return true
  }

  private func send(
    _ block: inout FeatureBlockBuilder, _ driver: FeatureDriver, _ layer: LayerDescription
  ) throws(ReadError) {
    guard let file = block.finish() else {
      throw .readFailed(
        driver: driver.rawValue, path: "", layer: layer.name, reason: "shared memory: \(errorText())")
    }
    defer { close(file) }
    try orEnd { () throws(ChannelError) in
      try send(.block, files: [file])
      unread += 1
      while unread > 3 { try awaitTaken() }
    }
  }

  private func awaitAllTaken() throws(ChannelError) { while unread > 0 { try awaitTaken() } }

  /// Ends the process if the channel fails: without a server there is nobody to report an error to.
  private func orEnd(_ body: () throws(ChannelError) -> Void) throws(ReadError) {
    do throws(ChannelError) { try body() } catch { _exit(0) }
  }

  private func awaitTaken() throws(ChannelError) {
    let message = try channel.receive()
    let request = try? message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
    guard request == .taken else { throw .malformed }
    unread -= 1
  }

  /// - Parameter file: the windows.
  private func readWindows(_ file: CInt?) throws {
    guard let raster else { throw ReadError.unrecognized(path: "") }
    guard let file, let bytes = SharedMemory.map(file) else { throw ChannelError.malformed }
    defer { SharedMemory.unmap(bytes) }
    guard let heights = RasterHeights(try raster.heights(bytes.bindMemory(to: RasterWindow.self))).file() else {
      throw ReadError.readFailed(driver: nil, path: "", layer: nil, reason: "shared memory: \(errorText())")
    }
    defer { close(heights) }
    try send(.heights, files: [heights])
  }

  /// - Parameter file: the windows.
  private func readPixels(_ file: CInt?, _ level: Int, _ bands: [Int], isNearest: Bool) throws {
    guard let pixels else { throw ReadError.unrecognized(path: "") }
    guard let file, let bytes = SharedMemory.map(file) else { throw ChannelError.malformed }
    defer { SharedMemory.unmap(bytes) }
    let read = try pixels.pixels(bytes.bindMemory(to: RasterWindow.self), level, bands, isNearest: isNearest)
    guard let numbers = SharedMemory.file(holding: read) else {
      throw ReadError.readFailed(driver: nil, path: "", layer: nil, reason: "shared memory: \(errorText())")
    }
    defer { close(numbers) }
    try send(.pixels, files: [numbers])
  }
}
