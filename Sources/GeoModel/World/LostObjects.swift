// Objects that undo cannot restore, and their records in history.

/// Objects that cannot be restored: closed views and the objects that belonged to them.
///
/// An id may belong to different objects at different times. So objects are identified by their numbers, and records have to be
/// passed to ``has(_:)`` from the newest to the oldest.
struct LostObjects {
  private var numbers: [ObjectReference: Set<Int>] = [:]
  /// Environment scopes have no numbers, as they exist with the object of their id.
  private var scopes: Set<ObjectReference> = []
  /// The number that an id has at the record read last; nil if the id is free or its number unknown.
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

  /// Skips records that the same command has undone: the state before them equals the state after them, except for lost objects.
  mutating func skip(_ undoRecords: ArraySlice<any UndoRecord>) {
    for undoRecord in undoRecords.reversed() where undoRecord.kind == .removal {
      guard let number = undoRecord.number, numbers[undoRecord.object]?.contains(number) == true else { continue }
      if current[undoRecord.object] == nil { current[undoRecord.object] = number }
    }
  }
}
