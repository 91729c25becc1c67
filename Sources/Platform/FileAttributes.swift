// Copies the attributes of a file to the file that replaces it.

import CPlatform

/// Attributes of a file besides its content.
public enum FileAttribute: CaseIterable, Sendable {
  case owner, group, mode, extendedAttributes
}

/// Gives an open file the owner, group, mode and extended attributes (access control lists too) of another.
///
/// - Parameters:
///   - name: the other file's name, which is not a symbolic link.
///   - folder: its open folder.
/// - Returns: the attributes that the system did not allow to be kept.
public func keepAttributes(of name: String, in folder: CInt, for descriptor: CInt) -> [FileAttribute] {
  var (wanted, own) = (stat(), stat())
  guard fstatat(folder, name, &wanted, AT_SYMLINK_NOFOLLOW) == 0, fstat(descriptor, &own) == 0 else { return FileAttribute.allCases }
  var lost: [FileAttribute] = []
  // Group and owner separately: a user may be allowed to set the group, but not the owner.
  if wanted.st_gid != own.st_gid, fchown(descriptor, gid_t.max, wanted.st_gid) != 0 { lost.append(.group) }
  if wanted.st_uid != own.st_uid, fchown(descriptor, wanted.st_uid, gid_t.max) != 0 { lost.append(.owner) }
  if !copyExtendedAttributes(of: name, in: folder, to: descriptor) { lost.append(.extendedAttributes) }
  var mode = wanted.st_mode & 0o7777
  // Without the group, its rights are reduced to those of others; without the owner, the set-user-id bit is dropped.
  if lost.contains(.group) { mode = mode & ~0o2070 | (mode & 0o007) << 3 }
  if lost.contains(.owner) { mode &= ~0o4000 }
  if fchmod(descriptor, mode) != 0 || mode != wanted.st_mode & 0o7777 { lost.append(.mode) }
  return lost
}

/// False if an attribute was lost.
private func copyExtendedAttributes(of name: String, in folder: CInt, to descriptor: CInt) -> Bool {
  let source = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
  // Attributes of a file that may not be read are unknown, so they count as lost.
  guard source >= 0 else { return false }
  defer { close(source) }
  guard let names = filled({ listAttributes(source, $0, $1) }) else { return errno == ENOTSUP }
  var isWhole = true
  for name in names.split(separator: 0) {
    let name = String(decoding: name, as: UTF8.self)
    guard let value = filled({ getAttribute(source, name, $0, $1) }),
      setAttribute(descriptor, name, value) == 0
    else {
      isWhole = false
      continue
    }
  }
  return isWhole
}

/// The result of a call that returns the needed length when given no buffer; nil with `errno` set on failure.
private func filled(_ call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
  let length = call(nil, 0)
  guard length > 0 else { return length == 0 ? [] : nil }
  var bytes = [UInt8](repeating: 0, count: length)
  let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
  return count < 0 ? nil : Array(bytes.prefix(count))
}

#if canImport(Darwin)
  private func listAttributes(_ file: CInt, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    flistxattr(file, buffer?.assumingMemoryBound(to: CChar.self), size, 0)
  }
  private func getAttribute(_ file: CInt, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    fgetxattr(file, name, buffer, size, 0, 0)
  }
  private func setAttribute(_ file: CInt, _ name: String, _ value: [UInt8]) -> CInt {
    fsetxattr(file, name, value, value.count, 0, 0)
  }
#else
  private func listAttributes(_ file: CInt, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    flistxattr(file, buffer?.assumingMemoryBound(to: CChar.self), size)
  }
  private func getAttribute(_ file: CInt, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    fgetxattr(file, name, buffer, size)
  }
  private func setAttribute(_ file: CInt, _ name: String, _ value: [UInt8]) -> CInt {
    fsetxattr(file, name, value, value.count, 0)
  }
#endif
