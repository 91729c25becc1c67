// Reads the graphics of a document's overlays in portions.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import Planning

extension DocumentReader {
  /// Maximum number of graphics in a portion, so that cancellation is noticed between portions.
  private static let portion = 10_000
  /// A portion with an invalid graphic is added again in smaller portions, since each hundred invalid graphics require reading a
  /// portion again.
  private static let smallPortion = 100

  mutating func readGraphics(_ overlay: DocumentItem, of id: OverlayID) throws {
    let graphics = overlay.member("graphics")
    guard graphics.json.isPresent else { return }
    guard graphics.json.kind == .array else {
      return try report(graphics.json.typeError(expected: "array"), at: graphics)
    }
    let count = graphics.json.count
    for start in stride(from: 0, to: count, by: Self.portion) {
      let end = min(start + Self.portion, count)
      if try !addGraphics(graphics.json, start..<end, of: id) {
        for start in stride(from: start, to: end, by: Self.smallPortion) {
          try mendGraphics(graphics, start..<min(start + Self.smallPortion, end), of: id)
        }
      }
      worker.work.report(Double(end) / Double(count))
    }
  }

  /// Adds graphics unchanged.
  ///
  /// - Returns: false if any are invalid; then none is added.
  private mutating func addGraphics(_ list: JSONValue, _ range: Range<Int>, of id: OverlayID) throws -> Bool {
    guard case .success(let first) = try attempt(range.map { list[$0] }, of: id) else { return false }
    recordUnknownMembers(range.map { (list[$0], list[$0], []) }, from: first, of: id)
    return true
  }

  /// Adds graphics without their invalid members, and without graphics that are then still invalid.
  private mutating func mendGraphics(_ list: DocumentItem, _ range: Range<Int>, of id: OverlayID) throws {
    var left = range.map { MendedGraphic(list.json[$0], index: $0) }
    while !left.isEmpty {
      let documents = try left.map { try $0.object?.parsed() }
      defer { withExtendedLifetime(documents) {} }
      let graphics = zip(left, documents).map { $1?.unownedRoot ?? $0.whole }
      switch try attempt(graphics, of: id) {
      case .success(let first):
        return recordUnknownMembers(zip(left, graphics).map { ($0.whole, $1, $0.omitted) }, from: first, of: id)
      case .failure(let faults):
        // From the last one, so that the indexes of the others stay valid.
        var found: [Failure] = []
        for item in faults.items.reversed() {
          let fault = item.failure
          found.append(fault.moved(to: "\(list.path)/\(left[item.index].index)\(fault.path?.string ?? "")"))
          if !left[item.index].leaveOut(fault.path?.string ?? "") { left.remove(at: item.index) }
        }
        for problem in found.reversed() { problems.append(problem) }
      }
    }
  }

  /// - Returns: the first minted id; or the invalid graphics, in order, at most a hundred.
  private mutating func attempt(
    _ graphics: [JSONValue], of id: OverlayID
  ) throws -> Result<Int?, GraphicFaults> {
    try worker.checkCancelled()
    world.begin(origin: .task)
    do {
      let added = try OverlayService.addGraphics(
        .init(overlay: id.rawValue, graphics: graphics.map { .parsed($0) }), in: &world)
      world.discardChanges()
      return .success(try added(world).firstId)
    } catch ModelError.items(let items, _) {
      world.rollBack()
      return .failure(GraphicFaults(items: items))
    }
  }

  /// Keeps the members of graphics that this version would not write.
  ///
  /// - Parameters:
  ///   - graphics: each graphic as read, the part of it that was understood, and the names of omitted members.
  ///   - first: the first minted id.
  private mutating func recordUnknownMembers(
    _ graphics: [(whole: JSONValue, understood: JSONValue, omitted: [String])], from first: Int?, of id: OverlayID
  ) {
    var minted = first
    for (whole, understood, omitted) in graphics {
      let number = (try? understood["id"].integer()) ?? minted
      if !understood["id"].isPresent { minted = minted.map { $0 + 1 } }
      guard let number, let kept = unknownGraphicMembers.object(of: understood, omitting: omitted, of: whole) else {
        continue
      }
      unknown.graphics[id, default: [:]][number] = kept
    }
  }
}

/// The invalid graphics of a portion.
private struct GraphicFaults: Error {
  let items: [ItemError]
}

/// A graphic without its invalid members.
private struct MendedGraphic {
  let whole: JSONValue
  /// Its index in the overlay's list.
  let index: Int
  /// The remaining members; nil while nothing is left out.
  private(set) var object: MendedObject?
  private(set) var omitted: [String] = []

  init(_ json: JSONValue, index: Int) {
    whole = json
    self.index = index
  }

  /// Leaves out the member at a pointer.
  ///
  /// - Returns: false if the graphic is invalid without it.
  mutating func leaveOut(_ pointer: String) -> Bool {
    guard let name = pointer.utf8.split(separator: UInt8(ascii: "/")).first.map({ String(Substring($0)) }) else {
      return false
    }
    // Without its reference, the geometry would be at another place, so it is left out, too.
    if name == "spatialReference" { return leaveOut("/geometry") && leaveOutMember(name) }
    return leaveOutMember(name)
  }

  private mutating func leaveOutMember(_ name: String) -> Bool {
    var left = object ?? MendedObject(whole, required: ["id"], without: [])
    guard left.leaveOut("/" + name) else { return false }
    object = left
    omitted.append(name)
    return true
  }
}
