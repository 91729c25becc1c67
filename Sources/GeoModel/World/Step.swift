// A step of history, and the open edit, which becomes one.

/// The step that a later one takes back.
struct TakenBack: Sendable {
  /// Its content number.
  let step: Int
  /// Whether it took another back itself, which is in effect again.
  var restores = false
}

/// One undoable unit: a command, a transaction or an edit.
struct Step: Sendable {
  let name: String
  /// Number of the content that the step leads to.
  let contentNumber: Int
  /// Revision at which the step was done, or begun if it is an edit.
  let revision: Int
  /// The client that made it; nil where one has the model alone.
  let author: ClientNumber?
  /// The earlier step that this one takes back.
  let takesBack: TakenBack?
  /// What undoes a step again that its author has undone: another client's step does not discard it.
  var original: [any UndoRecord]?
  private(set) var byteCount: Int
  /// Values set by live writes since the step was undone; redo keeps them.
  var live = LiveWrites()
  /// In the order of the changes.
  private var records: [any UndoRecord]
  /// Indexes of forgotten records, each replaced by a record without effect.
  private var forgotten: Set<Int> = []
  /// Indexes of records by object, and of removals by parent. Made when records are first forgotten.
  private var index: (records: [ObjectReference: [Int]], removals: [ObjectReference: [Int]])?

  init(
    name: String, undoRecords: [any UndoRecord], contentNumber: Int, revision: Int, author: ClientNumber? = nil, takesBack: TakenBack? = nil
  ) {
    self.name = name
    (self.author, self.takesBack) = (author, takesBack)
    records = undoRecords
    self.contentNumber = contentNumber
    self.revision = revision
    byteCount = undoRecords.reduce(64) { $0 + $1.byteCount }
  }

  /// In the order of the changes.
  var undoRecords: [any UndoRecord] {
    let all = forgotten.isEmpty ? records : records.indices.filter { !forgotten.contains($0) }.map { records[$0] }
    return live.isEmpty ? all : all.map { $0.without(live) }
  }
  /// Whether no record is left.
  var isForgotten: Bool { !forgotten.isEmpty && forgotten.count == records.count }

  /// The step with other records: those that redo or undo it.
  func with(_ undoRecords: [any UndoRecord], at revision: Int) -> Step {
    Step(name: name, undoRecords: undoRecords, contentNumber: contentNumber, revision: revision, author: author, takesBack: takesBack)
  }

  /// The records of objects that the step removed from a parent.
  mutating func removals(from parent: ObjectReference) -> [any UndoRecord] {
    makeIndex()
    return (index?.removals[parent] ?? []).filter { !forgotten.contains($0) }.map { records[$0] }
  }

  mutating func remembers(_ object: ObjectReference) -> Bool {
    makeIndex()
    return index?.records[object] != nil
  }

  /// Drops the records of lost objects.
  ///
  /// - Parameters:
  ///   - lost: the lost objects, at the state after reading all newer steps.
  ///   - objects: all objects that `lost` may contain.
  mutating func forget(_ lost: inout LostObjects, among objects: Set<ObjectReference>) {
    makeIndex()
    for object in objects {
      guard let own = index?.records[object] else { continue }
      original = nil
      let gone = Set(own.reversed().filter { lost.has(records[$0]) })
      for index in gone {
        byteCount -= records[index].byteCount
        records[index] = Touched(id: ViewID(""), revision: 0)
        forgotten.insert(index)
      }
      let kept = own.filter { !gone.contains($0) }
      index?.records[object] = kept.isEmpty ? nil : kept
    }
  }

  private mutating func makeIndex() {
    guard index == nil else { return }
    var made: (records: [ObjectReference: [Int]], removals: [ObjectReference: [Int]]) = ([:], [:])
    for (number, undoRecord) in records.enumerated() {
      made.records[undoRecord.object, default: []].append(number)
      if let parent = undoRecord.requiredParent { made.removals[parent, default: []].append(number) }
    }
    index = made
  }
}

/// Identifies an edit: the first revision within it.
public struct EditID: Hashable, Sendable {
  let revision: Int
}

/// An open edit: its commands become one step.
struct OpenEdit: Sendable {
  let name: String?
  /// First revision within the edit.
  let revision: Int
  /// The client that began it; nil where one has the model alone.
  let author: ClientNumber?
  /// Content when the edit began, including later changes that undo leaves alone.
  var content: ContentTag
  var undoRecords: [any UndoRecord] = []
  var byteCount = 0
  /// Whether the edit exceeds ``History/byteLimit``, so that it cannot be undone.
  private(set) var isTooLarge = false
  /// Indexes of mementos in `undoRecords`: later mementos of the same objects are dropped, so that a long drag stays small.
  private var mementos: [ObjectReference: Int] = [:]
  /// Objects of `undoRecords`, and those from which they removed others.
  private var objects: Set<ObjectReference> = []

  init(name: String?, revision: Int, author: ClientNumber?, content: ContentTag) {
    self.name = name
    self.author = author
    self.revision = revision
    self.content = content
  }

  mutating func add(_ undoRecord: any UndoRecord) {
    guard !isTooLarge else { return }
    if undoRecord.kind == .members {
      if let known = mementos[undoRecord.object] { return undoRecords[known].cover(undoRecord) }
      mementos[undoRecord.object] = undoRecords.count
    } else if undoRecord.kind.isStructure {
      mementos[undoRecord.object] = nil
    } else if let earlier = undoRecords.last, earlier.covers(undoRecord) {
      return
    }
    byteCount += undoRecord.byteCount
    undoRecords.append(undoRecord)
    objects.insert(undoRecord.object)
    if let parent = undoRecord.requiredParent { objects.insert(parent) }
    guard byteCount > History.byteLimit else { return }
    isTooLarge = true
    undoRecords = []
    mementos = [:]
    byteCount = 0
  }

  func remembers(_ object: ObjectReference) -> Bool { objects.contains(object) }

  func removals(from parent: ObjectReference) -> [any UndoRecord] {
    guard objects.contains(parent) else { return [] }
    return undoRecords.filter { $0.requiredParent == parent }
  }

  /// See ``Step/forget(_:among:)``.
  mutating func forget(_ lost: inout LostObjects, among gone: Set<ObjectReference>) {
    guard !objects.isDisjoint(with: gone) else { return }
    undoRecords = Array(undoRecords.reversed().filter { !lost.has($0) }.reversed())
    let known = mementos
    mementos = [:]
    for (index, undoRecord) in undoRecords.enumerated()
    where undoRecord.kind == .members && known[undoRecord.object] != nil { mementos[undoRecord.object] = index }
    byteCount = undoRecords.reduce(0) { $0 + $1.byteCount }
  }
}
