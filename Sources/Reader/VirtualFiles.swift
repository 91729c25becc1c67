// GDAL's file system callbacks: all reads of its drivers pass through them, which gives progress.

import CGDAL
import CReader
import Platform
import Reading

typealias GDAL = UnsafePointer<cgdal_functions>

/// GDAL with the virtual file system and guarded databases, loaded once for the process; or the reason why it is not available.
enum GDALLibrary {
  static let shared = load { gdal in
    installVirtualFiles(gdal)
    _ = creader_guard_sqlite(cgdal_library())
  }

  /// Of rasters, from which elevations and pixels are read; and of what tiles in databases are made of.
  private static let rasters = [
    "GDALRegister_GTiff", "GDALRegister_AAIGrid", "GDALRegister_SRTMHGT", "GDALRegister_DTED", "GDALRegister_HFA",
    "GDALRegister_PNG", "GDALRegister_JPEG", "GDALRegister_WEBP", "GDALRegister_MEM", "GDALRegister_MBTiles", "RegisterOGRSQLite",
  ]

  /// Registers all that is ever read or written: what is not registered reads nothing, by whatever name or side file it is asked.
  static func load(_ install: (GDAL) -> Void) -> Result<SharedGDAL, ReadError> {
    var reason: UnsafePointer<CChar>?
    guard let gdal = cgdal_load(&reason) else {
      return .failure(.unavailable(reason: reason.map { String(cString: $0) } ?? "GDAL did not load"))
    }
    let vectors = FeatureDriver.allCases.flatMap(\.record.drivers) + WriteDriver.allCases.map(\.record.driver)
    for function in vectors.map(\.register) + rasters { cgdal_register(function) }
    install(gdal)
    return .success(SharedGDAL(functions: gdal))
  }
}

/// `@unchecked`: the table is written once, before it is shared, and lives as long as the process.
struct SharedGDAL: @unchecked Sendable {
  let functions: GDAL
}

/// An open file with an offset, as GDAL's callbacks see it. Used by one thread at a time, as GDAL uses its files.
class VirtualFile {
  var offset = 0
  var isAtEnd = false
  var size: Int { 0 }

  /// Returns the bytes read: fewer than requested at the end or on an error.
  func read(into target: UnsafeMutableRawBufferPointer) -> Int { 0 }

  /// The file of a callback's argument.
  static func find(_ file: UnsafeMutableRawPointer?) -> VirtualFile? {
    file.map { Unmanaged<VirtualFile>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The argument by which callbacks find the file, until GDAL closes it.
  var opened: UnsafeMutableRawPointer { Unmanaged<VirtualFile>.passRetained(self).toOpaque() }

  /// The number of bytes of `count` items; nil on overflow.
  static func byteCount(_ size: Int, _ count: Int) -> Int? {
    let (bytes, overflow) = size.multipliedReportingOverflow(by: count)
    return overflow || size <= 0 ? nil : bytes
  }

  /// Installs the callbacks for the files below a prefix: those that are the same for all files, and those that `add` adds.
  static func install(_ gdal: GDAL, below prefix: String, _ add: (inout VSIFilesystemPluginCallbacksStruct) -> Void) {
    guard let callbacks = gdal.pointee.VSIAllocFilesystemPluginCallbacksStruct() else { return }
    defer { gdal.pointee.VSIFreeFilesystemPluginCallbacksStruct(callbacks) }
    callbacks.pointee.close = { file in
      if let file { Unmanaged<VirtualFile>.fromOpaque(file).release() }
      return 0
    }
    // There is no buffer to write. GDAL 3.12 flushes files that it only reads, too, and warns where nothing answers.
    callbacks.pointee.flush = { _ in 0 }
    callbacks.pointee.read = { file, buffer, size, count in
      guard let file = VirtualFile.find(file), let buffer, let bytes = VirtualFile.byteCount(size, count) else { return 0 }
      return file.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: bytes)) / size
    }
    callbacks.pointee.seek = { file, offset, origin in
      guard let file = VirtualFile.find(file),
        let target = filePosition(offset, from: origin, at: file.offset, size: file.size)
      else { return -1 }
      (file.offset, file.isAtEnd) = (target, false)
      return 0
    }
    callbacks.pointee.tell = { file in vsi_l_offset(VirtualFile.find(file)?.offset ?? 0) }
    callbacks.pointee.eof = { file in VirtualFile.find(file)?.isAtEnd == false ? 0 : 1 }
    add(&callbacks.pointee)
    // GDAL 3.6 keeps the pointer to the prefix, not a copy: it has to live as long as the process.
    _ = gdal.pointee.VSIInstallPluginHandler(strdup(prefix + "/"), callbacks)
  }
}

private func installVirtualFiles(_ gdal: GDAL) {
  VirtualFile.install(gdal, below: ReaderFiles.prefix) { callbacks in
    callbacks.open = { _, name, access in
      guard let name = name.map({ fullName($0) }), let access, access.pointee == CChar(UInt8(ascii: "r")),
        strchr(access, Int32(UInt8(ascii: "+"))) == nil
      else { return nil }
      return ReaderFiles.current.flatMap { ReadHandle(name, in: $0) }?.opened
    }
    callbacks.stat = { _, name, status, _ in
      guard let name = name.map({ fullName($0) }), let status, let files = ReaderFiles.current else { return -1 }
      if files.list(name) != nil {
        cgdal_set_status(status, readableDirectory, 0, 0)
        return 0
      }
      guard let file = files.find(name)?.descriptor, let identity = files.identity(file) else { return -1 }
      cgdal_set_status(status, identity.mode, Int64(files.range(file).count), Int64(identity.modifiedSeconds))
      return 0
    }
    callbacks.read_dir = { _, name, _ in
      guard let name = name.map({ fullName($0) }), case .success(let library) = GDALLibrary.shared else { return nil }
      return ReaderFiles.current?.list(name)?.reduce(nil) { library.functions.pointee.CSLAddString($0, $1) }
    }
  }
}

/// GDAL passes names without the prefix to the callbacks.
private func fullName(_ name: UnsafePointer<CChar>) -> String { "\(ReaderFiles.prefix)/\(String(cString: name))" }

// POSIX file modes: GDAL's headers and Glibc's both define the names, so Swift imports neither.
private let readableDirectory: UInt32 = 0o040400
