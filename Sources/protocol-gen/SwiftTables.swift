// Swift code for all domains: handler protocols, the table of methods, error kinds.

struct SwiftTables {
  let definition: Definition

  /// The protocol for the handlers of a domain; nil if it has no methods to handle.
  func handlers(_ domain: Domain, imports: [String]) -> String? {
    let methods = domain.methods.filter { $0.shape != .lifecycle }
    guard !methods.isEmpty else { return nil }
    let namespace = SwiftCoding.namespace(domain.name)
    let name = Names.upperCamel(domain.name) + "Handlers"
    var lines = Lines(imports: imports)
    lines.add("/// What answers the methods of `\(domain.name)`.")
    lines.block("public protocol \(name): MethodHandlers {") { lines in
      for method in methods {
        let scope = Names.upperCamel(Names.verb(method.name))
        lines.add("typealias \(scope) = \(namespace).\(scope)")
      }
      for method in methods {
        lines.add()
        lines.prose(Prose.summary(method.about.doc), prefix: "/// ")
        requirement(method, &lines)
      }
    }
    lines.add()
    lines.block("extension \(name) {") { lines in
      lines.add("/// Hands every method of `\(domain.name)` to `host`.")
      lines.block("public static func register(on host: some MethodHost<Types>) {") { lines in
        for method in methods { register(method, &lines) }
      }
    }
    return lines.text
  }

  private func requirement(_ method: Method, _ lines: inout Lines) {
    let verb = Names.verb(method.name)
    let function = Names.swiftCase(verb)
    let scope = Names.upperCamel(verb)
    let params = "_ params: \(scope).Params"
    func add(_ signature: String, _ result: String?) {
      let outcome = "throws" + (result.map { " -> " + $0 } ?? "")
      let line = "static func \(signature) \(outcome)"
      if line.count + lines.indentation <= 118 {
        lines.add(line)
        return
      }
      let open = signature.firstIndex(of: "(") ?? signature.startIndex
      lines.add("static func \(signature[...open])")
      lines.add("  \(signature[signature.index(after: open)...].dropLast())")
      lines.add(") \(outcome)")
    }
    switch method.shape {
    case .query: add("\(function)(\(params), in world: Types.World)", "\(scope).Result")
    case .command:
      let result = method.answersRevision ? nil : "Answer<\(scope).Result>"
      add("\(function)(\(params), in world: inout Types.World)", result)
    case .process:
      add("\(function)(\(params), in world: inout Types.World)", "Types.Process")
      add("\(verb)Ended(\(params), _ end: Types.ProcessEnd, in world: Types.World)", "\(scope).Result")
    case .task: add("\(function)(\(params), in world: inout Types.World)", "TaskPlan<Types, \(scope).Result>")
    case .session: add("\(function)(\(params), on client: Types.Client)", "\(scope).Result")
    case .lifecycle: break
    }
  }

  private func register(_ method: Method, _ lines: inout Lines) {
    let verb = Names.verb(method.name)
    let function = Names.swiftCase(verb)
    let call = "host.\(method.shape.rawValue)(\"\(method.name)\""
    if method.shape == .process { return lines.add("\(call), start: \(function), end: \(verb)Ended)") }
    guard method.answersRevision else { return lines.add("\(call), \(function))") }
    let scope = Names.upperCamel(verb)
    lines.block("\(call)) { (params: \(scope).Params, world: inout Types.World) in") { lines in
      lines.add("try \(function)(params, in: &world)")
      lines.add("return { \(scope).Result(revision: Types.revision(of: $0)) }")
    }
  }

  // MARK: Tables

  func methods() -> String {
    var lines = Lines()
    lines.add(SwiftTypes.header)
    lines.add(
      """
      /// What a method may do, and so what its handler looks like.
      public enum MethodShape: String, Sendable { case \(Shape.allCases.map(\.rawValue).joined(separator: ", ")) }

      /// How changes that a client has not read yet are folded together.
      public enum CoalescingClass: String, Sendable { case \(Coalescing.allCases.map(\.rawValue).joined(separator: ", ")) }

      public struct MethodInfo: Sendable {
        public let name: String
        public let domain: String
        public let shape: MethodShape
        public let since: String
        /// The names of all params but `meta`.
        public let params: [String]
        /// Those that must be given.
        public let required: [String]
        /// Besides those that any method may answer.
        public let errors: [ErrorKind]
      }

      public struct StatePathInfo: Sendable {
        /// A JSON Pointer with `*` for one segment.
        public let path: String
        public let coalescing: CoalescingClass
      }

      """)
    lines.block("public enum WireProtocol {") { lines in
      lines.add("public static let version = \"\(definition.version)\"")
      lines.add("/// Of the server and its clients.")
      lines.add("public static let productVersion = \"\(definition.productVersion)\"")
      lines.add("/// Of the whole definition: equal hashes, equal protocols.")
      lines.add("public static let hash = \"\(definition.hash)\"")
      let names = definition.domains.filter { !$0.methods.isEmpty }.map { "\"\($0.name)\"" }
      lines.list("public static let domains = [", names, "]", width: 112)
      lines.add()
      lines.block("public static let methods: [MethodInfo] = [", "]") { lines in
        for method in definition.methods { entry(method, &lines) }
      }
      lines.add()
      lines.block("public static let statePaths: [StatePathInfo] = [", "]") { lines in
        for item in definition.statePaths {
          lines.add("StatePathInfo(path: \"\(item.path)\", coalescing: .\(item.coalescing.rawValue)),")
        }
      }
    }
    return lines.text
  }

  private func entry(_ method: Method, _ lines: inout Lines) {
    lines.block("MethodInfo(", "),") { lines in
      lines.add(
        "name: \"\(method.name)\", domain: \"\(method.domain)\", shape: .\(method.shape.rawValue), "
          + "since: \"\(method.about.since)\",")
      func names(_ list: [Property]) -> String { list.map { "\"\($0.name)\"" }.joined(separator: ", ") }
      let (params, required) = (method.params.properties, method.params.properties.filter { !$0.mayBeAbsent })
      for row in wrapped("params: [\(names(params))], required: [\(names(required))],", width: 110) { lines.add(row) }
      let errors = method.errors.map { "." + Names.swiftCase($0) }.joined(separator: ", ")
      for row in wrapped("errors: [\(errors)]", width: 110) { lines.add(row) }
    }
  }

  func errorKinds() -> String {
    var lines = Lines()
    lines.add(SwiftTypes.header)
    lines.add("/// What went wrong, for programs: the `kind` in an error's data.")
    lines.block("public enum ErrorKind: String, CaseIterable, Sendable {") { lines in
      for error in definition.errors {
        lines.prose(error.about.doc, prefix: "/// ")
        lines.add("case \(Names.swiftCase(error.kind))")
      }
      lines.add()
      lines.add("/// The error's `code`.")
      lines.block("public var code: Int {") { lines in
        lines.add("switch self {")
        for error in definition.errors { lines.add("case .\(Names.swiftCase(error.kind)): \(error.code)") }
        lines.add("}")
      }
    }
    return lines.text
  }
}
