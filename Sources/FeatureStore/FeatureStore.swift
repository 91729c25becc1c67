// The features of a layer or the graphics of an overlay: columns, ids and the spatial index, as one value.

import Geometry
import HashTreeCollections
import Platform
import Sorting
import SpatialIndex
import Synchronization

/// Features in insertion order.
///
/// A value with chunked copy-on-write: a copy is O(1); the first change afterwards copies a list of chunks (a thousand
/// for a million features) and the arrays it writes to. A copy can be read on another thread while the original
/// changes.
///
/// Clients identify features by ids, the store by rows. A row number is never reused, so rows ascend in insertion order
/// and stay valid while other features are added and removed.
///
/// ```swift
/// var store = FeatureStore()
/// var batch = FeatureBatch()
/// batch.begin(id: 7)
/// batch.setPoint(x: 10, y: 50)
/// batch.set(column: batch.column(named: "name"), .string("A"))
/// try store.append(batch)
/// store.row(of: 7)  // 0
/// ```
public struct FeatureStore: Sendable {
  /// Ids are less than this.
  public static let idLimit = 100_000_000_000_000
  /// Maximum number of attribute names in one store.
  public static let columnLimit = 65_536

  package struct Slot: Sendable {
    /// The chunk's first row, a multiple of the chunk's capacity.
    package let base: UInt32
    package private(set) var chunk: FeatureChunk
    /// The chunk's memory, read without reference counting; the chunk beside it keeps it alive.
    // Safe, as the chunk is: one that two stores hold is never written.
    package private(set) nonisolated(unsafe) var reader: UnsafeMutablePointer<ChunkReader>
    /// The chunk's stamp, read without following the reference.
    private(set) var stamp: UInt64

    /// Asks the processor to load the chunk and its reader.
    @inline(__always)
    package func prefetch() {
      Platform.prefetch(Unmanaged.passUnretained(chunk).toOpaque())
      Platform.prefetch(reader)
    }

    init(base: UInt32, chunk: FeatureChunk) {
      self.base = base
      self.chunk = chunk
      reader = chunk.reader
      stamp = chunk.stamp
    }

    /// Records that attributes of the chunk may have changed.
    mutating func noteStamp() { stamp = chunk.stamp }

    /// The chunk for writing: a copy if a snapshot shares it. After changing attributes, call ``noteStamp()``.
    mutating func owned() -> FeatureChunk {
      if !isKnownUniquelyReferenced(&chunk) {
        chunk = chunk.copy()
        reader = chunk.reader
      }
      return chunk
    }
  }

  /// The ids of one chunk, if ids ascend from chunk to chunk.
  struct OrderedIDs: Sendable {
    let base: UInt32
    let first: Int
    var last: Int
  }

  /// By ascending base; chunks without rows are dropped.
  package var slots: [Slot] = []
  var nextRow: UInt32 = 0
  var nextID = 0
  /// Number of features.
  public internal(set) var count = 0
  public internal(set) var schema: FeatureSchema
  /// Rows by the boxes of their geometries; empty if it is made late.
  private(set) var keptIndex = SpatialIndex()
  /// What stands for it in a store that is edited far more often than it is searched.
  var lateIndex: LateIndex?
  var orderedIDs: [OrderedIDs] = []
  /// Rows by id, for ids that do not ascend with rows.
  var otherIDs: TreeDictionary<Int, UInt32> = [:]
  /// Whether any row has had a zIndex other than 0.
  var hasZIndexes = false
  /// Value indexes, shared by the copies of a store.
  package let valueIndexes = ValueIndexes()
  /// Number of live edits. A record with a smaller number was made before the latest of them.
  var liveEdits = 0

  /// Creates an empty store. The given fields come first and keep their types; others are added as they occur.
  ///
  /// - Parameter indexesLate: for points that are added and removed far more often than searched: the index is made by the first search
  ///   that needs it.
  public init(fields: [Field] = [], geometryName: Text? = nil, indexesLate: Bool = false) {
    self.init(columns: fields.map { ($0.name.string, $0.type) })
    schema.geometryName = geometryName
    if indexesLate { lateIndex = LateIndex() }
  }

  /// - Parameter columns: names with the types that are declared, or nil.
  public init(columns: [(name: String, type: FieldType?)]) { schema = FeatureSchema(columns: columns) }

  /// The id of the next feature added without one.
  public var nextMintedID: Int { nextID }

  /// Whether there are no features.
  public var isEmpty: Bool { count == 0 }

  /// The box around all geometries; nil if there are none. O(1), but O(n) while the index is still to be made.
  public var extent: Envelope? { isToBeIndexed ? boxOfAll : index.bounds }

  /// A box that holds all geometries: ``extent``, but where the index is made late, of all that the store had since it was empty.
  /// O(1).
  public var reach: Envelope? {
    guard let lateIndex else { return extent }
    return lateIndex.reach.isNone ? nil : lateIndex.reach
  }

  /// Whether no feature has a geometry other than a point. O(1).
  public var isOfPoints: Bool { lateIndex != nil || keptIndex.boxes.count == 0 }

  /// Whether a position may have a Z above 0. O(positions), as far as the first that has.
  public var rises: Bool { slots.contains { $0.chunk.geometry.rises } }

  /// Whether there are all rows from 0 on, each with a geometry that has an extent, in the drawing order.
  package var isDense: Bool {
    nextRow == count && lateIndex == nil && keptIndex.count == count && !hasZIndexes && slots.dropLast().allSatisfy { $0.chunk.count == FeatureChunk.capacity }
  }

  /// Whether the drawing order is the order of rows.
  public var drawsInOrderOfRows: Bool { !hasZIndexes }

  /// Attributes that exist or existed, in order of first occurrence.
  public var fields: [Field] { schema.fields }

  // MARK: The index

  /// Rows by the boxes of their geometries. O(n) once after edits if it is made late.
  package var index: SpatialIndex { lateIndex?.made.index(of: self) ?? keptIndex }

  /// Whether the index is still to be made: a search of all rows is quicker then.
  package var isToBeIndexed: Bool { lateIndex.map { !$0.made.isMade } ?? false }

  /// Keeps the index up to date.
  mutating func reindex(removing old: IndexedRows, adding new: IndexedRows) {
    guard lateIndex == nil else { return lateIndex = LateIndex(reach: boxOfAll ?? .none) }
    keptIndex.remove(old)
    keptIndex.insert(new)
  }

  /// Takes over an index of the same rows.
  mutating func keep(_ index: SpatialIndex) { keptIndex = index }

  mutating func clearIndex() {
    keptIndex = SpatialIndex()
    if lateIndex != nil { lateIndex = LateIndex() }
  }

  private var boxOfAll: Envelope? {
    var box = Envelope.none
    forEachIndexed { box.include($1.envelope) }
    return box.isNone ? nil : box
  }

  /// Calls `body` with the index entries of all rows, ascending.
  func forEachIndexed(_ body: (UInt32, IndexedGeometry) -> Void) {
    for slot in slots {
      for row in 0..<slot.chunk.count where slot.chunk.isLive(row) {
        if let entry = slot.chunk.geometry.indexed(row) { body(slot.base + UInt32(row), entry) }
      }
    }
  }

  /// The index entries of all rows, ascending.
  var indexedRows: IndexedRows {
    var rows = IndexedRows()
    if slots.allSatisfy(\.chunk.geometry.isPacked) { rows.reservePoints(count) }
    forEachIndexed { rows.add($0, $1) }
    return rows
  }

  // MARK: Look-up

  /// The slot of a row. O(1) while no chunk was dropped, else O(log n).
  @inline(__always)
  func slot(of row: UInt32) -> Int? {
    guard let first = slots.first?.base, row >= first else { return nil }
    let guess = Int(row &- first) / FeatureChunk.capacity
    if guess < slots.count, slots[guess].base == row & ~UInt32(FeatureChunk.capacity - 1) { return guess }
    let slot = slots.partitioningIndex { $0.base > row } - 1
    return slot >= 0 && Int(row - slots[slot].base) < slots[slot].chunk.count ? slot : nil
  }

  /// The row of a feature; nil for an unknown id. O(log n).
  public func row(of id: Int) -> UInt32? {
    let next = orderedIDs.partitioningIndex { $0.first > id }
    if next > 0, id <= orderedIDs[next - 1].last, let slot = slot(of: orderedIDs[next - 1].base) {
      let chunk = slots[slot].chunk
      if let row = chunk.ids.row(of: id), chunk.isLive(row) { return slots[slot].base + UInt32(row) }
    }
    return otherIDs.isEmpty ? nil : otherIDs[id]
  }

  public func contains(id: Int) -> Bool { row(of: id) != nil }
}

/// What stands for the spatial index of a store that is edited far more often than it is searched.
struct LateIndex: Sendable {
  /// Of the present state, shared with its snapshots.
  let made = MadeIndex()
  /// Holds all geometries.
  var reach = Envelope.none

  /// Of a store of more rows, the index is made for so many searches of boxes in one state.
  private static let (manyRows, manySearches) = (100_000, 8)

  /// Whether a search of boxes in that many rows is worth making the index.
  func isWorthMaking(for count: Int) -> Bool { count > Self.manyRows && made.countSearch() > Self.manySearches }
}

/// A spatial index that is made when it is first needed, for one state of a store.
final class MadeIndex: Sendable {
  private let state = Mutex<(index: SpatialIndex?, searches: Int)>((nil, 0))

  var isMade: Bool { state.withLock { $0.index != nil } }

  func countSearch() -> Int {
    state.withLock { state in
      state.searches += 1
      return state.searches
    }
  }

  func index(of store: FeatureStore) -> SpatialIndex {
    if let made = state.withLock({ $0.index }) { return made }
    let index = SpatialIndex(store.indexedRows)
    state.withLock { $0.index = index }
    return index
  }
}

/// The names and types of a store's attributes by column number.
public struct FeatureSchema: Sendable {
  package private(set) var names: [String] = []
  private var declared: [FieldType?] = []
  /// The types that occurred, one bit each.
  private(set) var seen: [UInt8] = []
  private var numbers: [Text: Int] = [:]
  /// The source's name for the geometry; nil if it has none.
  public fileprivate(set) var geometryName: Text?
  /// Whether undo keeps all names, because live edits use names that no step has added.
  private(set) var isPinned = false

  /// - Parameter columns: names with declared types, or nil; of several with the same name the first counts.
  init(columns: [(name: String, type: FieldType?)]) {
    for column in columns where numbers[Text(column.name)] == nil {
      let number = add(column.name)
      declared[number] = column.type
    }
  }

  public var count: Int { names.count }
  public func name(of column: Int) -> String { names[column] }

  /// The declared type of a column; nil if only its values determine it.
  public func declaredType(of column: Int) -> FieldType? { declared[column] }

  /// Whether a column's texts are times.
  package func isTime(_ column: Int) -> Bool { declaredType(of: column)?.isOfDates ?? false }

  /// The column of an attribute; nil if no feature has had it.
  public func column(named name: String) -> Int? { numbers[Text(name)] }

  /// The names that denote the geometry, unless an attribute has them.
  package var geometryNames: [String] {
    guard let name = geometryName?.string, name != "geometry" else { return ["geometry"] }
    return ["geometry", name]
  }

  package func isGeometry(_ name: String) -> Bool { Text(name) == Text("geometry") || Text(name) == geometryName }

  mutating func add(_ name: String) -> Int {
    if let known = numbers[Text(name)] { return known }
    numbers[Text(name)] = names.count
    names.append(name)
    declared.append(nil)
    seen.append(0)
    return names.count - 1
  }

  mutating func declare(_ type: FieldType?, _ column: Int) { declared[column] = type }

  /// Declares that a column of numbers has doubles, if it has any; integers alone determine its type, as long as there are no others.
  mutating func settleNumbers(_ column: Int) {
    switch seen[column] & (CellTag.integer.bit | CellTag.double.bit) {
    case 0: break
    case CellTag.integer.bit: declared[column] = nil
    default: declared[column] = .double
    }
  }

  /// Adds names; from now on none is removed.
  mutating func pin(adding more: [String]) {
    for name in more { _ = add(name) }
    isPinned = true
  }

  mutating func note(_ tags: UInt8, in column: Int) {
    if seen[column] | tags != seen[column] { seen[column] |= tags }
  }

  /// Removes names from the end, or adds some, until there are `count`; `types` are the types at that time.
  mutating func change(to count: Int, adding more: ArraySlice<String>, seen types: [UInt8]) {
    while names.count > count {
      numbers[Text(names.removeLast())] = nil
      declared.removeLast()
    }
    for name in more.prefix(count - names.count) { _ = add(name) }
    if types.count == names.count { seen = types }
  }

  /// The attributes with their declared types, or else the type of their values: integers with doubles give double, any other
  /// mixture text.
  public var fields: [Field] { names.indices.map(field) }

  /// One of ``fields``.
  public func field(_ column: Int) -> Field {
    let types = seen[column] & ~CellTag.null.bit
    let type: FieldType =
      switch types {
      case CellTag.bool.bit: .boolean
      case CellTag.integer.bit: .integer
      case CellTag.double.bit, CellTag.double.bit | CellTag.integer.bit: .double
      case CellTag.json.bit: .json
      default: .string
      }
    return Field(name: names[column], type: declared[column] ?? type)
  }
}

extension AttributeValue {
  var tag: CellTag {
    switch self {
    case .null: .null
    case .bool: .bool
    case .integer: .integer
    case .double: .double
    case .string: .string
    case .json: .json
    }
  }
}
