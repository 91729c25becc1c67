// Which features a question is about: found through the index, by ids, a condition, the selection and time, in their order.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Query

/// What all questions about features have in common.
protocol Question {
  var layer: String? { get }
  var overlay: String? { get }
  var envelope: SessionProtocol.Envelope? { get }
  var spatialReference: String? { get }
  var ids: [Int]? { get }
  var whereClause: String? { get }
  var isSelected: Bool? { get }
  var timeExtent: LayerProtocol.TimeExtent? { get }
}

extension FeatureProtocol.Query.Params: Question {}
extension FeatureProtocol.QueryIds.Params: Question {}
extension FeatureProtocol.QueryCount.Params: Question {}
extension FeatureProtocol.QueryExtent.Params: Question {}

/// The features that a question is about; a snapshot, which a worker may look through.
struct FeatureQuery: Sendable {
  let store: FeatureStore
  let reference: SpatialReference
  /// Nil for an overlay.
  let layer: LayerFeatures?
  private let area: Area?
  private let ids: [Int]?
  private let condition: CompiledExpression?
  /// What a look at a feature costs, by the conditions that it is held against.
  private let costOfTest: Int
  private let isSelected: Bool?
  private let time: (extent: TimeExtent, by: LayerTime)?

  init(_ question: some Question, in world: World) throws {
    let id: String
    switch (question.layer, question.overlay) {
    case (let name?, nil):
      id = name
      let layer = try world.layers.require(ID(name))
      let features = try layer.requireFeatures()
      guard let store = features.store else { throw ModelError.notLoaded(name) }
      (self.store, reference, self.layer) = (store, layer.reference, features)
    case (nil, let name?):
      id = name
      let overlay = try world.overlays.require(ID(name))
      (store, reference, layer) = (overlay.store, overlay.reference, nil)
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
    let schema = store.schema
    let asked = try question.whereClause.map { text in
      try Expression.condition(text, over: schema, at: "/params/whereClause")
    }
    condition = asked?.1
    let layerTime = layer?.time
    time = try question.timeExtent.map { extent in
      guard let layerTime else { throw ModelError.noTime(id) }
      return (try Wire.timeExtent(extent, at: "/params/timeExtent"), layerTime)
    }
    area = try Area(question.envelope, question.spatialReference, for: store, in: reference, world)
    (ids, isSelected) = (question.ids, question.isSelected)
    // A time is a text to be read.
    let times = (time == nil ? 0 : 1) + (layer?.isTimeFilterEnabled == true && layerTime != nil ? 1 : 0)
    costOfTest = 1 + ((asked?.0.size ?? 0) + (layer?.definitionExpression?.size ?? 0)) / 8 + times * 4
  }

  // MARK: Effort

  /// So much is answered at once, within a millisecond or a few; what takes longer is a worker's.
  static let smallEffort = 50_000

  /// What a feature costs that has to be transformed, and what one costs that is written, in looks at a feature.
  static let transforming = 200
  static let writing = 10
  /// And one that is put in order.
  static let ordering = 10

  /// So much of positions and texts is transformed or written at once.
  static let smallWeight = 1 << 20
  static let smallMovedWeight = 1 << 14

  /// Thrown on the loop by what turns out to take longer than was thought: a worker does it then.
  struct Aside: Error {}

  /// Gives up on the loop where the rows have much more in them than rows mostly have.
  func checkWeight(of rows: some Sequence<UInt32>, moved: Bool, _ part: WorkShare) throws {
    guard part.worker == nil else { return }
    let limit = moved ? Self.smallMovedWeight : Self.smallWeight
    var weight = 0
    for row in rows {
      weight += store[row]?.weight(withTexts: !moved) ?? 0
      if weight > limit { throw Aside() }
    }
  }

  /// What has to be done to find them: about how many features are looked at, and what a look costs.
  var effort: Int {
    let candidates: Int
    if let ids {
      candidates = ids.count
    } else if let own = area?.own, store.count > Self.smallEffort / Self.transforming {
      candidates = store.countAtMost(in: own)
    } else {
      candidates = store.count
    }
    let looks = candidates * costOfTest
    return area.map { $0.reference == reference } ?? true ? looks : looks + candidates * Self.transforming
  }

  // MARK: Answers

  /// Whether they are all that the store has.
  var isAll: Bool { ids == nil && area == nil && wantsAll }

  /// How many they are where no feature has to be looked at: all, or those in boxes alone.
  var quickCount: Int? {
    if isAll { return store.count }
    guard ids == nil, wantsAll, let area, let own = area.own, area.reference == reference else { return nil }
    return store.count(in: own)
  }

  /// All of them, in drawing order.
  func rows(_ part: WorkShare) throws -> [UInt32] {
    // The index has answered exactly where the box is in the features' own reference.
    let tested = area.flatMap { ids != nil || $0.reference != reference ? $0 : nil }
    let isMoved = tested.map { $0.reference != reference } ?? false
    let parts = part.divided(
      by: 1, tested == nil ? 0 : isMoved ? Self.transforming : 1, wantsAll ? 0 : costOfTest, 1)
    var rows: [UInt32]
    if let ids {
      rows = try store.rows(of: ids, checking: parts[0].check)
    } else if let own = area?.own {
      rows = try store.rows(in: own, checking: parts[0].check)
    } else {
      rows = try store.rowsAscending(checking: parts[0].check)
    }
    if let tested {
      if isMoved { try checkWeight(of: rows, moved: true, part) }
      // A polygon may have many positions.
      let isOfPoints = rows.first.flatMap { store[$0]?.point } != nil
      rows = try inBlocks(of: isOfPoints ? 256 : 1, rows, parts[1]) { block in
        try block.filter { row in
          try store[row].map { try tested.isMet(by: $0, parts[1]) } ?? false
        }
      }
    }
    return try store.sortedForDrawing(try wanted(rows, parts[2]), checking: parts[3].check)
  }

  /// What `body` keeps of rows, handed to it a block at a time where a worker does it.
  private func inBlocks(
    of size: Int, _ rows: [UInt32], _ part: WorkShare, _ body: ([UInt32]) throws -> [UInt32]
  ) throws -> [UInt32] {
    guard part.worker != nil, rows.count > size else { return try body(rows) }
    var kept: [UInt32] = []
    for start in stride(from: 0, to: rows.count, by: size) {
      try part.check(start, of: rows.count)
      kept += try body(Array(rows[start..<min(start + size, rows.count)]))
    }
    return kept
  }

  /// What an order is by.
  func terms(_ orderBy: [FeatureProtocol.OrderBy]) throws -> [SortTerm] {
    try orderBy.enumerated().map { place, each in
      guard let column = store.schema.column(named: each.field) else {
        throw ModelError.unknownField(
          each.field, available: store.fields.map(\.name.string), path: "/params/orderBy/\(place)/field")
      }
      return SortTerm(column: column, isDescending: each.order == .descending)
    }
  }

  /// Some of them, and whether there are more.
  func page(
    _ terms: [SortTerm], offset: Int, limit: Int, _ part: WorkShare
  ) throws -> (page: ArraySlice<UInt32>, exceeded: Bool) {
    let parts = part.divided(by: max(effort, 1), terms.isEmpty ? 0 : effort * Self.ordering)
    let all = try rows(parts[0])
    let (end, isBeyond) = offset.addingReportingOverflow(limit)
    let rows =
      terms.isEmpty ? all : try store.ordered(all, by: terms, first: isBeyond ? .max : end, checking: parts[1].check)
    return (rows.dropFirst(offset).prefix(limit), !isBeyond && end < all.count)
  }

  // MARK: What is asked of each

  private var wantsAll: Bool { isSelected == nil && condition == nil && time == nil && layer?.isUnfiltered ?? true }

  /// Those that count, by what the layer shows and what is asked for.
  private func wanted(_ rows: [UInt32], _ part: WorkShare) throws -> [UInt32] {
    if wantsAll { return rows }
    return try inBlocks(of: max(64, (1 << 15) / costOfTest), rows, part, wanted)
  }

  private func wanted(_ rows: [UInt32]) -> [UInt32] {
    var rows = layer?.shown(rows) ?? rows
    if let condition { rows = condition.filter(rows, of: store) }
    if let isSelected { rows = rows.filter { store[$0]?.isSelected == isSelected } }
    if let time, let layer { rows = layer.rows(rows, meeting: time.extent, by: time.by) }
    return rows
  }
}
