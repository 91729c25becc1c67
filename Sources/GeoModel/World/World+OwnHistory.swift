// Undo of one client's steps where several share the history: a step that is not the newest is taken back by a further step.

extension World {
  /// Takes back the newest step of the client that runs the command, unless later steps changed the same. What takes it back is a step
  /// of its own, unless it is the newest of all.
  ///
  /// - Returns: the name of the step.
  public mutating func undoOwn() throws(ModelError) -> String {
    try checkNoEdit()
    let index = history.done.lastIndex { $0.author == author && $0.takesBack == nil && !$0.isTakenBack }
    guard let index else { throw .nothingToUndo }
    if index == history.done.count - 1 { return try undo() }
    let step = history.done[index]
    try takeBack(step, after: index)
    takingBack = changed(takingBack ?? TakenBack()) { $0.steps.append(step.contentNumber) }
    history.mark(step.contentNumber, isTakenBack: true)
    return step.name
  }

  /// Takes back the step by which ``undoOwn()`` last took one back; what was undone as the newest step of all is redone.
  ///
  /// - Returns: the name of the step that is in effect again.
  public mutating func redoOwn() throws(ModelError) -> String {
    try checkNoEdit()
    let index = history.done.lastIndex { $0.author == author && !$0.isTakenBack && $0.takesBack?.restores != true }
    // What was undone as the newest of all after that comes first.
    let isOlder = index.map { history.done[$0].contentNumber < history.undone.last?.contentNumber ?? 0 } ?? true
    let isPlain = history.undone.last?.author == author && history.undone.last != nil && isOlder
    guard !isPlain, let index, let taken = history.done[index].takesBack else {
      guard let last = history.undone.last, last.author == author else { throw .nothingToRedo }
      return try redo()
    }
    let step = history.done[index]
    try takeBack(step, after: index)
    takingBack = changed(takingBack ?? TakenBack(restores: true)) { $0.steps.append(step.contentNumber) }
    history.mark(step.contentNumber, isTakenBack: true)
    for number in taken.steps { history.mark(number, isTakenBack: false) }
    return history.done.last { taken.steps.contains($0.contentNumber) }?.name ?? step.name
  }

  /// Reverts a step's records, those of later steps in effect.
  private mutating func takeBack(_ step: Step, after index: Int) throws(ModelError) {
    // A step that is taken back and the one that takes it back cancel out.
    let rest = history.done[(index + 1)...]
    let numbers = Set(rest.map(\.contentNumber))
    let later = rest.filter { !$0.isTakenBack && $0.takesBack?.steps.allSatisfy(numbers.contains) != true }
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
