// Methods of the Python client, asynchronous and blocking ones from one template.

struct PythonMethods {
  enum Flavour {
    case async, sync
    var base: String { self == .async ? "AsyncCaller" : "SyncCaller" }
    var calling: String { self == .async ? "AsyncCalling" : "SyncCalling" }
    var noun: String { self == .async ? "coroutine" : "function" }
    var function: String { self == .async ? "async def" : "def" }
    var wait: String { self == .async ? "await " : "" }
  }

  let types: PythonTypes
  let flavour: Flavour

  /// Methods of a domain, without the lifecycle methods, which the client itself calls.
  static func methods(_ domain: Domain) -> [Method] { domain.methods.filter { $0.shape != .lifecycle } }

  func file() -> String {
    var lines = Lines(indent: 4)
    lines.add(PythonTypes.header)
    lines.add("\"\"\"A class a domain, a \(flavour.noun) a method.\"\"\"\n")
    lines.add("from __future__ import annotations\n")
    lines.add("from functools import cached_property")
    lines.add("from typing import Any, Mapping, Sequence\n")
    lines.add("from .._base import \(flavour.base), \(flavour.calling), SupportsGeoInterface")
    lines.add("from . import types as t\n\n")
    lines.block("def _given(params: dict[str, Any]) -> dict[str, Any]:", "") { lines in
      lines.add("return {name: value for name, value in params.items() if value is not None}")
    }
    for domain in types.definition.domains where !Self.methods(domain).isEmpty {
      lines.add("\n")
      lines.block("class \(Names.upperCamel(domain.name))Methods(\(flavour.base)):", "") { lines in
        PythonTypes.docstring([domain.about.doc], &lines)
        for method in Self.methods(domain) {
          lines.add()
          emit(method, &lines)
        }
      }
    }
    domains(&lines)
    return types.tidied(lines.lines)
  }

  /// The base class of clients, with an attribute for each domain.
  private func domains(_ lines: inout Lines) {
    lines.add("\n")
    lines.block("class Domains(\(flavour.calling)):", "") { lines in
      PythonTypes.docstring(
        ["`\(flavour.wait)server.map.create(...)`: a domain an attribute, a method a \(flavour.noun)."], &lines)
      for domain in types.definition.domains where !Self.methods(domain).isEmpty {
        let name = "\(Names.upperCamel(domain.name))Methods"
        lines.add()
        lines.add("@cached_property")
        lines.block("def \(Names.snake(domain.name))(self) -> \(name):", "") { $0.add("return \(name)(self)") }
      }
    }
  }

  private func emit(_ method: Method, _ lines: inout Lines) {
    let name = Names.snake(Names.verb(method.name))
    let meta = Examples.meta(since: method.about)
    // Required params come first.
    let properties =
      method.params.properties.filter { !$0.mayBeAbsent } + method.params.properties.filter(\.mayBeAbsent) + [meta]
    lines.block("\(flavour.function) \(name)(", "") { lines in
      lines.add("self,")
      if case .type(let type) = method.params {
        lines.add("params: \(types.annotation(type, prefix: "t.", isInput: true)),")
      } else {
        lines.add("*,")
        for property in properties {
          let type = types.annotation(property.type, prefix: "t.", isInput: true)
          lines.add("\(Names.snake(property.name)): \(type)" + (property.mayBeAbsent ? " | None = None," : ","))
        }
      }
    }
    lines.block(") -> \(resultType(method)):", "") { lines in
      PythonTypes.docstring(doc(method, properties), code: example(method), &lines)
      // Type checkers reject returning Any as a specific type.
      let isAny = resultType(method) == "Any"
      let answer = isAny ? "return" : "result: \(resultType(method)) ="
      switch method.params {
      case .type: lines.add("\(answer) \(flavour.wait)self._call(\"\(method.name)\", params)")
      case .properties:
        let pairs = properties.map { "\"\($0.name)\": \(Names.snake($0.name))" }
        let line = "\(answer) \(flavour.wait)self._call(\"\(method.name)\", _given({\(pairs.joined(separator: ", "))}))"
        if line.count + lines.indentation <= PythonTypes.width {
          lines.add(line)
        } else {
          lines.block("\(answer) \(flavour.wait)self._call(", ")") { lines in
            lines.add("\"\(method.name)\",")
            lines.block("_given(", "),") { lines in
              lines.block("{", "}") { lines in for pair in pairs { lines.add(pair + ",") } }
            }
          }
        }
      }
      if !isAny { lines.add("return result") }
    }
  }

  private func resultType(_ method: Method) -> String {
    switch method.result {
    case .properties(let list): list.isEmpty ? "dict[str, Any]" : "t." + Prose.resultName(method)
    case .type(let type): types.annotation(type, prefix: "t.")
    }
  }

  private func doc(_ method: Method, _ properties: [Property]) -> [String] {
    var doc = [method.about.doc]
    if method.about.isExperimental { doc += ["", "Experimental."] }
    if let deprecated = method.about.deprecated { doc += ["", "Deprecated: \(deprecated)"] }
    if case .properties = method.params {
      doc += ["", "Args:"]
      doc += properties.map { "    \(Names.snake($0.name)): \($0.about.doc.flat)\(types.notes($0))" }
    }
    if !method.result.properties.isEmpty {
      doc += ["", "Returns:"]
      doc += method.result.properties.map { "    \($0.name): \($0.about.doc.flat)\(types.notes($0))" }
    }
    let errors = types.definition.errors.filter { method.errors.contains($0.kind) }
    if !errors.isEmpty {
      doc += ["", "Raises:"]
      doc += errors.map { "    \(PythonTypes.errorName($0.kind)): \(Prose.summary($0.about.doc))" }
    }
    return doc + ["", "Example:"]
  }

  private func example(_ method: Method) -> [String] {
    let name = Names.snake(Names.verb(method.name))
    let call = "\(flavour.wait)server.\(Names.snake(method.domain)).\(name)("
    if case .type = method.params { return [call + (method.exampleParams ?? .null).text(.python) + ")"] }
    let members = method.exampleParams?.members ?? []
    let line =
      call + members.map { Names.snake($0.name) + "=" + $0.value.text(.python) }.joined(separator: ", ") + ")"
    let room = PythonTypes.width - 12
    if line.count <= room { return [line] }
    let rows = members.flatMap { member -> [String] in
      let text = Names.snake(member.name) + "=" + member.value.text(.python, indent: 4, width: room)
      return ("    " + text + ",").split(separator: "\n").map(String.init)
    }
    return [call] + rows + [")"]
  }
}
