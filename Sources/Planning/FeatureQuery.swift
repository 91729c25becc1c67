// Plans how to find and order the features for a question: by box (with the index), ids, condition, selection and time.

import Expressions
import FeatureStore
import Filtering
import GeoModel
import Geometry
import Statistics
import Synchronization

/// A query over a snapshot of a layer's or an overlay's features, which a worker can run while the world changes.
package struct FeatureQuery: Sendable {
  /// With the computed attributes once they are.
  package private(set) var store: FeatureStore
  package let reference: SpatialReference
  /// Nil for an overlay.
  package let layer: LayerFeatures?
  private let area: Area?
  private let spatial: SpatialFilter?
  private let ids: [Int]?
  private let condition: CompiledExpression?
  /// Candidates from an index of values, if there is one.
  private let lookedUp: [UInt32]?
  /// The cost of testing one feature, in units of ``effort``. Grows with the size of the conditions.
  private let testCost: Int
  /// The part of ``testCost`` for making texts.
  let textCost: Int
  private let isSelected: Bool?
  private let time: (extent: TimeExtent, by: LayerTime)?
  private let computed: [(column: Int, expression: CompiledExpression, isArithmetic: Bool)]
  private let computingCost: Int
  /// The features, once their attributes are computed.
  private var computedRows: [UInt32]?

  package init(_ question: FeatureQuestion, in world: borrowing World) throws {
    let source = question.source
    var store = source.store
    (reference, layer) = (source.reference, source.layer)
    let parsed = question.condition
    let given = question.reference
    condition =
      if let parsed {
        try world.condition(
          parsed, over: store.schema, in: source.reference, given: given, extent: store.reach,
          at: question.conditionPath)
      } else { nil }
    let layerTime = layer?.time
    time = try question.timeExtent.map { ($0, try source.requireTime()) }
    area = try Area(question.envelope, given, for: store, in: reference, world)
    spatial = try SpatialFilter(question, world)
    (ids, isSelected) = (question.ids, question.isSelected)
    lookedUp =
      if ids == nil, area == nil, spatial == nil, let condition {
        try store.candidates(for: condition, checking: nil)
      } else { nil }
    // Times are stored as text, so each test parses them.
    let times = (time == nil ? 0 : 1) + (layer?.isTimeFilterEnabled == true && layerTime != nil ? 1 : 0)
    let definition = layer?.definitionExpression
    let spatialCost = (condition?.spatialCost ?? 0) + (definition?.hasGeometries == true ? 100 : 0)
    textCost = (parsed?.textCost ?? 0) + (definition?.textCost ?? 0)
    var computed: [(column: Int, expression: CompiledExpression, isArithmetic: Bool)] = []
    for (index, each) in question.computed.enumerated() {
      let path = "/computedFields/\(index)"
      guard store.schema.column(named: each.name) == nil else {
        throw QueryError.duplicateName(each.name, path: path + "/name")
      }
      let expression = try world.condition(
        each.expression, as: .value, over: store.schema, in: source.reference, given: given, extent: store.reach,
        at: path + "/expression")
      let type = expression.resultType(over: store.schema, arithmetic: computed.lazy.filter(\.isArithmetic).map(\.column))
      computed.append((store.addColumn(each.name, type?.type), expression, isArithmetic: type.map { !$0.isExact } ?? false))
    }
    self.computed = computed
    computingCost = zip(question.computed, computed).reduce(0) { cost, each in
      cost + 2 + each.0.expression.size / 8 + each.0.expression.textCost + each.1.expression.spatialCost
    }
    self.store = store
    testCost = 1 + ((parsed?.size ?? 0) + (definition?.size ?? 0)) / 8 + times * 4 + spatialCost + textCost
  }

  /// All rows of a table that is neither a layer nor an overlay.
  package init(table: FeatureStore, in reference: SpatialReference = .unknown) {
    (store, self.reference, layer) = (table, reference, nil)
    (area, spatial, ids, condition, lookedUp, isSelected, time) = (nil, nil, nil, nil, nil, nil, nil)
    (testCost, textCost, computed, computingCost) = (1, 0, [], 0)
  }

  // MARK: Effort

  /// Maximum effort on the loop: a few milliseconds. A worker runs queries above it.
  package static let maxInlineEffort = 50_000

  /// The costs of transforming, writing, generalising and ordering one feature. The unit is one simple test of a feature.
  package static let transformCost = 200
  package static let writeCost = 10
  package static let generalizeCost = 20
  package static let orderCost = 10

  /// Maximum size of data that is written or transformed on the loop, as the sum of `FeatureRow.weight`.
  static let maxInlineWeight = 1 << 20
  static let maxInlineTransformWeight = 1 << 14

  /// Thrown on the loop when a query takes more time than estimated; a worker then repeats it.
  package struct NeedsWorker: Error {}

  /// Throws ``NeedsWorker`` on the loop if the rows have much larger geometries or texts than the estimate assumes.
  package func checkWeight(of rows: ArraySlice<UInt32>, transforms: Bool, _ share: WorkShare) throws {
    guard share.work == nil else { return }
    let limit = transforms ? Self.maxInlineTransformWeight : Self.maxInlineWeight
    var weight = 0
    store.forEach(in: rows) {
      weight += $0.weight(withTexts: !transforms)
      return weight <= limit
    }
    if weight > limit { throw NeedsWorker() }
  }

  /// The estimated cost of ``rows(_:)``: the number of candidates multiplied by the cost of testing one.
  package var effort: Int {
    let candidates: Int
    if let ids {
      candidates = ids.count
    } else if let lookedUp {
      candidates = lookedUp.count
    } else if let boxes, store.count > Self.maxInlineEffort / Self.transformCost {
      candidates = store.countAtMost(in: boxes, bent: bend)
    } else {
      candidates = store.count
    }
    if let computedRows { return computedRows.count }
    var tests = candidates * (testCost + computingCost)
    if let spatial {
      tests += candidates * (isOfPoints ? spatial.cost.ofPoint : spatial.cost.ofOther) + spatial.preparationCost
    }
    return area.map { $0.reference == reference } ?? true ? tests : tests + candidates * Self.transformCost
  }

  /// Boxes for the index; nil if features anywhere may match.
  private var boxes: [Envelope]? { area?.indexBoxes ?? spatial?.indexBoxes ?? condition?.indexBoxes }

  /// How far edges may leave the boxes of their features where ``boxes`` are searched: as of ``Area``.
  private var bend: Double? { area?.indexBoxes != nil ? area?.bend : spatial?.indexBoxes != nil ? spatial?.bend : nil }

  /// Whether the first feature is a point, so that probably all are.
  private var isOfPoints: Bool {
    var isPoint = true
    store.forEach {
      isPoint = $0.point != nil
      return false
    }
    return isPoint
  }

  /// Maximum cost of a test at which a scan of the store's chunks still notices cancellation in time.
  private static let maxScanCost = 8

  // MARK: Results

  /// Whether the query matches every feature.
  package var isAll: Bool { ids == nil && area == nil && spatial == nil && matchesAll }

  /// The number of matching features if no feature has to be tested: all features, or those that the index finds in a box.
  package var quickCount: Int? {
    if isAll { return store.count }
    guard ids == nil, spatial == nil, matchesAll, !store.isToBeIndexed, let area, let boxes = area.indexBoxes,
      area.reference == reference
    else { return nil }
    return store.count(in: boxes)
  }

  /// The matching features: as conditions, which need no list of rows, if a scan of the store's columns finds them; else as rows.
  package func selection(first: Int = .max, _ share: WorkShare) throws -> FeatureSelection {
    if let computedRows { return .rows(computedRows) }
    guard ids == nil, area == nil, spatial == nil else { return .rows(try found(first: first, share)) }
    let shares = share.split(by: store.count, store.count * testCost)
    if let lookedUp { return .rows(try matching(lookedUp, first: first, shares[1])) }
    // On a worker, the first query for equality builds an index.
    if share.work != nil, let condition,
      let rows = try store.candidates(for: condition, checking: { try shares[0].checkpoint($0) })
    {
      return .rows(try matching(rows, first: first, shares[1]))
    }
    if let conditions { return .matching(conditions) }
    return .rows(try found(first: first, shares[1]))
  }

  /// The rows of all matching features, in drawing order.
  ///
  /// - Parameter first: the minimum number of rows needed, if not all are.
  package func rows(first: Int = .max, _ share: WorkShare) throws -> [UInt32] {
    let shares = share.split(by: testCost, testCost, 1)
    // The search can stop early only if rows are found in drawing order.
    let first = store.drawsInOrderOfRows ? first : .max
    let rows =
      switch try selection(first: first, shares[0]) {
      case .matching(let conditions):
        try store.rows(where: conditions, first: first, checking: shares[1].checkpoint)
      case .rows(let rows): rows
      }
    return try store.sortedForDrawing(rows, checking: shares[2].checkpoint)
  }

  /// The number of matching features.
  package func count(_ share: WorkShare) throws -> Int {
    let shares = share.split(by: 1, 1)
    return switch try selection(shares[0]) {
    case .matching(let conditions): try store.count(where: conditions, checking: shares[1].checkpoint)
    case .rows(let rows): rows.count
    }
  }

  /// The rows of all matching features, or of at least the first `first`, ascending. Tests each candidate found by id or box.
  private func found(first: Int, _ share: WorkShare) throws -> [UInt32] {
    // The index is exact for a box in the features' reference; otherwise each candidate is tested.
    let tested = area.flatMap { ids != nil || $0.reference != reference ? $0 : nil }
    let isMoved = tested.map { $0.reference != reference } ?? false
    let shares = share.split(
      by: 1, tested == nil ? 0 : isMoved ? Self.transformCost : 1, matchesAll ? 0 : testCost,
      spatial?.cost.ofOther ?? 0)
    var rows: [UInt32]
    if let ids {
      rows = try store.rows(of: ids, checking: shares[0].checkpoint)
    } else if let boxes {
      rows = try store.rows(in: boxes, bent: bend, checking: shares[0].checkpoint)
    } else {
      rows = try store.rowsAscending(checking: shares[0].checkpoint)
    }
    if let tested {
      if isMoved { try checkWeight(of: rows[...], transforms: true, share) }
      // Polygons may have many positions, so each gets a checkpoint.
      let isOfPoints = rows.first.flatMap { store[$0]?.point } != nil
      rows = try inBlocks(of: isOfPoints ? 256 : 1, rows, shares[1]) { block in
        try block.filter { row in
          try store[row].map { try tested.intersects($0, shares[1]) } ?? false
        }
      }
    }
    rows = try matching(rows, first: spatial == nil ? first : .max, shares[2])
    guard let spatial else { return rows }
    try checkWeight(of: rows[...], transforms: true, share)
    return try spatial.filter(rows, of: store, shares[3])
  }

  /// All conditions; nil unless a scan of columns suffices to test them.
  private var conditions: [CompiledExpression]? {
    guard ids == nil, area == nil, spatial == nil, isSelected == nil, time == nil, textCost == 0,
      testCost <= Self.maxScanCost
    else {
      return nil
    }
    let own = condition.map { [$0] } ?? []
    return layer.map { layer in layer.conditions.map { $0 + own } } ?? own
  }

  /// Filters rows with `body`: on a worker in blocks of `size`, with a checkpoint before each, until `first` rows have passed.
  private func inBlocks(
    of size: Int, first: Int = .max, _ rows: [UInt32], _ share: WorkShare, _ body: ([UInt32]) throws -> [UInt32]
  ) throws -> [UInt32] {
    guard share.work != nil, rows.count > size else { return try body(rows) }
    var kept: [UInt32] = []
    for start in stride(from: 0, to: rows.count, by: size) where kept.count < first {
      try share.checkpoint(start, of: rows.count)
      kept += try body(Array(rows[start..<min(start + size, rows.count)]))
    }
    return kept
  }

  /// - Throws: `unknownField` for a field that the features do not have.
  package func terms(_ order: [FeatureOrder]) throws(ModelError) -> [SortTerm] {
    try order.enumerated().map { (index, each) throws(ModelError) in
      SortTerm(column: try column(each.field, at: "/orderBy/\(index)/field"), isDescending: each.isDescending)
    }
  }

  /// The column of a field in a question.
  package func column(_ name: String, at path: String) throws(ModelError) -> Int {
    guard let column = store.schema.column(named: name) else {
      throw ModelError.unknownField(name, available: store.fields.map(\.name.string), path: path)
    }
    return column
  }

  /// The columns of fields that a question names, which become those of a result.
  ///
  /// - Parameter list: the name of the param with the names.
  /// - Throws: `unknownField`, and ``QueryError/duplicateName(_:path:)`` for a name that occurs twice.
  package func columns(_ names: [String], at list: String) throws -> [Int] {
    try QueryError.checkNames(names) { "/\(list)/\($0)" }
    return try names.enumerated().map { try column($1, at: "/\(list)/\($0)") }
  }

  /// One page of the matching rows, and whether more follow.
  package func page(
    _ terms: [SortTerm], offset: Int, limit: Int, _ share: WorkShare
  ) throws -> (page: ArraySlice<UInt32>, exceeded: Bool) {
    let shares = share.split(by: max(effort, 1), terms.isEmpty ? 0 : effort * Self.orderCost)
    let (end, isBeyond) = offset.addingReportingOverflow(limit)
    // One row more than the page tells whether more follow.
    let all = try rows(first: terms.isEmpty && !isBeyond && end < .max ? end + 1 : .max, shares[0])
    let rows =
      terms.isEmpty
      ? all : try store.ordered(all, by: terms, first: isBeyond ? .max : end, checking: shares[1].checkpoint)
    return (rows.dropFirst(offset).prefix(limit), !isBeyond && end < all.count)
  }

  // MARK: Computed attributes

  /// The same query with its attributes computed for all that match.
  package func computed(_ share: WorkShare) throws -> FeatureQuery {
    guard !computed.isEmpty else { return self }
    let shares = share.split(by: testCost, computingCost)
    return try computed(for: try rows(shares[0]), shares[1])
  }

  /// As ``page(_:offset:limit:_:)``, with the query whose attributes are computed: for the page alone, unless they order the features.
  package func computedPage(
    _ terms: [SortTerm], offset: Int, limit: Int, _ share: WorkShare
  ) throws -> (features: FeatureQuery, page: ArraySlice<UInt32>, exceeded: Bool) {
    let shares = share.split(by: computingCost, testCost)
    if terms.contains(where: { term in computed.contains { $0.column == term.column } }) {
      let features = try computed(shares[0])
      let found = try features.page(terms, offset: offset, limit: limit, shares[1])
      return (features, found.page, found.exceeded)
    }
    let found = try page(terms, offset: offset, limit: limit, shares[1])
    return (try computed(for: Array(found.page), shares[0]), found.page, found.exceeded)
  }

  /// The same query with its attributes computed, if it has all features of a store that ``FeatureStore/isDense``: no list of rows is needed.
  package func computedWhole(_ share: WorkShare) throws -> FeatureQuery? {
    isAll && store.isDense ? try computed(for: nil, share) : nil
  }

  /// - Parameter rows: nil for all of a store that ``FeatureStore/isDense``.
  private func computed(for rows: [UInt32]?, _ share: WorkShare) throws -> FeatureQuery {
    var result = self
    result.computedRows = rows
    let size = Atomic(0)
    let rows = rows.map { rows in zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 } ? rows : rows.sorted() }
    for (field, share) in zip(computed, share.split(by: computed.map { _ in 1 })) {
      let store = result.store
      let chunks = store.chunks(of: rows)
      let made = try share.concurrently(chunks.count) { number in
        let chunk = chunks[number]
        if chunk.isWhole, let numbers = field.expression.numbers(of: chunk.chunk) {
          return store.computed(field.column, of: chunk, numbers)
        }
        var values = BatchColumn()
        for row in rows?[chunk.range] ?? Array(chunk.base..<chunk.base + UInt32(chunk.chunk.count))[...] {
          try share.work?.checkCancelled()
          guard let feature = store[row] else { continue }
          let value = field.expression.value(of: feature)
          switch value {
          case .null: continue
          case .string(let text), .json(let text):
            try share.checkSize(size.wrappingAdd(text.utf8.count, ordering: .relaxed).newValue)
          case .bool, .integer, .double: break
          }
          values.set(value, at: feature.index)
        }
        return store.computed(field.column, of: chunk, ValueColumn(values))
      }
      result.store.replace(made, column: field.column, isArithmetic: field.isArithmetic)
    }
    return result
  }

  // MARK: Filters

  /// Whether no filter of the query or of the layer excludes a feature.
  private var matchesAll: Bool { isSelected == nil && condition == nil && time == nil && layer?.isUnfiltered ?? true }

  /// The rows that pass the filters of both layer and query.
  private func matching(_ rows: [UInt32], first: Int, _ share: WorkShare) throws -> [UInt32] {
    if matchesAll { return rows }
    if textCost > 0 { return try inBlocksByText(rows, first: first, share, matching) }
    return try inBlocks(of: max(64, (1 << 15) / testCost), first: first, rows, share, matching)
  }

  private func matching(_ rows: [UInt32]) -> [UInt32] {
    var rows = layer?.shown(rows) ?? rows
    if let condition { rows = condition.filter(rows, of: store) }
    if let isSelected { rows = rows.filter { store[$0]?.isSelected == isSelected } }
    if let time, let layer { rows = layer.rows(rows, meeting: time.extent, by: time.by) }
    return rows
  }
}
