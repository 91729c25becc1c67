// Finds graphics that were changed and changed back within one command or transaction, whose records are dropped.

import FeatureStore

extension World {
  /// Graphics that were recorded more than once and are again in the state at the beginning of the command.
  ///
  /// The order of insertion is not compared, since it is not published. Overlays with changes by several origins are skipped: a
  /// value that is unchanged for one origin is new to another.
  ///
  /// - Complexity: linear in the journal and, for overlays with several edits, in the graphics of these.
  func equalGraphics() -> [OverlayID: Set<Int>] {
    var equal: [OverlayID: Set<Int>] = [:]
    // Several records of one call list each graphic only once.
    let several = Dictionary(
      grouping: journal.records.lazy.filter { $0.kind == .contents }.compactMap { $0 as? Edited }, by: \.id
    )
    .filter { $0.value.reduce(0, { $0 + $1.calls }) > 1 }
    guard !several.isEmpty else { return [:] }
    let structural = Set(journal.records.lazy.filter(\.kind.isStructure).map(\.object))
    let recorded = recordedGraphics(of: Set(several.keys))
    for (id, edits) in several {
      // An overlay that the command inserts is published as a whole.
      let isWhole = structural.contains(ObjectReference(.overlays, id.rawValue))
      let ids = equalGraphics(of: id, edits, recorded[id, default: []], isWhole: isWhole)
      if !ids.isEmpty { equal[id] = ids }
    }
    return equal
  }

  private func equalGraphics(
    of id: OverlayID, _ edits: [Edited], _ recorded: [(edit: GraphicsEdit, origin: Origin)], isWhole: Bool
  ) -> Set<Int> {
    guard let store = overlays[id]?.store else { return [] }
    var equal: Set<Int> = []
    var open: [Int] = []
    for (graphic, wasThere) in repeated(in: recorded) {
      switch (wasThere, store.contains(id: graphic)) {
      case (false, false): equal.insert(graphic)
      case (true, true): open.append(graphic)
      default: break
      }
    }
    guard !open.isEmpty, !isWhole else { return equal }
    return equal.union(store.equal(open, since: edits.map(\.undoRecord)))
  }

  /// The recorded edits of some overlays.
  private func recordedGraphics(of overlays: Set<OverlayID>) -> [OverlayID: [(edit: GraphicsEdit, origin: Origin)]] {
    var result: [OverlayID: [(edit: GraphicsEdit, origin: Origin)]] = [:]
    for change in recorded {
      guard case .graphics(let overlay, let edit) = change.event, overlays.contains(overlay) else { continue }
      result[overlay, default: []].append((edit, change.origin))
    }
    return result
  }

  /// Graphics that one origin recorded more than once, each with whether it existed before.
  private func repeated(in recorded: [(edit: GraphicsEdit, origin: Origin)]) -> [Int: Bool] {
    let edits = recorded.map(\.edit)
    var ids: [Int] = []
    for edit in edits { edit.ids.forEach { ids.append($0) } }
    guard Set(recorded.map(\.origin)).count == 1 else { return [:] }
    // Ids mostly ascend, which makes sorting linear.
    ids.sort()
    let repeated = Set(zip(ids, ids.dropFirst()).lazy.filter { $0 == $1 }.map(\.0))
    guard !repeated.isEmpty else { return [:] }
    var wasThere: [Int: Bool] = [:]
    for edit in edits.reversed() {
      edit.ids.forEach { if repeated.contains($0) { wasThere[$0] = edit.kind != .added } }
    }
    return wasThere
  }
}

extension GraphicsEdit {
  /// The edit without some graphics; nil if none are left.
  func without(_ graphics: Set<Int>) -> GraphicsEdit? {
    var left: [Int] = []
    ids.forEach { if !graphics.contains($0) { left.append($0) } }
    guard left.count < ids.count else { return self }
    return left.isEmpty ? nil : GraphicsEdit(kind: kind, ids: .list(left))
  }
}
