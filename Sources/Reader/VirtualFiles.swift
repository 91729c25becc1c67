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
    _ = creader_guard_sqlite()
  }

  /// Of rasters, from which elevations are read.
  private static let rasters = [
    "GDALRegister_GTiff", "GDALRegister_AAIGrid", "GDALRegister_SRTMHGT", "GDALRegister_DTED", "GDALRegister_HFA",
  ]

  /// Registers all that is ever read or written: what is not registered reads nothing, by whatever name or side file it is asked.
  static func load(_ install: (GDAL) -> Void) -> Result<SharedGDAL, GDALUnavailable> {
    var reason: UnsafePointer<CChar>?
    guard let gdal = cgdal_load(&reason) else {
      return .failure(GDALUnavailable(reason: reason.map { String(cString: $0) } ?? "GDAL did not load"))
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

struct GDALUnavailable: Error {
  let reason: String
}

private func handle(_ file: UnsafeMutableRawPointer?) -> ReadHandle? {
  file.map { Unmanaged<ReadHandle>.fromOpaque($0).takeUnretainedValue() }
}

private func installVirtualFiles(_ gdal: GDAL) {
  guard let callbacks = gdal.pointee.VSIAllocFilesystemPluginCallbacksStruct() else { return }
  defer { gdal.pointee.VSIFreeFilesystemPluginCallbacksStruct(callbacks) }

  callbacks.pointee.open = { _, name, access in
    guard let name = name.map({ fullName($0) }), let access, access.pointee == CChar(UInt8(ascii: "r")),
      strchr(access, Int32(UInt8(ascii: "+"))) == nil
    else { return nil }
    guard let files = ReaderFiles.current, let handle = ReadHandle(name, in: files) else { return nil }
    return Unmanaged.passRetained(handle).toOpaque()
  }
  callbacks.pointee.close = { file in
    if let file { Unmanaged<ReadHandle>.fromOpaque(file).release() }
    return 0
  }
  callbacks.pointee.read = { file, buffer, size, count in
    guard let handle = handle(file), let buffer, size > 0 else { return 0 }
    let (bytes, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow else { return 0 }
    return handle.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: bytes)) / size
  }
  callbacks.pointee.seek = { file, offset, origin in handle(file)?.seek(to: offset, from: origin) == true ? 0 : -1 }
  callbacks.pointee.tell = { file in vsi_l_offset(handle(file)?.offset ?? 0) }
  callbacks.pointee.eof = { file in handle(file)?.isAtEnd == false ? 0 : 1 }
  callbacks.pointee.stat = { _, name, status, _ in
    guard let name = name.map({ fullName($0) }), let status, let files = ReaderFiles.current else { return -1 }
    if files.list(name) != nil {
      cgdal_set_status(status, readableDirectory, 0, 0)
      return 0
    }
    guard let file = files.find(name)?.descriptor, let identity = files.identity(file) else { return -1 }
    cgdal_set_status(status, identity.mode, Int64(identity.size), Int64(identity.modifiedSeconds))
    return 0
  }
  callbacks.pointee.read_dir = { _, name, _ in
    guard let name = name.map({ fullName($0) }), case .success(let library) = GDALLibrary.shared else { return nil }
    return ReaderFiles.current?.list(name)?.reduce(nil) { library.functions.pointee.CSLAddString($0, $1) }
  }
  // GDAL 3.6 keeps the pointer to the prefix, not a copy: it has to live as long as the process.
  _ = gdal.pointee.VSIInstallPluginHandler(strdup(ReaderFiles.prefix + "/"), callbacks)
}

/// GDAL passes names without the prefix to the callbacks.
private func fullName(_ name: UnsafePointer<CChar>) -> String { "\(ReaderFiles.prefix)/\(String(cString: name))" }

// POSIX file modes: GDAL's headers and Glibc's both define the names, so Swift imports neither.
private let readableDirectory: UInt32 = 0o040400
