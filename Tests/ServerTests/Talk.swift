// Messages that the tests of the built server share.

import JSON
import TestSupport

/// The root of the repository, from this file's path.
enum ProjectRoot {
  static let path = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
}

let initialize = request("0", "initialize")
let exitMessage = #"{"jsonrpc":"2.0","method":"exit"}"#

func request(_ id: String, _ method: String, _ params: String = "{}") -> String {
  #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
}

func echoed(_ id: String, _ params: String = "{}") -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":\#(params)}"# }

func framed(_ message: String) -> String { "Content-Length: \(message.utf8.count)\r\n\r\n\(message)" }

/// The id, code and kind of an error response.
func failure(_ text: String) -> String {
  guard let document = try? JSONDocument(text) else { return "no JSON: \(text)" }
  return document.read { root in
    "\(root["id"].jsonText) \(root["error"]["code"].jsonText) \((try? root["error"]["data"]["kind"].string()) ?? "?")"
  }
}

extension ServerProcess {
  /// A server that has been initialized, with one message a line.
  static func started(_ arguments: [String] = [], input: Stream = .pipe, output: Stream = .pipe) throws -> ServerProcess
  {
    let server = try ServerProcess(arguments, input: input, output: output)
    try server.send(initialize + "\n")
    _ = try server.line()
    return server
  }

  /// An initialized server, with `Content-Length` framing.
  static func startedWithHeaders(_ arguments: [String] = []) throws -> ServerProcess {
    let server = try ServerProcess(arguments)
    try server.sendFramed(initialize)
    _ = try server.message()
    return server
  }
}
