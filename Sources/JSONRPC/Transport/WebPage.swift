// The preview page, which the door of web sockets serves to browsers: a fixed list of files, read once, so that no request reaches a folder.

import NIOCore
import NIOHTTP1
import Platform

/// The files of a page, in memory.
public struct WebPage: Sendable {
  /// What may be served, by name, with its media type.
  private static let types = [
    "index.html": "text/html; charset=utf-8", "preview.css": "text/css; charset=utf-8", "maplibre-gl.css": "text/css; charset=utf-8",
    "maplibre-gl.js": script, "preview.js": script, "connection.js": script, "model.js": script, "camera.js": script, "drawing.js": script,
    "features.js": script, "panel.js": script,
  ]
  private static let script = "text/javascript; charset=utf-8"
  /// Maximum length of a file.
  private static let limit = 8 << 20

  private let files: [String: ByteBuffer]

  /// - Parameter folders: where the files are; of a name that several have, the first one's. Those of no folder are not served.
  public init(folders: [String]) {
    var files: [String: ByteBuffer] = [:]
    for name in Self.types.keys {
      files[name] = folders.lazy.compactMap { Self.read("\($0)/\(name)") }.first
    }
    self.files = files
  }

  /// Whether there is something to show.
  public var isComplete: Bool { files["index.html"] != nil }

  private static func read(_ path: String) -> ByteBuffer? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      let more = bytes.withUnsafeMutableBytes { readBytes(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: $0[count...])) }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { return nil }
      if more == 0 { return ByteBuffer(bytes: bytes[..<count]) }
      count += more
    }
    return nil
  }

  /// - Parameter name: the last segment of the address; empty for the page itself.
  func file(_ name: Substring) -> (type: String, bytes: ByteBuffer)? {
    let name = name.isEmpty ? "index.html" : String(name)
    guard let type = Self.types[name], let bytes = files[name] else { return nil }
    return (type, bytes)
  }

  /// What keeps the page from talking to anybody but this server, and other pages from reading or framing it.
  static func headers(_ type: String, port: Int, framedBy origins: [String]) -> HTTPHeaders {
    let frames = (["http://localhost:*", "http://127.0.0.1:*", "https://localhost:*", "https://127.0.0.1:*"] + origins).joined(separator: " ")
    return [
      "content-type": type, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      // MapLibre makes its worker from a blob.
      "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; worker-src blob:; img-src 'self' data: blob:; "
        + "connect-src 'self' ws://127.0.0.1:\(port) ws://localhost:\(port); base-uri 'none'; form-action 'none'; frame-ancestors \(frames)",
    ]
  }
}
