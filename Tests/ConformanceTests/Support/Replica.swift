// A client's copy of the model, fed by nothing but snapshots and deltas: the proof that these suffice.

/// What a subscription's notifications amount to.
struct Replica {
  /// Something in the stream that no replica could follow.
  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  let subscription: String
  /// Where the replica stands.
  private(set) var revision: Int
  private(set) var root = Value.object([:])
  private(set) var resyncs = 0
  private(set) var deltas = 0
  /// Whether parts of a snapshot are still to come.
  private(set) var awaitsParts = false
  /// Whether parts of a delta are still to come, and the base they all name.
  private var openDelta: (base: Int, revision: Int)?

  init(_ observed: Value) throws {
    guard let subscription = observed["subscription"]?.string, let revision = observed["revision"]?.integer else {
      throw Fault("no answer of state/observe: \(observed)")
    }
    self.subscription = subscription
    self.revision = revision
    try start(observed["snapshot"])
  }

  private mutating func start(_ snapshot: Value?) throws {
    root = .object([:])
    awaitsParts = snapshot == nil
    for place in snapshot?.array ?? [] { try merge(place) }
  }

  /// Takes in a notification; those of other subscriptions are ignored.
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
      guard awaitsParts else { throw Fault("a part of a snapshot that nobody waits for") }
      guard params["revision"]?.integer == revision else { throw Fault("a part of another snapshot: \(params)") }
      for place in params["values"]?.array ?? [] { try merge(place) }
      if params["isLast"]?.bool == true { awaitsParts = false }
    default: break
    }
  }

  private mutating func change(_ params: Value) throws {
    guard !awaitsParts else { throw Fault("a delta before the snapshot was complete") }
    guard let base = params["base"]?.integer, let next = params["revision"]?.integer else { throw Fault("\(params)") }
    guard base == revision else { throw Fault("a gap: the replica stands at \(revision), the delta at \(base)") }
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
      guard let from = entry["from"]?.string else { throw Fault("move from nowhere: \(path)") }
      let source = try Self.names(from)
      var moved: Value?
      try edit(source, from) { old in
        moved = old
        return nil
      }
      guard let moved else { throw Fault("move of nothing: \(from)") }
      try insert(moved, names, path)
      try Self.checkID(entry, names, moved)
    case "replace":
      guard let value = entry["value"] else { throw Fault("replace without a value: \(path)") }
      try edit(names, path) { old in
        guard old != nil else { throw Fault("replace of nothing: \(path)") }
        return value
      }
      try Self.checkID(entry, names, value)
    case "remove":
      try edit(names, path) { old in
        guard let old else { throw Fault("remove of nothing: \(path)") }
        try Self.checkID(entry, names, old)
        return nil
      }
    default: throw Fault("no operation of ours: \(operation)")
    }
  }

  /// Adds a member, or an element in front of the one at its place.
  private mutating func insert(_ value: Value, _ names: [String], _ path: String) throws {
    guard let last = names.last else { return try edit(names, path) { _ in value } }
    try edit(Array(names.dropLast()), path) { parent in
      guard case .array(var elements)? = parent else {
        var members = parent?.object ?? [:]
        members[last] = value
        return .object(members)
      }
      guard let index = Int(last), (0...elements.count).contains(index) else { throw Fault("no place \(path)") }
      elements.insert(value, at: index)
      return .array(elements)
    }
  }

  /// Changes of lists name their element, so that a client can go by id.
  private static func checkID(_ entry: Value, _ names: [String], _ element: Value) throws {
    guard let id = entry["id"]?.string else { return }
    let own = element.string ?? element["id"]?.string
    guard own == id else { throw Fault("\(id) is said of \(own ?? "what has no id"): \(entry)") }
  }

  private mutating func merge(_ place: Value) throws {
    guard let path = place["path"]?.string, let value = place["value"] else { throw Fault("\(place)") }
    try edit(try Self.names(path), path) { old in
      guard case .object(let members)? = old, case .object(let more) = value else { return value }
      return .object(members.merging(more) { Self.merged($0, $1) })
    }
  }

  /// Member by member, all the way down.
  private static func merged(_ old: Value, _ new: Value) -> Value {
    guard case .object(let members) = old, case .object(let more) = new else { return new }
    return .object(members.merging(more) { merged($0, $1) })
  }

  /// Where nothing stands on the way, there are objects: a subscription shows only some places of the tree.
  private mutating func edit(_ names: [String], _ path: String, _ change: (Value?) throws -> Value?) throws {
    root = try Self.edited(root, names[...], path, change) ?? .object([:])
  }

  private static func edited(
    _ value: Value?, _ names: ArraySlice<String>, _ path: String, _ change: (Value?) throws -> Value?
  ) throws -> Value? {
    guard let name = names.first else { return try change(value) }
    switch value {
    case .array(var elements)?:
      guard let index = Int(name), elements.indices.contains(index) else { throw Fault("no place \(path)") }
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

  /// Takes what stands at patterns for known, as a client does with what it has changed itself.
  mutating func assume(_ known: [(pattern: String, places: [String: Value])]) throws {
    for (pattern, places) in known {
      for path in try self.places(pattern).keys { try edit(try Self.names(path), path) { _ in nil } }
      for (path, value) in places { try edit(try Self.names(path), path) { _ in value } }
    }
  }

  // MARK: Reading

  /// What stands at a pattern, by path.
  func places(_ pattern: String) throws -> [String: Value] {
    var places: [(String, Value)] = [("", root)]
    for name in try Self.names(pattern) {
      places = places.flatMap { path, value -> [(String, Value)] in
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
    return Dictionary(places) { $1 }
  }

  private func escaped(_ name: String) -> String {
    name.replacing("~", with: "~0").replacing("/", with: "~1")
  }
}
