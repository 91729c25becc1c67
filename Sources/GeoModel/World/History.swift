// The steps that can be undone and redone, and the open edit.

import FeatureStore

/// Identifies the content of a document. Undo restores the tag together with the content; changes that undo leaves
/// alone get a new tag.
public struct ContentTag: Hashable, Sendable {
  var step = 0
  var other = 0
}

/// The published properties of a history.
struct HistoryState: Sendable {
  let canUndo: Bool
  let canRedo: Bool
  let undoName: String?
  let redoName: String?
  let isEditing: Bool
  let isModified: Bool
}

/// Steps that were done and undone. The newest is last.
public struct History: Sendable {
  /// Maximum number of steps.
  public static let stepLimit = 100
  /// Maximum memory of all steps together, in bytes, estimated.
  public static let byteLimit = 64 << 20

  private(set) var done: [Step] = []
  /// Sum over ``done``, kept so that adding a step is O(1).
  private var doneBytes = 0
  private(set) var undone: [Step] = []
  /// Whether the last command made a step beyond the limit, which dropped all steps.
  @usableFromInline var isCut = false
  var edit: OpenEdit?
  private var content = ContentTag()
  private var savedContent = ContentTag()
  private var lastContent = 0
  private var lastOther = 0
  /// Number of the content before the oldest step.
  private var firstContent = 0

  public var canUndo: Bool { !done.isEmpty && edit == nil }
  public var canRedo: Bool { !undone.isEmpty && edit == nil }
  public var isEditing: Bool { edit != nil }
  /// Whether there are undone steps. During an edit they are kept until it ends as a step.
  public var hasUndone: Bool { !undone.isEmpty }
  /// Name of the step that undo reverts; nil if there is none.
  public var undoName: String? { canUndo ? done.last?.name : nil }
  /// Name of the step that redo repeats; nil if there is none.
  public var redoName: String? { canRedo ? undone.last?.name : nil }
  /// Names of all steps, the next one first.
  public var undoNames: [String] { done.reversed().map(\.name) }
  public var redoNames: [String] { undone.reversed().map(\.name) }
  public var byteCount: Int { undone.reduce(doneBytes + (edit?.byteCount ?? 0)) { $0 + $1.byteCount } }

  var state: HistoryState {
    HistoryState(
      canUndo: canUndo, canRedo: canRedo, undoName: undoName, redoName: redoName, isEditing: isEditing,
      isModified: isModified)
  }

  /// Whether the content differs from what was last saved.
  public var isModified: Bool { content != savedContent }

  /// Whether the records make a step. Creating or removing links alone makes none.
  static func isStep(_ undoRecords: [any UndoRecord]) -> Bool {
    undoRecords.contains { $0.object.collection != .links }
  }

  /// Adds the step of a command.
  ///
  /// - Parameters:
  ///   - author: the client that made it.
  ///   - taken: the earlier step that it takes back.
  mutating func add(
    _ name: String, _ undoRecords: [any UndoRecord], at revision: Int, by author: ClientNumber?, takingBack taken: TakenBack? = nil
  ) {
    if undone.contains(where: { taken != nil || $0.author != author }) { keepUndone() }
    undone = []
    lastContent += 1
    push(
      Step(
        name: name, undoRecords: undoRecords, contentNumber: lastContent, revision: revision, author: author, takesBack: taken))
  }

  /// Whether a later step in effect takes a step back.
  func isTakenBack(_ step: Step) -> Bool {
    done.contains { $0.takesBack?.step == step.contentNumber && !isTakenBack($0) }
  }

  /// Makes steps of what their authors have undone: those themselves, then what takes them back, so that their authors can redo them.
  private mutating func keepUndone() {
    guard undone.allSatisfy({ $0.original != nil }) else { return }
    let steps = undone
    for step in steps.reversed() { push(step.with(step.original ?? [], at: step.revision)) }
    var last = takeUndone()
    var takenBack: [Step] = []
    while let step = last {
      takenBack.append(step)
      last = takeUndone()
    }
    for step in takenBack.reversed() {
      lastContent += 1
      push(
        Step(
          name: "edit/undo", undoRecords: step.undoRecords, contentNumber: lastContent, revision: step.revision, author: step.author,
          takesBack: TakenBack(step: step.contentNumber)))
    }
  }

  /// Adds the records of a command to the open edit. If it is the last command, the edit's step has the same content number.
  mutating func extendEdit(_ undoRecords: [any UndoRecord]) {
    if Self.isStep(undoRecords) {
      lastContent += 1
      content.step = lastContent
    }
    for undoRecord in undoRecords { edit?.add(undoRecord) }
  }

  /// Adds the step of an edit that has ended.
  mutating func add(_ edit: OpenEdit, _ undoRecords: [any UndoRecord]) {
    undone = []
    push(
      Step(
        name: edit.name ?? "edit", undoRecords: undoRecords, contentNumber: content.step, revision: edit.revision, author: edit.author))
  }

  /// Records a live write: the document is modified, and steps stay.
  mutating func recordLive(_ undoRecords: [any UndoRecord]) {
    recordOtherChange()
    guard let next = undone.indices.last else { return }
    for undoRecord in undoRecords { undoRecord.note(in: &undone[next].live) }
  }

  /// Names of the attributes that the next steps to redo add to an overlay's graphics, in the order of the steps.
  ///
  /// - Complexity: linear in the undone steps.
  func undoneAttributes(of overlay: OverlayID) -> [String] {
    undone.reversed().flatMap { step in
      step.undoRecords.reversed().lazy.compactMap { $0 as? Edited }.filter { $0.id == overlay }
        .flatMap(\.undoRecord.attributeNames)
    }
  }

  /// Ends an edit that changed nothing: the content is the same as before the edit.
  mutating func recordEmptyEdit(since edit: OpenEdit) {
    if savedContent == content { savedContent = edit.content }
    content = edit.content
  }

  /// Ends an edit that was undone.
  mutating func recordCancelled(_ edit: OpenEdit) { content = edit.content }

  /// Adds a step to ``done``; its records undo it.
  mutating func push(_ step: Step) {
    done.append(step)
    doneBytes += step.byteCount
    content.step = step.contentNumber
    trim()
  }

  /// Records a change of saved content that undo does not revert.
  mutating func recordOtherChange() {
    // Numbers are never reused, so that a save in between differs from later content.
    lastOther += 1
    content.other = lastOther
    edit?.content.other = lastOther
  }

  /// Tag of the current content. A save keeps it, so that later changes count as unsaved.
  public var contentTag: ContentTag { content }

  /// - Parameter written: the content that was saved; the current one when nil.
  mutating func markSaved(_ written: ContentTag? = nil) { savedContent = written ?? content }

  mutating func takeDone() -> Step? {
    let step = done.popLast()
    doneBytes -= step?.byteCount ?? 0
    return step
  }
  mutating func takeUndone() -> Step? {
    guard let step = undone.popLast() else { return nil }
    // Steps below it were undone earlier, so the live writes came after them, too.
    if let below = undone.indices.last { undone[below].live.add(step.live) }
    return step
  }

  /// Adds a step to ``undone``; its records redo it.
  mutating func recordUndone(_ step: Step) {
    undone.append(step)
    content.step = done.last?.contentNumber ?? firstContent
  }

  /// The records of objects that steps, or the open edit, have removed from a parent.
  ///
  /// - Complexity: O(steps + objects found), once the steps are indexed.
  mutating func removals(from parent: ObjectReference) -> [any UndoRecord] {
    var removals = edit?.removals(from: parent) ?? []
    for index in done.indices { removals += done[index].removals(from: parent) }
    for index in undone.indices { removals += undone[index].removals(from: parent) }
    return removals
  }

  /// Whether a step, or the open edit, has a record of an object.
  ///
  /// - Complexity: O(steps), once the steps are indexed.
  mutating func remembers(_ object: ObjectReference) -> Bool {
    if edit?.remembers(object) == true { return true }
    for index in done.indices where done[index].remembers(object) { return true }
    for index in undone.indices where undone[index].remembers(object) { return true }
    return false
  }

  /// Drops the records of objects that cannot be restored, and steps that have no other records.
  ///
  /// - Complexity: O(steps · objects + records dropped), amortized.
  mutating func forget(_ lost: LostObjects) {
    let objects = lost.objects
    var (earlier, later) = (lost, lost)
    edit?.forget(&earlier, among: objects)
    for index in done.indices.reversed() {
      doneBytes -= done[index].byteCount
      done[index].forget(&earlier, among: objects)
      doneBytes += done[index].byteCount
    }
    for index in undone.indices.reversed() { undone[index].forget(&later, among: objects) }
    if done.contains(where: \.isForgotten) {
      done.removeAll(where: \.isForgotten)
      doneBytes = done.reduce(0) { $0 + $1.byteCount }
    }
    if undone.contains(where: \.isForgotten) { undone.removeAll(where: \.isForgotten) }
  }

  /// Drops all steps when another document begins.
  mutating func forgetAll() {
    done = []
    doneBytes = 0
    undone = []
    edit = nil
    firstContent = content.step
  }

  /// Drops the oldest steps beyond the limits. A step above the limit is dropped together with all older ones.
  private mutating func trim() {
    var dropped = 0
    while done.count - dropped > Self.stepLimit || doneBytes > Self.byteLimit {
      doneBytes -= done[dropped].byteCount
      dropped += 1
    }
    guard dropped > 0 else { return }
    firstContent = done[dropped - 1].contentNumber
    if dropped == done.count { isCut = true }
    done.removeFirst(dropped)
  }
}
