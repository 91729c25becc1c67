// The graphics of a document's overlays, in portions.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import Planning

extension DocumentReader {
  /// Graphics are added in portions, so that a cancel is heard.
  private static let portion = 10_000
  /// A portion that has an invalid graphic is added in smaller ones, as it is read again for every hundred of them.
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

  /// Adds graphics as they are.
  ///
  /// - Returns: false where some are not valid; none is added then.
  private mutating func addGraphics(_ list: JSONValue, _ range: Range<Int>, of id: OverlayID) throws -> Bool {
    guard case .success(let first) = try attempt(range.map { list[$0] }, of: id) else { return false }
    recordUnknownMembers(range.map { (list[$0], list[$0], []) }, from: first, of: id)
    return true
  }

  /// Adds graphics without what is not valid in them.
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
        // From the last one, so that the indexes of the others stay.
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

  /// - Returns: the first minted id; or the graphics that are not valid, in their order, at most a hundred.
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

  /// Notes of graphics what would not be written.
  ///
  /// - Parameters:
  ///   - graphics: as they were read, what was understood of them, and the names of members that were left out.
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

/// The graphics of a portion that are not valid.
private struct GraphicFaults: Error {
  let items: [ItemError]
}

/// A graphic without the members in it that are not valid.
private struct MendedGraphic {
  let whole: JSONValue
  /// Its index in the overlay's list.
  let index: Int
  /// What is left; nil while it is whole.
  private(set) var object: MendedObject?
  private(set) var omitted: [String] = []

  init(_ json: JSONValue, index: Int) {
    whole = json
    self.index = index
  }

  /// Leaves out the member that a pointer leads to.
  ///
  /// - Returns: false where the graphic cannot be without it.
  mutating func leaveOut(_ pointer: String) -> Bool {
    guard let name = pointer.utf8.split(separator: UInt8(ascii: "/")).first.map({ String(Substring($0)) }) else {
      return false
    }
    // Coordinates in another reference than they were made in would be somewhere else.
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
