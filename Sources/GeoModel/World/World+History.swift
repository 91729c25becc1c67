// Commit, undo and redo, and edits, which combine commands in one step.

extension World {
  /// Ends a command that succeeded: its changes become a step of history, or part of the open edit.
  ///
  /// - Parameter name: the label of the step for people, as in "Undo <name>".
  public mutating func commit(_ name: String) {
    guard !recorded.isEmpty else { return }
    recordEnvironmentChanges()
    dropUnchangedRecords()
    let before = history.state
    var journal = self.journal.takeStepRecords()
    if recorded.contains(where: { $0.closesView }) {
      journal = discardUnrestorable(journal)
    }
    if isLive {
      recordLive(journal)
    } else if isStep || oldestReverted != nil {
      recordStep(name, journal)
    }
    recordHistory(since: before)
    self.journal.clear()
  }

  private mutating func recordStep(_ name: String, _ journal: [any UndoRecord]) {
    let undoRecords = undoable(journal)
    var hasOther = recorded.contains(where: \.event.isSavedForGood)
    if oldestReverted != nil {
      // Changes propagated by an undo are not part of the step; redo propagates them again.
      hasOther = hasOther || !undoRecords.isEmpty
    } else if history.isEditing {
      // The end of the edit coalesces its records.
      history.extendEdit(settled(undoRecords))
    } else {
      // A single record always differs from the current state.
      let net = undoRecords.count > 1 ? coalesced(undoRecords) : undoRecords
      let undoRecords = settled(net)
      if takingBack != nil || History.isStep(undoRecords) { history.add(name, undoRecords, at: revision, by: author, takingBack: takingBack) }
    }
    if hasOther { history.recordOtherChange() }
  }

  /// Ends propagation that runs after the step was made. Its changes are not part of the step: undoing the step propagates again.
  ///
  /// - Returns: whether `isModified` has changed, which happens at most once, since a modified document stays modified.
  public mutating func commitPropagation() -> Bool {
    let journal = self.journal.takeStepRecords()
    guard !journal.isEmpty else { return false }
    let before = history.state
    if !undoable(journal).isEmpty { history.recordOtherChange() }
    recordHistory(since: before)
    self.journal.clear()
    return before.isModified != history.isModified
  }

  /// Undoes the newest step.
  ///
  /// - Returns: the name of the step.
  @discardableResult
  public mutating func undo() throws(ModelError) -> String { try undo(byAuthor: false) }

  mutating func undo(byAuthor isByAuthor: Bool) throws(ModelError) -> String {
    let original = isByAuthor ? history.done.last?.undoRecords : nil
    return try revertStep({ $0.takeDone() }, orThrow: .nothingToUndo) { history, step in
      history.recordUndone(changed(step) { $0.original = original })
    }
  }

  /// Redoes the step that was undone last.
  ///
  /// - Returns: the name of the step.
  @discardableResult
  public mutating func redo() throws(ModelError) -> String {
    try revertStep({ $0.takeUndone() }, orThrow: .nothingToRedo) { $0.push($1) }
  }

  /// Reverts the step that `take` removes from history, and adds its inverse to history by `put`.
  private mutating func revertStep(
    _ take: (inout History) -> Step?, orThrow none: ModelError, _ put: (inout History, Step) -> Void
  ) throws(ModelError) -> String {
    try checkNoEdit()
    saveHistoryForRollback()
    let before = history.state
    guard let step = take(&history) else { throw none }
    let inverse = revert(step.undoRecords, doneAt: step.revision)
    put(&history, step.with(inverse, at: revision))
    recordHistory(since: before)
    return step.name
  }

  /// - Parameter done: the revision at which the step was done.
  /// - Returns: the records that revert the undo.
  private mutating func revert(_ undoRecords: [any UndoRecord], doneAt done: Int) -> [any UndoRecord] {
    isStep = false
    oldestReverted = min(oldestReverted ?? done, done)
    let client = origin
    origin = .undo
    defer { origin = client }
    _ = journal.takeStepRecords()
    var scopes: [EnvironmentID] = []
    for undoRecord in undoRecords.reversed() {
      undoRecord.undo(&self)
      let object = undoRecord.object
      if object.collection == .environments { scopes.append(EnvironmentID(object.id)) }
    }
    // A view model that a restored scope shared may not have been restored.
    for scope in scopes.reversed() { removeEmptyScope(scope) }
    recordEnvironmentChanges()
    return settled(undoable(journal.takeStepRecords()))
  }

  // MARK: Edits

  /// Begins an edit: all commands until its end become one step.
  public mutating func beginEdit(_ name: String?) throws(ModelError) {
    try checkNoEdit()
    changeHistory {
      $0.history.edit = OpenEdit(name: name, revision: $0.revision + 1, author: $0.author, content: $0.history.contentTag)
      $0.showEditing(true, by: $0.author)
    }
  }

  /// Ends the open edit, which becomes one step.
  public mutating func endEdit() throws(ModelError) {
    guard let edit = history.edit else { throw .noEdit }
    isStep = false
    changeHistory { world in
      world.history.edit = nil
      world.showEditing(false, by: edit.author)
      let undoRecords = world.coalesced(world.undoable(edit.undoRecords))
      if edit.isTooLarge {
        world.history.forgetAll()
        world.history.isCut = true
      } else if History.isStep(undoRecords) {
        world.history.add(edit, undoRecords)
      } else {
        world.history.recordEmptyEdit(since: edit)
      }
    }
  }

  /// Ends the open edit and undoes it.
  public mutating func cancelEdit() throws(ModelError) {
    guard let edit = history.edit else { throw .noEdit }
    guard !edit.isTooLarge else { throw .editTooLarge }
    changeHistory { world in
      world.history.edit = nil
      world.showEditing(false, by: edit.author)
      _ = world.revert(edit.undoRecords, doneAt: edit.revision)
      world.history.recordCancelled(edit)
    }
  }

  /// Whether the current command made a step beyond the limit, after which nothing can be undone.
  @inlinable public var isHistoryCut: Bool { history.isCut }

  /// Whether the current command has undone, redone or cancelled something.
  public var hasReverted: Bool { oldestReverted != nil }

  @inlinable public var isEditing: Bool { history.isEditing }

  /// The open edit. The client that began it keeps its id.
  public var edit: EditID? { history.edit.map { EditID(revision: $0.revision) } }

  func checkNoEdit() throws(ModelError) {
    guard let edit = history.edit else { return }
    throw .editInProgress(by: edit.author?.id)
  }

  /// Whether the current command, before its ``commit(_:)``, will make a step or extend the open edit, or has changed history.
  ///
  /// - Complexity: linear in the command's undo records.
  public var changesHistory: Bool {
    hasChangedHistory || isStep && !isLive && History.isStep(undoable(journal.records))
  }

  /// Marks the current content as saved.
  public mutating func markSaved() { changeHistory { $0.history.markSaved() } }

  // MARK: -

  /// The records needed to undo a command: only the first of several mementos of an object.
  func undoable(_ journal: [any UndoRecord]) -> [any UndoRecord] {
    var seen: Set<ObjectReference> = []
    let structural = Self.structural(journal)
    return journal.filter { undoRecord in
      switch undoRecord.kind {
      case .members: if !seen.insert(undoRecord.object).inserted { return false }
      case .insertion, .removal: if !seen.isEmpty { seen.remove(undoRecord.object) }
      case .contents, .revision: break
      }
      // A removed object must not be compared with a later object with the same id.
      let isCompared =
        undoRecord.kind == .members || undoRecord.kind == .contents && undoRecord.object.collection == .viewModels
      let isOther = isCompared && structural.contains(undoRecord.bearer)
      return isOther ? undoRecord.object.collection.kind.isUndoable : undoRecord.isUndoable(in: self)
    }
  }

  /// The changed objects that records also insert or remove. For an environment scope, which exists only while it has values, its node.
  static func structural(_ undoRecords: [any UndoRecord]) -> Set<ObjectReference> {
    let changed = Set(undoRecords.lazy.filter { $0.kind == .members || $0.kind == .contents }.map(\.bearer))
    guard !changed.isEmpty else { return [] }
    return Set(
      undoRecords.lazy.filter { $0.kind.isStructure }.map(\.object)
        .filter { $0.collection != .environments && changed.contains($0) })
  }

  /// Drops undo records of objects that cannot be restored: closed views and all objects that belong to them.
  ///
  /// - Returns: the other records, including those of earlier or later objects with the same ids.
  private mutating func discardUnrestorable(_ journal: [any UndoRecord]) -> [any UndoRecord] {
    let all = self.journal.records
    let removed = Dictionary(grouping: all.filter { $0.requiredParent != nil }, by: \.requiredParent)
    var lost = LostObjects()
    var parents = all.filter { $0.kind == .removal && $0.object.collection == .views && lost.insert($0) }.map(\.object)
    while let parent = parents.popLast() {
      let children = (removed[parent] ?? []) + history.removals(from: parent)
      parents += children.filter { lost.insert($0) }.map(\.object)
    }
    let kept = Array(journal.reversed().filter { !lost.has($0) }.reversed())
    // Undo has already removed its records from history.
    lost.skip(all.dropLast(journal.count))
    history.forget(lost)
    return kept
  }

  /// Changes history, so that a failed command restores it, and records the published properties that differ.
  mutating func changeHistory(_ body: (inout World) -> Void) {
    saveHistoryForRollback()
    let before = history.state
    body(&self)
    recordHistory(since: before)
  }

  private mutating func recordHistory(since before: HistoryState) {
    let now = history.state
    if before.canUndo != now.canUndo { record(.history(.canUndo)) }
    if before.canRedo != now.canRedo { record(.history(.canRedo)) }
    if before.undoName.differs(from: now.undoName) { record(.history(.undoName)) }
    if before.redoName.differs(from: now.redoName) { record(.history(.redoName)) }
    if before.isEditing != now.isEditing { record(.history(.isEditing)) }
    if before.isModified != now.isModified { record(.document(.isModified)) }
  }
}
