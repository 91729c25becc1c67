// What can be undone and redone: steps, each with what takes it back.

/// What a document holds, by a name: the same again after undo, another after whatever undo leaves alone.
public struct ContentTag: Hashable, Sendable {
  var step = 0
  var other = 0
}

/// Something done that is undone as one.
struct Step: Sendable {
  let name: String
  /// In the order of the changes they take back.
  let undoRecords: [any UndoRecord]
  /// The place in history where doing it leads.
  let place: Int
  /// The revision at which it was done, or begun where it took several.
  let revision: Int
  let byteCount: Int

  init(name: String, undoRecords: [any UndoRecord], place: Int, revision: Int) {
    self.name = name
    self.undoRecords = undoRecords
    self.place = place
    self.revision = revision
    byteCount = undoRecords.reduce(64) { $0 + $1.byteCount }
  }
}

/// What is told of a history.
struct HistoryState: Sendable {
  let canUndo: Bool
  let canRedo: Bool
  let undoName: String?
  let redoName: String?
  let isEditing: Bool
  let isModified: Bool
}

/// An edit under way: all that is done becomes one step.
struct OpenEdit: Sendable {
  let name: String?
  /// Of the world, from which on what happens is within it.
  let revision: Int
  /// What the document held when it began, but for what undo leaves alone.
  var content: ContentTag
  var undoRecords: [any UndoRecord] = []
  var byteCount = 0
  /// Whether it holds more than history may, so that it can no longer be taken back.
  private(set) var isTooLarge = false
  /// Objects whose members before the edit are noted: what they are in the midst of a drag nobody needs.
  private var noted: Set<ObjectReference> = []

  init(name: String?, revision: Int, content: ContentTag) {
    self.name = name
    self.revision = revision
    self.content = content
  }

  mutating func add(_ undoRecord: any UndoRecord) {
    guard !isTooLarge else { return }
    if undoRecord.kind == .members {
      guard noted.insert(undoRecord.object).inserted else { return }
    } else if undoRecord.kind.isStructure {
      noted.remove(undoRecord.object)
    } else if let earlier = undoRecords.last, earlier.covers(undoRecord) {
      return
    }
    byteCount += undoRecord.byteCount
    undoRecords.append(undoRecord)
    guard byteCount > History.byteLimit else { return }
    isTooLarge = true
    undoRecords = []
    byteCount = 0
  }

  mutating func forget(where isMeant: (any UndoRecord) -> Bool) {
    guard undoRecords.contains(where: isMeant) else { return }
    undoRecords.removeAll(where: isMeant)
    byteCount = undoRecords.reduce(0) { $0 + $1.byteCount }
  }
}

/// What has been done and undone. Newest last.
public struct History: Sendable {
  /// Steps kept.
  public static let stepLimit = 100
  /// Memory kept for all steps together, in bytes, roughly.
  public static let byteLimit = 64 << 20

  private(set) var done: [Step] = []
  /// Of all of ``done``: adding a step looks at no other.
  private var doneBytes = 0
  private(set) var undone: [Step] = []
  var edit: OpenEdit?
  private var content = ContentTag()
  private var savedContent = ContentTag()
  private var lastPlace = 0
  private var lastOther = 0
  /// The place before the first step that is kept.
  private var firstPlace = 0

  public var canUndo: Bool { !done.isEmpty && edit == nil }
  public var canRedo: Bool { !undone.isEmpty && edit == nil }
  public var isEditing: Bool { edit != nil }
  /// What undo would take back; nil for nothing.
  public var undoName: String? { canUndo ? done.last?.name : nil }
  /// What redo would bring again; nil for nothing.
  public var redoName: String? { canRedo ? undone.last?.name : nil }
  /// Next first.
  public var undoNames: [String] { done.reversed().map(\.name) }
  public var redoNames: [String] { undone.reversed().map(\.name) }
  public var byteCount: Int { undone.reduce(doneBytes + (edit?.byteCount ?? 0)) { $0 + $1.byteCount } }

  var state: HistoryState {
    HistoryState(
      canUndo: canUndo, canRedo: canRedo, undoName: undoName, redoName: redoName, isEditing: isEditing,
      isModified: isModified)
  }

  /// Whether the document differs from what was last saved.
  public var isModified: Bool { content != savedContent }

  /// Whether there is something to undo: that links came or went is no change of the model.
  static func isStep(_ undoRecords: [any UndoRecord]) -> Bool {
    undoRecords.contains { $0.object.collection != .links }
  }

  /// Takes in what a command did.
  mutating func add(_ name: String, _ undoRecords: [any UndoRecord], at revision: Int) {
    lastPlace += 1
    undone = []
    push(Step(name: name, undoRecords: undoRecords, place: lastPlace, revision: revision))
  }

  /// Takes in what a command did within the edit under way. The place that it leads to is where the edit's step will, if it is the last.
  mutating func extendEdit(_ undoRecords: [any UndoRecord]) {
    if Self.isStep(undoRecords) {
      lastPlace += 1
      content.step = lastPlace
    }
    for undoRecord in undoRecords { edit?.add(undoRecord) }
  }

  /// Takes in what an edit did that has ended.
  mutating func add(_ edit: OpenEdit, _ undoRecords: [any UndoRecord]) {
    undone = []
    push(Step(name: edit.name ?? "edit", undoRecords: undoRecords, place: content.step, revision: edit.revision))
  }

  /// An edit has ended and has come to nothing: what holds now held when it began.
  mutating func noteNothing(since edit: OpenEdit) {
    if savedContent == content { savedContent = edit.content }
    content = edit.content
  }

  /// An edit has been taken back.
  mutating func noteCancelled(_ edit: OpenEdit) { content = edit.content }

  private mutating func push(_ step: Step) {
    done.append(step)
    doneBytes += step.byteCount
    content.step = step.place
    trim()
  }

  /// Something saved has changed that undo leaves alone.
  mutating func noteOtherChange() {
    // No tag is given twice: what was saved in between is told from what comes.
    lastOther += 1
    content.other = lastOther
    edit?.content.other = lastOther
  }

  /// What the document holds now, to be remembered while it is written.
  public var contentTag: ContentTag { content }

  /// - Parameter written: what was saved; what is there now when nil.
  mutating func noteSaved(_ written: ContentTag? = nil) { savedContent = written ?? content }

  mutating func takeDone() -> Step? {
    let step = done.popLast()
    doneBytes -= step?.byteCount ?? 0
    return step
  }
  mutating func takeUndone() -> Step? { undone.popLast() }

  /// A step was undone; `reversals` do it again.
  mutating func noteUndone(_ step: Step, _ undoRecords: [any UndoRecord], at revision: Int) {
    undone.append(Step(name: step.name, undoRecords: undoRecords, place: step.place, revision: revision))
    content.step = done.last?.place ?? firstPlace
  }

  /// A step was done again; `reversals` take it back.
  mutating func noteRedone(_ step: Step, _ undoRecords: [any UndoRecord], at revision: Int) {
    push(Step(name: step.name, undoRecords: undoRecords, place: step.place, revision: revision))
  }

  /// Drops what concerns objects that can no longer come back.
  mutating func forget(where isMeant: (any UndoRecord) -> Bool) {
    func kept(_ steps: [Step]) -> [Step] {
      steps.compactMap { step in
        guard step.undoRecords.contains(where: isMeant) else { return step }
        let rest = step.undoRecords.filter { !isMeant($0) }
        return rest.isEmpty ? nil : Step(name: step.name, undoRecords: rest, place: step.place, revision: step.revision)
      }
    }
    done = kept(done)
    doneBytes = done.reduce(0) { $0 + $1.byteCount }
    undone = kept(undone)
    edit?.forget(where: isMeant)
  }

  /// Forgets all steps: another document begins.
  mutating func forgetAll() {
    done = []
    doneBytes = 0
    undone = []
    edit = nil
    firstPlace = content.step
  }

  /// Forgets the oldest steps beyond the limits; a step that is too large by itself goes too, with all before it.
  private mutating func trim() {
    var gone = 0
    while done.count - gone > Self.stepLimit || doneBytes > Self.byteLimit {
      doneBytes -= done[gone].byteCount
      gone += 1
    }
    guard gone > 0 else { return }
    firstPlace = done[gone - 1].place
    done.removeFirst(gone)
  }
}
