// Runs the built protocol-gen like `make generate` does, for its exit code and messages.

import Foundation

struct ProtocolGen {
  /// The root of the checkout.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let samples = root.appending(path: "Tests/HouseTests/Samples").path

  let status: Int32
  let messages: String

  /// The tool is next to the test bundle.
  init(_ arguments: String...) throws {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    (status, messages) = try run(folder.appending(path: "protocol-gen").path, arguments)
  }
}

/// Exit code and standard error.
func run(_ tool: String, _ arguments: [String]) throws -> (Int32, String) {
  let process = Process()
  process.executableURL = URL(filePath: tool)
  process.arguments = arguments
  process.currentDirectoryURL = ProtocolGen.root
  let output = Pipe()
  process.standardError = output
  process.standardOutput = FileHandle.nullDevice
  try process.run()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, text)
}

/// A folder that is removed after `body`.
func withTemporaryFolder<R>(_ body: (URL) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "protocol-gen-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}
