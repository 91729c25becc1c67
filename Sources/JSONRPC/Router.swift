// Dispatch of methods to handlers. The look-up uses the bytes of the name, so that a request allocates no string.

import JSON
import Platform

/// Runs one request on the loop; or takes a ``PendingReply`` and returns ``Reply/later``.
///
/// A thrown error becomes the answer: an ``RPCError`` as it is, a ``JSONError`` as `invalidParams` with its path,
/// others through the session's `mapError`.
public typealias Handler = (Call) throws -> Reply

/// Handles one notification of the client. A thrown error is logged.
public typealias NotificationHandler = (Call) throws -> Void

/// The table of methods.
public struct Router {
  enum Action {
    case request(Handler)
    case notification(NotificationHandler)
    case builtIn(BuiltIn)
  }

  struct Route {
    let name: String
    let bytes: [UInt8]
    let requiresInitialized: Bool
    let action: Action
  }

  /// Methods of the session itself.
  enum BuiltIn: String, CaseIterable {
    case initialize, initialized, shutdown, exit
    case cancelRequest = "$/cancelRequest"
    case setTrace = "$/setTrace"
  }

  private(set) var routes: [Route] = []
  /// Open addressing: indices into `routes`, -1 for empty; the count is a power of two, and at most half are in use.
  private var slots: [Int32] = Array(repeating: -1, count: 64)

  public init() {
    for action in BuiltIn.allCases {
      add(
        Route(
          name: action.rawValue, bytes: Array(action.rawValue.utf8), requiresInitialized: false,
          action: .builtIn(action)))
    }
  }

  /// Registers a handler of requests. A later handler of the same name replaces it.
  public mutating func on(_ method: String, requiresInitialized: Bool = true, _ handler: @escaping Handler) {
    add(
      Route(
        name: method, bytes: Array(method.utf8), requiresInitialized: requiresInitialized, action: .request(handler)))
  }

  /// Registers a handler of notifications.
  public mutating func onNotification(
    _ method: String, requiresInitialized: Bool = true, _ handler: @escaping NotificationHandler
  ) {
    add(
      Route(
        name: method, bytes: Array(method.utf8), requiresInitialized: requiresInitialized,
        action: .notification(handler)))
  }

  /// The names of all handlers.
  public var methods: [String] { routes.map(\.name) }

  private mutating func add(_ route: Route) {
    if let known = route.bytes.withUnsafeBufferPointer(find) {
      routes[known] = route
      return
    }
    routes.append(route)
    guard routes.count * 2 > slots.count else { return enter(routes.count - 1) }
    slots = Array(repeating: -1, count: slots.count * 2)
    for place in routes.indices { enter(place) }
  }

  private mutating func enter(_ place: Int) {
    var slot = routes[place].bytes.withUnsafeBufferPointer(Self.hash) & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(place)
  }

  /// The index of the route of that name in ``routes``.
  @inline(__always)
  func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = name.baseAddress else { return nil }
    var slot = Self.hash(name) & (slots.count - 1)
    while slots[slot] >= 0 {
      let place = Int(slots[slot])
      let isSame = routes[place].bytes.withUnsafeBufferPointer { bytes in
        guard bytes.count == name.count, let other = bytes.baseAddress else { return false }
        return memcmp(other, start, bytes.count) == 0
      }
      if isSame { return place }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// FNV-1a. The names in the table are fixed, so clients cannot cause collisions.
  @inline(__always)
  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: hash ^ (hash >> 32)) & Int.max
  }
}
