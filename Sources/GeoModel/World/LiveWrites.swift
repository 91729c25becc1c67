// Live writes: changes of values that are not a step of history. Undo of earlier steps is still possible; redo keeps the values
// that live writes have set.

import FeatureStore
import Geometry

/// Values set by live writes since a step was undone.
struct LiveWrites: Sendable {
  /// Names of members and values.
  private(set) var names: [ObjectReference: Set<Text>] = [:]
  private(set) var cells: [OverlayID: WrittenCells] = [:]

  var isEmpty: Bool { names.isEmpty && cells.isEmpty }

  mutating func add(_ other: LiveWrites) {
    names.merge(other.names) { $0.union($1) }
    cells.merge(other.cells) { mine, theirs in
      var all = mine
      all.add(theirs)
      return all
    }
  }

  mutating func add(_ written: Set<Text>, of object: ObjectReference) {
    names[object, default: []].formUnion(written)
  }

  mutating func add(_ undoRecord: StoreUndoRecord, of overlay: OverlayID) {
    cells[overlay, default: WrittenCells()].add(undoRecord)
  }
}

extension World {
  /// Throws if the current command is live and does something that needs a step: creates, removes or moves objects, or changes history.
  public func checkLive() throws(ModelError) {
    guard isLive else { return }
    let needsStep = journal.records.contains { undoRecord in
      undoRecord.changesStructure(in: self) && undoRecord.isUndoable(in: self)
    }
    if needsStep || hasChangedHistory { throw .undoRequired }
  }

  /// Ends a live command: the document is modified, and no step is made.
  mutating func recordLive(_ journal: [any UndoRecord]) {
    let undoRecords = settled(coalesced(undoable(journal)))
    guard History.isStep(undoRecords) else { return }
    for case let edited as Edited in undoRecords {
      _ = overlays.modify(edited.id) { $0.store.endLiveEdit(edited.undoRecord) }
    }
    history.recordLive(undoRecords)
  }

  /// The undo records in the form that steps keep: with the names of the values they change, so that undo leaves live writes of
  /// other values alone. Records of an object that was then removed or replaced keep its whole earlier state. An environment
  /// scope exists only while it has values, so it has one record.
  func settled(_ undoRecords: [any UndoRecord]) -> [any UndoRecord] {
    let structural = Self.structural(undoRecords)
    var result: [any UndoRecord] = []
    var scopes: [ObjectReference: Int] = [:]
    for undoRecord in undoRecords {
      let isWhole = undoRecord.kind == .members && structural.contains(undoRecord.object)
      let settled = isWhole ? undoRecord : undoRecord.settled(in: self) ?? undoRecord
      if settled.object.collection == .environments, settled.kind == .members {
        if let first = scopes[settled.object] {
          result[first].cover(settled)
          continue
        }
        scopes[settled.object] = result.count
      }
      result.append(settled)
    }
    return result
  }
}

extension Entity {
  /// Names of the settable members that differ.
  public static func settableChanges(from before: Self, to after: Self) -> Set<Text> {
    Set(members.lazy.filter { $0.copy != nil && $0.differs?(before, after) == true }.map { Text($0.name) })
  }

  /// This state with all settable members as in `current`, but for those with `names`.
  public func keepingSettable(of current: Self, except names: Set<Text>) -> Self {
    var result = self
    for member in Self.members where !names.contains(Text(member.name)) { member.copy?(&result, current) }
    return result
  }
}

extension EnvironmentScope {
  /// Live writes set values individually.
  public static func settableChanges(from before: Self, to after: Self) -> Set<Text> {
    let values = Set(before.values.keys).union(after.values.keys).filter { before.values[$0] != after.values[$0] }
    let objects = Set(before.objects.keys).union(after.objects.keys).filter { before.objects[$0] != after.objects[$0] }
    return Set(values.map { Text("values/" + $0) }).union(objects.map { Text("objects/" + $0) })
  }

  public func keepingSettable(of current: Self, except names: Set<Text>) -> Self {
    var result = current
    for name in names {
      let key = String(name.string.drop { $0 != "/" }.dropFirst())
      if name.string.hasPrefix("values/") {
        result.values[key] = values[key]
      } else {
        result.objects[key] = objects[key]
      }
    }
    return result
  }
}
