// Steps of history: made when a command is done, undone, done again; and edits that make one step of many commands.

import Query

extension World {
  /// After each command that went well: what it did becomes a step, or a part of the edit under way.
  ///
  /// - Parameter name: what people read beside "Undo".
  public mutating func commit(_ name: String) {
    guard !recorded.isEmpty else { return }
    recordEnvironmentChanges()
    forgetEqual()
    let before = history.state
    var journal = takeNotes()
    if recorded.contains(where: { $0.closesView }) {
      let lost = discardUnrestorable(journal)
      journal.removeAll { lost.contains($0.object) }
    }
    if isStep || takenBack != nil { noteStep(name, journal) }
    recordHistory(since: before)
    forgetNotes()
  }

  private mutating func noteStep(_ name: String, _ journal: [any UndoRecord]) {
    let undoRecords = undoable(journal)
    var hasOther = recorded.contains(where: \.event.isSavedForGood)
    if takenBack != nil {
      // What follows from an undo is not undone with it.
      hasOther = hasOther || !undoRecords.isEmpty
    } else if history.isEditing {
      // What all of it comes to is settled at the end.
      history.extendEdit(undoRecords)
    } else {
      // What a command notes once is not what it was.
      let net = undoRecords.count > 1 ? net(undoRecords) : undoRecords
      if History.isStep(net) { history.add(name, net, at: revision) }
    }
    if hasOther { history.noteOtherChange() }
  }

  /// After what followed from the step itself: it will follow again from whatever takes the step back.
  ///
  /// - Returns: whether something is told of the history that was not; once, as a document that is modified stays so.
  public mutating func commitFollowing() -> Bool {
    let journal = takeNotes()
    guard !journal.isEmpty else { return false }
    let before = history.state
    if !undoable(journal).isEmpty { history.noteOtherChange() }
    recordHistory(since: before)
    forgetNotes()
    return before.isModified != history.isModified
  }

  /// Takes the newest step back.
  ///
  /// - Returns: its name.
  @discardableResult
  public mutating func undo() throws(ModelError) -> String {
    guard !history.isEditing else { throw .editInProgress }
    keepHistory()
    let before = history.state
    guard let step = history.takeDone() else { throw .nothingToUndo }
    history.noteUndone(step, takeBack(step.undoRecords, doneAt: step.revision), at: revision)
    recordHistory(since: before)
    return step.name
  }

  /// Does the step that was undone last again.
  ///
  /// - Returns: its name.
  @discardableResult
  public mutating func redo() throws(ModelError) -> String {
    guard !history.isEditing else { throw .editInProgress }
    keepHistory()
    let before = history.state
    guard let step = history.takeUndone() else { throw .nothingToRedo }
    history.noteRedone(step, takeBack(step.undoRecords, doneAt: step.revision), at: revision)
    recordHistory(since: before)
    return step.name
  }

  /// - Parameter done: the revision at which it was done.
  /// - Returns: what takes the taking back back.
  private mutating func takeBack(_ undoRecords: [any UndoRecord], doneAt done: Int) -> [any UndoRecord] {
    isStep = false
    takenBack = min(takenBack ?? done, done)
    let client = origin
    origin = .undo
    defer { origin = client }
    _ = takeNotes()
    for undoRecord in undoRecords.reversed() { undoRecord.undo(&self) }
    // What was shared there may be gone for good.
    for scope in environments.ids { removeEmptyScope(scope) }
    recordEnvironmentChanges()
    return undoable(takeNotes())
  }

  // MARK: Edits

  /// Begins an edit: until it ends all commands make one step.
  public mutating func beginEdit(_ name: String?) throws(ModelError) {
    guard !history.isEditing else { throw .editInProgress }
    keepHistory()
    let before = history.state
    history.edit = OpenEdit(name: name, revision: revision + 1, content: history.contentTag)
    recordHistory(since: before)
  }

  /// Ends the edit under way; what was done in it is one step.
  public mutating func endEdit() throws(ModelError) {
    guard let edit = history.edit else { throw .noEdit }
    keepHistory()
    let before = history.state
    isStep = false
    history.edit = nil
    let undoRecords = net(undoable(edit.undoRecords))
    if edit.isTooLarge {
      history.forgetAll()
    } else if History.isStep(undoRecords) {
      history.add(edit, undoRecords)
    } else {
      history.noteNothing(since: edit)
    }
    recordHistory(since: before)
  }

  /// Ends the edit under way and takes back what was done in it.
  public mutating func cancelEdit() throws(ModelError) {
    guard let edit = history.edit else { throw .noEdit }
    guard !edit.isTooLarge else { throw .editTooLarge }
    keepHistory()
    let before = history.state
    history.edit = nil
    _ = takeBack(edit.undoRecords, doneAt: edit.revision)
    history.noteCancelled(edit)
    recordHistory(since: before)
  }

  /// Whether the command has undone, redone or cancelled something.
  public var hasTakenBack: Bool { takenBack != nil }

  @inlinable public var isEditing: Bool { history.isEditing }

  /// What the document holds now is what has been saved.
  public mutating func noteSaved() {
    let before = history.state
    history.noteSaved()
    recordHistory(since: before)
  }

  // MARK: -

  /// What undo has to do to take a command back. Of many notes on one object's members the first counts.
  private func undoable(_ journal: [any UndoRecord]) -> [any UndoRecord] {
    var noted: Set<ObjectReference> = []
    return journal.filter { undoRecord in
      switch undoRecord.kind {
      case .members: if !noted.insert(undoRecord.object).inserted { return false }
      case .coming, .going: noted.remove(undoRecord.object)
      case .contents, .revision: break
      }
      return undoRecord.isUndoable(in: self)
    }
  }

  /// Views do not come back, and so neither does what lay on them.
  ///
  /// - Returns: what lay there.
  private mutating func discardUnrestorable(_ journal: [any UndoRecord]) -> Set<ObjectReference> {
    let open = views
    var lost: Set<ObjectReference> = []
    // From the newest on, so that what lay on something lost comes after it.
    for undoRecord in (history.allUndoRecords + journal).reversed() {
      guard let parent = undoRecord.requiredParent else { continue }
      if lost.contains(parent) || parent.collection == .views && open[ViewID(parent.id)] == nil {
        lost.insert(undoRecord.object)
      }
    }
    history.forget { undoRecord in
      lost.contains(undoRecord.object)
        || undoRecord.object.collection == .views && open[ViewID(undoRecord.object.id)] == nil
    }
    return lost
  }

  mutating func recordHistory(since before: HistoryState) {
    let now = history.state
    if before.canUndo != now.canUndo { record(.history(.canUndo)) }
    if before.canRedo != now.canRedo { record(.history(.canRedo)) }
    if before.undoName.differs(from: now.undoName) { record(.history(.undoName)) }
    if before.redoName.differs(from: now.redoName) { record(.history(.redoName)) }
    if before.isEditing != now.isEditing { record(.history(.isEditing)) }
    if before.isModified != now.isModified { record(.document(.isModified)) }
  }
}

extension History {
  var allUndoRecords: [any UndoRecord] { (done + undone).flatMap(\.undoRecords) + (edit?.undoRecords ?? []) }
}
