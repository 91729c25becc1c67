// Objects that undo cannot restore, and which records of history are theirs.

/// Objects that are gone for good: views that were closed, and what belonged to them.
///
/// An id may have been that of another object before, and be that of another one again. So objects are known by their numbers, and
/// records are read from the newest to the oldest, by ``has(_:)``.
struct LostObjects {
  private var numbers: [ObjectReference: Set<Int>] = [:]
  /// Scopes of the environment have no numbers: they come and go with the object of their id.
  private var scopes: Set<ObjectReference> = []
  /// The number that an id has at the record that was read last; nil for none, or an unknown one.
  private var current: [ObjectReference: Int] = [:]

  var objects: Set<ObjectReference> { scopes.union(numbers.keys) }

  /// Adds the object of a record of its removal.
  ///
  /// - Returns: whether it is new.
  mutating func insert(_ undoRecord: any UndoRecord) -> Bool {
    let object = undoRecord.object
    guard object.collection != .environments, let number = undoRecord.number else {
      return scopes.insert(object).inserted
    }
    return numbers[object, default: []].insert(number).inserted
  }

  /// Whether the next older record is of one of the objects.
  mutating func has(_ undoRecord: any UndoRecord) -> Bool {
    let object = undoRecord.object
    guard let lost = numbers[object] else { return scopes.contains(object) }
    if let number = undoRecord.number {
      current[object] = undoRecord.kind == .removal ? number : nil
      return lost.contains(number)
    }
    return current[object].map(lost.contains) ?? false
  }

  /// Passes records that were undone by the same command: before them everything was as it is after them, but for what is lost.
  mutating func skip(_ undoRecords: ArraySlice<any UndoRecord>) {
    for undoRecord in undoRecords.reversed() where undoRecord.kind == .removal {
      guard let number = undoRecord.number, numbers[undoRecord.object]?.contains(number) == true else { continue }
      if current[undoRecord.object] == nil { current[undoRecord.object] = number }
    }
  }
}
