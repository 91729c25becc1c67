// GDAL's file system callbacks: all reads of its drivers pass through them, which gives progress and cancellation.

import CGDAL
import Files
import Geometry
import Platform

typealias GDAL = UnsafePointer<cgdal_functions>

/// GDAL with the virtual file system, loaded once for the process; or why it is not available.
enum GDALLibrary {
  static let shared: Result<SharedGDAL, GDALUnavailable> = {
    var reason: UnsafePointer<CChar>?
    guard let gdal = cgdal_load(&reason) else {
      return .failure(GDALUnavailable(reason: reason.map { String(cString: $0) } ?? "GDAL did not load"))
    }
    installVirtualFiles(gdal)
    return .success(SharedGDAL(functions: gdal))
  }()
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
    guard let name, let access, access.pointee == CChar(UInt8(ascii: "r")),
      strchr(access, Int32(UInt8(ascii: "+"))) == nil
    else { return nil }
    guard let (session, path) = ReadSession.find(String(cString: name)),
      let handle = ReadHandle(path, in: session)
    else { return nil }
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
    guard let name, let status, let (session, path) = ReadSession.find(String(cString: name)) else { return -1 }
    return fill(status, path, session) ? 0 : -1
  }
  callbacks.pointee.read_dir = { _, name, _ in
    guard let name, let (session, path) = ReadSession.find(String(cString: name)) else { return nil }
    return list(path, session)
  }
  // GDAL 3.6 keeps the pointer to the prefix, not a copy: it has to live as long as the process.
  _ = gdal.pointee.VSIInstallPluginHandler(strdup(ReadSession.prefix), callbacks)
}

// POSIX file modes: GDAL's headers and Glibc's both define the names, so Swift imports neither.
private let readableFile: UInt32 = 0o100400
private let readableDirectory: UInt32 = 0o040400

private func fill(_ status: OpaquePointer, _ path: String, _ session: ReadSession) -> Bool {
  switch session.content {
  case .bytes(let bytes, _):
    guard session.admits(path) else { return false }
    cgdal_set_status(status, readableFile, Int64(bytes.count), 0)
  case .file(let directory, _, _):
    if path == directory || path == directory + "/" {
      cgdal_set_status(status, readableDirectory, 0, 0)
      return true
    }
    guard session.admits(path), let real = realPath(path), session.policy.allows(realPath: real),
      let identity = FileIdentity(path: real), identity.kind == .regular
    else { return false }
    cgdal_set_status(status, identity.mode, Int64(identity.size), Int64(identity.modifiedSeconds))
  }
  return true
}

/// The names that the session admits, in a list that GDAL frees; nil for any other directory.
private func list(_ path: String, _ session: ReadSession) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
  guard case .success(let library) = GDALLibrary.shared, case .file(let directory, let name, _) = session.content,
    path == directory || path == directory + "/"
  else { return nil }
  var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
  guard let stream = opendir(directory.isEmpty ? "/" : directory) else {
    return library.functions.pointee.CSLAddString(nil, name)
  }
  defer { closedir(stream) }
  while let entry = readdir(stream) {
    let leaf = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
      String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
    }
    if session.admits("\(directory)/\(leaf)") {
      names = library.functions.pointee.CSLAddString(names, leaf)
    }
  }
  return names
}
