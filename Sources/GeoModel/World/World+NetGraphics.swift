// Graphics that were changed and changed back within one command or transaction: of those nothing is told.

import Query

extension World {
  /// The graphics that were recorded more than once and are again what they were when the command began.
  ///
  /// Their place in the order of insertion does not count, as it is not told. Overlays whose graphics were changed by more than one
  /// origin are not looked at: what is equal to one is news to another.
  ///
  /// - Complexity: linear in what was recorded; as the edits of an overlay where one of its graphics was recorded twice.
  func equalGraphics() -> [OverlayID: Set<Int>] {
    var equal: [OverlayID: Set<Int>] = [:]
    for id in overlaysWithRepeats() {
      let ids = equalGraphics(of: id)
      if !ids.isEmpty { equal[id] = ids }
    }
    return equal
  }

  private func equalGraphics(of id: OverlayID) -> Set<Int> {
    let notes = notes.filter { $0.object == ObjectReference(.overlays, id.rawValue) }
    let edits = notes.compactMap { $0 as? Edited<Overlay> }
    // What one call records of several kinds has each graphic once, too.
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
    // What has come within the command is told whole.
    guard !notes.contains(where: \.kind.isStructure) else { return equal }
    return equal.union(store.equal(open, since: edits.map(\.undoRecord)))
  }

  /// The graphics that were recorded more than once, and whether they were there before.
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

  /// The overlays in which a graphic may have been recorded more than once, by what a glance tells.
  private func overlaysWithRepeats() -> [OverlayID] {
    var runs: [OverlayID: RecordedRun] = [:]
    var latest: (id: OverlayID, run: RecordedRun)?
    for change in recorded {
      guard case .graphics(let id, let edit) = change.event else { continue }
      // Many edits of one overlay in a row are the rule.
      if latest?.id != id {
        if let latest { runs[latest.id] = latest.run }
        latest = (id, runs[id] ?? RecordedRun(origin: change.origin))
      }
      latest?.run.add(edit, by: change.origin)
    }
    if let latest { runs[latest.id] = latest.run }
    return runs.filter(\.value.mayRepeat).map(\.key)
  }
}

/// What was recorded of one overlay, as far as a glance tells.
private struct RecordedRun {
  private let origin: Origin
  private var isByOne = true
  /// One edit alone, as most bulk commands make it, has each graphic once: it is not looked at before there is a second.
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
      look(at: first)
      return look(at: edit)
    }
    look(at: edit)
  }

  private mutating func look(at edit: GraphicsEdit) {
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

  /// The same without some graphics; nil where none are left.
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
