// A client's copy of the model that only snapshots and deltas update. It shows that they suffice.

/// The state that the notifications of one subscription lead to.
struct Replica {
  /// A message that violates the protocol of subscriptions.
  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  let subscription: String
  /// The revision of the replica's state.
  private(set) var revision: Int
  private(set) var root = Value.object([:])
  private(set) var resyncs = 0
  private(set) var deltas = 0
  /// Whether parts of a snapshot are missing.
  private(set) var awaitsParts = false
  /// The base and revision of a delta whose last part is missing; all parts name the same.
  private var openDelta: (base: Int, revision: Int)?

  init(_ observed: Value) throws {
    guard let subscription = observed["subscription"]?.string, let revision = observed["revision"]?.integer else {
      throw Fault("not a result of state/observe: \(observed)")
    }
    self.subscription = subscription
    self.revision = revision
    try start(observed["snapshot"])
  }

  private mutating func start(_ snapshot: Value?) throws {
    root = .object([:])
    awaitsParts = snapshot == nil
    for entry in snapshot?.array ?? [] { try merge(entry) }
  }

  /// Applies a notification; those of other subscriptions are ignored.
  mutating func apply(_ message: Value) throws {
    guard let params = message["params"], params["subscription"]?.string == subscription else { return }
    switch message["method"]?.string {
    case "state/changed": try change(params)
    case "state/resynced":
      resyncs += 1
      revision = params["revision"]?.integer ?? -1
      openDelta = nil
      try start(params["snapshot"])
    case "state/snapshotPart":
      guard awaitsParts else { throw Fault("an unexpected part of a snapshot") }
      guard params["revision"]?.integer == revision else { throw Fault("a part of another snapshot: \(params)") }
      for entry in params["values"]?.array ?? [] { try merge(entry) }
      if params["isLast"]?.bool == true { awaitsParts = false }
    default: break
    }
  }

  private mutating func change(_ params: Value) throws {
    guard !awaitsParts else { throw Fault("a delta before the snapshot was complete") }
    guard let base = params["base"]?.integer, let next = params["revision"]?.integer else { throw Fault("\(params)") }
    guard base == revision else {
      throw Fault("a gap: the replica is at revision \(revision), the delta's base is \(base)")
    }
    guard next > base else { throw Fault("a delta from \(base) to \(next)") }
    if let openDelta, openDelta != (base, next) { throw Fault("a part of another delta: \(base)...\(next)") }
    deltas += 1
    for entry in params["changes"]?.array ?? [] { try patch(entry) }
    if params["isLast"]?.bool == false {
      openDelta = (base, next)
    } else {
      openDelta = nil
      revision = next
    }
  }

  // MARK: JSON Patch

  private mutating func patch(_ entry: Value) throws {
    guard let operation = entry["op"]?.string, let path = entry["path"]?.string else { throw Fault("\(entry)") }
    let names = try Self.names(path)
    switch operation {
    case "add":
      guard let value = entry["value"] else { throw Fault("add without a value: \(path)") }
      try insert(value, names, path)
      try Self.checkID(entry, names, value)
    case "move":
      guard let from = entry["from"]?.string else { throw Fault("move without from: \(path)") }
      let source = try Self.names(from)
      var moved: Value?
      try edit(source, from) { old in
        moved = old
        return nil
      }
      guard let moved else { throw Fault("move of an absent value: \(from)") }
      try insert(moved, names, path)
      try Self.checkID(entry, names, moved)
    case "replace":
      guard let value = entry["value"] else { throw Fault("replace without a value: \(path)") }
      try edit(names, path) { old in
        guard old != nil else { throw Fault("replace of an absent value: \(path)") }
        return value
      }
      try Self.checkID(entry, names, value)
    case "remove":
      try edit(names, path) { old in
        guard let old else { throw Fault("remove of an absent value: \(path)") }
        try Self.checkID(entry, names, old)
        return nil
      }
    default: throw Fault("unknown operation: \(operation)")
    }
  }

  /// Adds a member, or inserts an element at its index.
  private mutating func insert(_ value: Value, _ names: [String], _ path: String) throws {
    guard let last = names.last else { return try edit(names, path) { _ in value } }
    try edit(Array(names.dropLast()), path) { parent in
      guard case .array(var elements)? = parent else {
        var members = parent?.object ?? [:]
        members[last] = value
        return .object(members)
      }
      guard let index = Int(last), (0...elements.count).contains(index) else { throw Fault("no index \(path)") }
      elements.insert(value, at: index)
      return .array(elements)
    }
  }

  /// Operations on lists name the id of their element, so that clients can find it by id.
  private static func checkID(_ entry: Value, _ names: [String], _ element: Value) throws {
    guard let id = entry["id"]?.string else { return }
    let own = element.string ?? element["id"]?.string
    guard own == id else { throw Fault("id \(id) names \(own ?? "an element without id"): \(entry)") }
  }

  private mutating func merge(_ entry: Value) throws {
    guard let path = entry["path"]?.string, let value = entry["value"] else { throw Fault("\(entry)") }
    try edit(try Self.names(path), path) { old in
      guard case .object(let members)? = old, case .object(let more) = value else { return value }
      return .object(members.merging(more) { Self.merged($0, $1) })
    }
  }

  /// Merges objects recursively.
  private static func merged(_ old: Value, _ new: Value) -> Value {
    guard case .object(let members) = old, case .object(let more) = new else { return new }
    return .object(members.merging(more) { merged($0, $1) })
  }

  /// Creates missing objects along the path, since a subscription contains only parts of the tree.
  private mutating func edit(_ names: [String], _ path: String, _ change: (Value?) throws -> Value?) throws {
    root = try Self.edited(root, names[...], path, change) ?? .object([:])
  }

  private static func edited(
    _ value: Value?, _ names: ArraySlice<String>, _ path: String, _ change: (Value?) throws -> Value?
  ) throws -> Value? {
    guard let name = names.first else { return try change(value) }
    switch value {
    case .array(var elements)?:
      guard let index = Int(name), elements.indices.contains(index) else { throw Fault("no index \(path)") }
      guard let new = try edited(elements[index], names.dropFirst(), path, change) else {
        elements.remove(at: index)
        return .array(elements)
      }
      elements[index] = new
      return .array(elements)
    case nil, .object?:
      var members = value?.object ?? [:]
      members[name] = try edited(members[name], names.dropFirst(), path, change)
      return .object(members)
    default: throw Fault("\(path) leads through a value")
    }
  }

  static func names(_ pointer: String) throws -> [String] {
    guard !pointer.isEmpty else { return [] }
    guard pointer.hasPrefix("/") else { throw Fault("no pointer: \(pointer)") }
    return pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
      String($0).replacing("~1", with: "/").replacing("~0", with: "~")
    }
  }

  /// Sets the values at patterns, as a client does with its own changes.
  mutating func assume(_ known: [(pattern: String, values: [String: Value])]) throws {
    for (pattern, values) in known {
      for path in try self.values(at: pattern).keys { try edit(try Self.names(path), path) { _ in nil } }
      for (path, value) in values { try edit(try Self.names(path), path) { _ in value } }
    }
  }

  // MARK: Reading

  /// The values that match a pattern, by path.
  func values(at pattern: String) throws -> [String: Value] {
    var matches: [(String, Value)] = [("", root)]
    for name in try Self.names(pattern) {
      matches = matches.flatMap { path, value -> [(String, Value)] in
        switch value {
        case .object(let members):
          if name == "*" { return members.map { (path + "/" + escaped($0.key), $0.value) } }
          return members[name].map { [(path + "/" + escaped(name), $0)] } ?? []
        case .array(let elements):
          if name == "*" { return elements.enumerated().map { ("\(path)/\($0.offset)", $0.element) } }
          return Int(name).flatMap { elements.indices.contains($0) ? [("\(path)/\($0)", elements[$0])] : nil } ?? []
        default: return []
        }
      }
    }
    return Dictionary(matches) { $1 }
  }

  private func escaped(_ name: String) -> String {
    name.replacing("~", with: "~0").replacing("/", with: "~1")
  }
}
