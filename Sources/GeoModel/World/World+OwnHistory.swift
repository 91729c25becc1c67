// Undo of one client's steps where several share the history: a step that is not the newest is taken back by a further step.

extension World {
  /// Takes back the newest step of the client that runs the command, unless later steps changed the same. What takes it back is a step
  /// of its own, unless it is the newest of all.
  ///
  /// - Parameter isOne: whether the command takes no other back. Steps undone and steps taken back by further ones do not mix.
  /// - Returns: the name of the step.
  public mutating func undoOwn(isOne: Bool) throws(ModelError) -> String {
    try checkNoEdit()
    endTakingBack("edit/undo")
    let index = history.done.lastIndex { $0.author == author && $0.takesBack == nil && !history.isTakenBack($0) }
    guard let index else { throw .nothingToUndo }
    if index == history.done.count - 1, isOne || author == nil { return try undo(byAuthor: author != nil) }
    return try takeBack(at: index, restores: false)
  }

  /// Takes back the step by which ``undoOwn(isOne:)`` last took one back; what was undone as the newest step of all is redone.
  ///
  /// - Returns: the name of the step that is in effect again.
  public mutating func redoOwn() throws(ModelError) -> String {
    try checkNoEdit()
    endTakingBack("edit/redo")
    let index = history.done.lastIndex { $0.author == author && !history.isTakenBack($0) && $0.takesBack?.restores != true }
    // What was undone as the newest of all after that comes first.
    let isOlder = index.map { history.done[$0].contentNumber < history.undone.last?.contentNumber ?? 0 } ?? true
    let isPlain = history.undone.last?.author == author && history.undone.last != nil && isOlder
    guard !isPlain, let index, let taken = history.done[index].takesBack else {
      guard let last = history.undone.last, last.author == author else { throw .nothingToRedo }
      return try redo()
    }
    let name = try takeBack(at: index, restores: true)
    return history.done.last { $0.contentNumber == taken.step }?.name ?? name
  }

  /// Reverts a step's records, those of later steps in effect, by a further step.
  ///
  /// - Returns: the name of the step that is taken back.
  private mutating func takeBack(at index: Int, restores: Bool) throws(ModelError) -> String {
    let step = history.done[index]
    // A step that is taken back and the one that takes it back cancel out.
    let rest = history.done[(index + 1)...]
    let numbers = Set(rest.map(\.contentNumber))
    let later = rest.filter { step in !history.isTakenBack(step) && step.takesBack.map { numbers.contains($0.step) } != true }
    let (effective, all) = (later.flatMap(\.undoRecords), rest.flatMap(\.undoRecords))
    var records: [any UndoRecord] = []
    for undoRecord in step.undoRecords.reversed() {
      if undoRecord.kind == .insertion, isShown(undoRecord.object) { throw .undoConflict(step: "view/create", client: nil) }
      guard let alone = undoRecord.alone(after: effective, among: all, in: self) else {
        let other = later.first { undoRecord.alone(after: $0.undoRecords, among: $0.undoRecords, in: self) == nil } ?? later.last
        throw .undoConflict(step: other?.name ?? "", client: other?.author?.id)
      }
      records.append(alone)
    }
    saveHistoryForRollback()
    takingBack = TakenBack(step: step.contentNumber, restores: restores)
    let client = origin
    origin = .undo
    defer { origin = client }
    for undoRecord in records {
      if let edited = undoRecord as? Edited {
        let names = history.undoneAttributes(of: edited.id)
        _ = overlays.modify(edited.id) { $0.store.beginRevertingAlone(adding: names) }
      }
      undoRecord.undo(&self)
    }
    return step.name
  }

  /// Makes a step of what the command has taken back so far: each is one of its own, however many a request takes back.
  private mutating func endTakingBack(_ name: String) {
    guard let taken = takingBack else { return }
    saveHistoryForRollback()
    takingBack = nil
    history.add(name, settled(coalesced(undoable(journal.takeStepRecords()))), at: revision, by: author, takingBack: taken)
  }

  /// Whether a view shows a map or a scene: it would close for good.
  private func isShown(_ object: ObjectReference) -> Bool {
    views.values.contains { $0.content.reference == object }
  }

  /// Whether an object is another, or belongs to it.
  func isWithin(_ object: ObjectReference, _ other: ObjectReference) -> Bool {
    var next: ObjectReference? = object
    while let here = next {
      if here == other { return true }
      next = parent(of: here)
    }
    return false
  }
}
