// Which handler answers which method. Looked up by the bytes of the name, so that no string is made for a request.

import JSON
import Platform

/// Runs one request, on the loop, to its end; or takes a ``PendingReply`` and returns ``Reply/later``.
///
/// What it throws becomes the answer: an ``RPCError`` as it is, a ``JSONError`` as `invalidParams` with its path, anything
/// else through the session's `mapError`.
public typealias Handler = (Call) throws -> Reply

/// Takes one notification of the client. What it throws is logged.
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

  /// What the session does itself.
  enum BuiltIn: String, CaseIterable {
    case initialize, initialized, shutdown, exit
    case cancelRequest = "$/cancelRequest"
    case setTrace = "$/setTrace"
  }

  private(set) var routes: [Route] = []
  /// Open addressing: places in `routes`, -1 where there is none; a power of two, at most half full.
  private var slots: [Int32] = Array(repeating: -1, count: 64)

  public init() {
    for action in BuiltIn.allCases {
      add(
        Route(
          name: action.rawValue, bytes: Array(action.rawValue.utf8), requiresInitialized: false,
          action: .builtIn(action)))
    }
  }

  /// Lets `handler` answer requests of that name. A later handler of the same name replaces an earlier one.
  public mutating func on(_ method: String, requiresInitialized: Bool = true, _ handler: @escaping Handler) {
    add(
      Route(
        name: method, bytes: Array(method.utf8), requiresInitialized: requiresInitialized, action: .request(handler)))
  }

  /// Lets `handler` hear notifications of that name.
  public mutating func onNotification(
    _ method: String, requiresInitialized: Bool = true, _ handler: @escaping NotificationHandler
  ) {
    add(
      Route(
        name: method, bytes: Array(method.utf8), requiresInitialized: requiresInitialized,
        action: .notification(handler)))
  }

  /// The names that have a handler.
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

  /// The place of the route of that name in ``routes``.
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

  /// FNV-1a. The table's names are ours, so a client that makes names collide gains nothing.
  @inline(__always)
  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: hash ^ (hash >> 32)) & Int.max
  }
}
