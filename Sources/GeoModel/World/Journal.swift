// The undo records of the running command, indexed for fast lookup.

/// Undo records, oldest first.
struct Journal: Sendable {
  private(set) var records: [any UndoRecord] = []
  /// Number of records when they were last taken for a step.
  private var stepMark = 0
  /// Number of records at the last environment notification.
  private var environmentMark = 0
  /// Objects whose memento covers later ones, and the number of indexed records.
  private var remembered: (objects: Set<ObjectReference>, count: Int) = ([], 0)
  /// Revisions of objects before the command, and the number of indexed records.
  private var earlier: (revisions: [ObjectReference: Int], count: Int) = ([:], 0)

  mutating func append(_ undoRecord: some UndoRecord) {
    // The first memento of an object covers later ones.
    if undoRecord.kind == .members, hasMemento(of: undoRecord.object) { return }
    // Merging keeps many small edits in one transaction as cheap as one large edit.
    if undoRecord.kind == .contents, records.count > stepMark, records[records.count - 1].absorb(undoRecord) { return }
    records.append(undoRecord)
  }

  /// Whether a record since the last mark is a memento of the object.
  private mutating func hasMemento(of object: ObjectReference) -> Bool {
    let mark = max(stepMark, environmentMark)
    // Most commands change few objects; then comparing is faster than hashing.
    if records.count - mark <= 4 {
      let last = records[mark...].last { $0.object == object && ($0.kind == .members || $0.kind.isStructure) }
      return last?.kind == .members
    }
    if remembered.count < mark { remembered = ([], mark) }
    for undoRecord in records[remembered.count...] {
      if undoRecord.kind == .members { remembered.objects.insert(undoRecord.object) }
      if undoRecord.kind.isStructure { remembered.objects.remove(undoRecord.object) }
    }
    remembered.count = records.count
    return remembered.objects.contains(object)
  }

  /// Records since the last call, or the beginning of the command. The journal keeps them, since the command may still fail.
  mutating func takeStepRecords() -> [any UndoRecord] {
    defer { stepMark = records.count }
    return stepMark == 0 ? records : Array(records[stepMark...])
  }

  /// Records since the last call. The first record of an object holds its earlier state.
  mutating func takeUnpublishedRecords() -> ArraySlice<any UndoRecord> {
    defer { environmentMark = records.count }
    return records[environmentMark...]
  }

  /// The revision of an object before the command; nil if it has not changed since, or is new.
  ///
  /// - Complexity: O(1) amortized.
  mutating func earlierRevision(of object: ObjectReference) -> Int? {
    for undoRecord in records[earlier.count...] {
      if let revision = undoRecord.revisionBefore, earlier.revisions[undoRecord.object] == nil {
        earlier.revisions[undoRecord.object] = revision
      }
    }
    earlier.count = records.count
    return earlier.revisions[object]
  }

  mutating func clear() {
    guard !records.isEmpty else { return }
    self = Journal()
  }
}
