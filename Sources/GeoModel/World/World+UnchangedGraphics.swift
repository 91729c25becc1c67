// Finds graphics that were changed and changed back within one command or transaction, whose records are dropped.

import Query

extension World {
  /// Graphics that were recorded more than once and have the state again that they had when the command began.
  ///
  /// The order of insertion is not compared, as it is not published. Overlays with changes of several origins are
  /// skipped: a value that is unchanged for one origin is new to another.
  ///
  /// - Complexity: linear in the records; linear in the edits of an overlay if one of its graphics was recorded twice.
  func equalGraphics() -> [OverlayID: Set<Int>] {
    var equal: [OverlayID: Set<Int>] = [:]
    for id in overlaysWithRepeats() {
      let ids = equalGraphics(of: id)
      if !ids.isEmpty { equal[id] = ids }
    }
    return equal
  }

  private func equalGraphics(of id: OverlayID) -> Set<Int> {
    let undoRecords = journal.filter { $0.object == ObjectReference(.overlays, id.rawValue) }
    let edits = undoRecords.compactMap { $0 as? Edited<Overlay> }
    // The several records of one call contain each graphic once.
    guard edits.reduce(0, { $0 + $1.calls }) > 1, let store = overlays[id]?.store else { return [] }
    var equal: Set<Int> = []
    var open: [Int] = []
    for (graphic, wasThere) in repeated(in: id) {
      switch (wasThere, store.contains(id: graphic)) {
      case (false, false): equal.insert(graphic)
      case (true, true): open.append(graphic)
      default: break
      }
    }
    guard !open.isEmpty else { return equal }
    // An overlay that the command inserts is published as a whole.
    guard !undoRecords.contains(where: \.kind.isStructure) else { return equal }
    return equal.union(store.equal(open, since: edits.map(\.undoRecord)))
  }

  /// Graphics that were recorded more than once, each with whether it existed before.
  private func repeated(in overlay: OverlayID) -> [Int: Bool] {
    var wasThere: [Int: Bool] = [:]
    var repeated: [Int: Bool] = [:]
    for change in recorded {
      guard case .graphics(overlay, let edit) = change.event else { continue }
      edit.ids.forEach { id in
        if let before = wasThere[id] { repeated[id] = before } else { wasThere[id] = !edit.isAddition }
      }
    }
    return repeated
  }

  /// Overlays in which a graphic may have been recorded more than once. A cheap test without false negatives.
  private func overlaysWithRepeats() -> [OverlayID] {
    var records: [OverlayID: OverlayRecords] = [:]
    var latest: (id: OverlayID, records: OverlayRecords)?
    for change in recorded {
      guard case .graphics(let id, let edit) = change.event else { continue }
      // Runs of edits of the same overlay avoid the dictionary.
      if latest?.id != id {
        if let latest { records[latest.id] = latest.records }
        latest = (id, records[id] ?? OverlayRecords(origin: change.origin))
      }
      latest?.records.add(edit, by: change.origin)
    }
    if let latest { records[latest.id] = latest.records }
    return records.filter(\.value.mayRepeat).map(\.key)
  }
}

/// Summary of the records of one overlay, for the cheap test.
private struct OverlayRecords {
  private let origin: Origin
  private var isByOne = true
  /// A single edit, as most bulk commands make it, contains each graphic once, so it is scanned only if a second one
  /// follows.
  private var first: GraphicsEdit?
  private var hasMore = false
  private var isAscending = true
  private var last = -1

  init(origin: Origin) { self.origin = origin }

  var mayRepeat: Bool { isByOne && hasMore && !isAscending }

  mutating func add(_ edit: GraphicsEdit, by origin: Origin) {
    isByOne = isByOne && origin == self.origin
    guard hasMore else {
      guard let first else {
        first = edit
        return
      }
      hasMore = true
      scan(first)
      return scan(edit)
    }
    scan(edit)
  }

  private mutating func scan(_ edit: GraphicsEdit) {
    guard isAscending else { return }
    var (last, isAscending) = (last, true)
    edit.ids.forEach { id in
      isAscending = isAscending && id > last
      last = id
    }
    (self.last, self.isAscending) = (last, isAscending)
  }
}

extension GraphicsEdit {
  fileprivate var ids: GraphicIDs {
    switch self {
    case .added(let ids), .updated(let ids), .removed(let ids): ids
    }
  }

  fileprivate var isAddition: Bool { if case .added = self { true } else { false } }

  /// The edit without some graphics; nil if none are left.
  func without(_ graphics: Set<Int>) -> GraphicsEdit? {
    var left: [Int] = []
    ids.forEach { if !graphics.contains($0) { left.append($0) } }
    guard left.count < ids.count else { return self }
    guard !left.isEmpty else { return nil }
    return switch self {
    case .added: .added(.list(left))
    case .updated: .updated(.list(left))
    case .removed: .removed(.list(left))
    }
  }
}
