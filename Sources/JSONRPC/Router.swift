// Dispatch of methods to handlers. The look-up uses the bytes of the name, so that a request allocates no string.

/// Runs one request on the loop; or takes a ``PendingReply`` and returns ``Reply/later``.
///
/// A thrown error becomes the answer: an ``RPCError`` as it is, a ``JSONError`` as `invalidParams` with its path,
/// others through the session's `mapError`.
public typealias Handler = (Call) throws -> Reply

/// The table of methods.
public struct Router {
  enum Action {
    case request(Handler)
    case builtIn(BuiltIn)
  }

  struct Route {
    let name: String
    let requiresInitialized: Bool
    let action: Action
  }

  /// Methods of the session itself.
  enum BuiltIn { case initialize, initialized, shutdown, exit, cancelRequest, setTrace }

  /// The bytes of a name: of a route's, which are static, or of a message's during its look-up.
  private struct Name: Hashable {
    let bytes: UnsafeBufferPointer<UInt8>

    static func == (left: Name, right: Name) -> Bool { left.bytes.elementsEqual(right.bytes) }
    func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }

  private var routes: [Name: Route] = [:]

  static let cancelRequest: StaticString = "$/cancelRequest"

  public init() {
    add("initialize", .builtIn(.initialize))
    add("initialized", .builtIn(.initialized))
    add("shutdown", .builtIn(.shutdown), requiresInitialized: true)
    add("exit", .builtIn(.exit))
    add(Self.cancelRequest, .builtIn(.cancelRequest))
    add("$/setTrace", .builtIn(.setTrace))
  }

  /// Registers a handler. A later handler of the same name replaces it.
  public mutating func on(_ method: StaticString, requiresInitialized: Bool = true, _ handler: @escaping Handler) {
    add(method, .request(handler), requiresInitialized: requiresInitialized)
  }

  private mutating func add(_ method: StaticString, _ action: Action, requiresInitialized: Bool = false) {
    let name = Name(bytes: UnsafeBufferPointer(start: method.utf8Start, count: method.utf8CodeUnitCount))
    routes[name] = Route(name: "\(method)", requiresInitialized: requiresInitialized, action: action)
  }

  /// The names of all methods.
  var names: [String] { routes.values.map(\.name) }

  @inline(__always)
  func find(_ name: UnsafeBufferPointer<UInt8>) -> Route? { routes[Name(bytes: name)] }
}
