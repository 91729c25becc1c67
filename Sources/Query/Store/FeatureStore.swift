// The features of one layer or the graphics of one overlay: columns, ids and the spatial index, as one value.

import Geometry
import HashTreeCollections

/// Features in the order of their insertion.
///
/// A value with chunked copy-on-write: a copy is O(1); the first change after one copies a list of chunks (a thousand for a
/// million features) and the arrays it writes to. A copy can be read on another thread while the original changes.
///
/// Features are named by their ids, everything inside by rows. A row number is never given twice, so that rows ascend in the
/// order of insertion and stay what they are while other features come and go.
public struct FeatureStore: Sendable {
  /// Ids are below it.
  public static let idLimit = 100_000_000_000_000
  /// Different attribute names in one store.
  public static let columnLimit = 65_536

  struct Slot: Sendable {
    /// The number of its first row, a multiple of the chunk's capacity.
    let base: UInt32
    private(set) var chunk: FeatureChunk
    /// Where the chunk lies, for reading without counting references; the chunk beside it keeps it alive.
    private(set) nonisolated(unsafe) var reader: UnsafeMutablePointer<ChunkReader>

    init(base: UInt32, chunk: FeatureChunk) {
      self.base = base
      self.chunk = chunk
      reader = chunk.reader
    }

    /// The chunk as this slot's own, for a change: a copy where a snapshot holds it too.
    mutating func owned() -> FeatureChunk {
      if !isKnownUniquelyReferenced(&chunk) {
        chunk = chunk.copy()
        reader = chunk.reader
      }
      return chunk
    }
  }

  /// The ids of one chunk where they ascend from chunk to chunk.
  struct OrderedIDs: Sendable {
    let base: UInt32
    let first: Int
    var last: Int
  }

  /// By ascending base; chunks of which every row was removed are not there.
  var slots: [Slot] = []
  var nextRow: UInt32 = 0
  var nextID = 0
  /// Features now.
  public internal(set) var count = 0
  public internal(set) var schema: FeatureSchema
  /// Rows by the boxes of their geometries.
  public internal(set) var index = SpatialIndex()
  var orderedIDs: [OrderedIDs] = []
  /// Where ids do not ascend with rows: one at a time.
  var otherIDs: TreeDictionary<Int, UInt32> = [:]
  /// Rows with a zIndex other than 0.
  var raised = 0

  /// A store without features. Fields given here come first and keep their type; others are added as they turn up.
  public init(fields: [Field] = []) { schema = FeatureSchema(fields: fields) }

  /// The id that the next feature without one gets.
  public var nextMintedID: Int { nextID }

  /// Whether there is nothing in it.
  public var isEmpty: Bool { count == 0 }

  /// The box around all geometries; nil without any. O(1).
  public var extent: Envelope? { index.bounds }

  /// The attributes there are or have been, in the order they turned up.
  public var fields: [Field] { schema.fields }

  // MARK: Finding

  /// The slot that has a row. O(1) while no chunk was dropped, else O(log n).
  @inline(__always)
  func slot(of row: UInt32) -> Int? {
    guard let first = slots.first?.base, row >= first else { return nil }
    let guess = Int(row &- first) / FeatureChunk.capacity
    if guess < slots.count, slots[guess].base == row & ~UInt32(FeatureChunk.capacity - 1) { return guess }
    var low = 0
    var high = slots.count
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].base <= row { low = middle + 1 } else { high = middle }
    }
    guard low > 0, Int(row - slots[low - 1].base) < slots[low - 1].chunk.count else { return nil }
    return low - 1
  }

  /// The row of a feature; nil when there is none with this id. O(log n).
  public func row(of id: Int) -> UInt32? {
    var low = 0
    var high = orderedIDs.count
    while low < high {
      let middle = (low + high) / 2
      if orderedIDs[middle].first <= id { low = middle + 1 } else { high = middle }
    }
    if low > 0, id <= orderedIDs[low - 1].last, let slot = slot(of: orderedIDs[low - 1].base) {
      let chunk = slots[slot].chunk
      if let row = chunk.ids.row(of: id), chunk.isLive(row) { return slots[slot].base + UInt32(row) }
    }
    return otherIDs.isEmpty ? nil : otherIDs[id]
  }

  public func contains(id: Int) -> Bool { row(of: id) != nil }
}

/// The names and types of a store's attributes; their places are the column numbers.
public struct FeatureSchema: Sendable {
  private(set) var names: [String] = []
  private var declared: [FieldType?] = []
  /// The types that came, a bit each.
  private(set) var seen: [UInt8] = []
  private var numbers: [Text: Int] = [:]

  init(fields: [Field]) {
    for field in fields where numbers[field.name] == nil {
      let number = add(field.name.string)
      declared[number] = field.type
    }
  }

  public var count: Int { names.count }
  public func name(of column: Int) -> String { names[column] }

  /// The type a column was declared with; nil when only its values tell.
  public func declaredType(of column: Int) -> FieldType? { declared[column] }

  /// The column of an attribute; nil when no feature has had it.
  public func column(named name: String) -> Int? { numbers[Text(name)] }

  mutating func add(_ name: String) -> Int {
    if let known = numbers[Text(name)] { return known }
    numbers[Text(name)] = names.count
    names.append(name)
    declared.append(nil)
    seen.append(0)
    return names.count - 1
  }

  mutating func note(_ tags: UInt8, in column: Int) {
    if seen[column] | tags != seen[column] { seen[column] |= tags }
  }

  /// Drops names from the end, or adds some there, until there are `count`; `types` are the types that came then.
  mutating func change(to count: Int, adding more: ArraySlice<String>, seen types: [UInt8]) {
    while names.count > count {
      numbers[Text(names.removeLast())] = nil
      declared.removeLast()
    }
    for name in more.prefix(count - names.count) { _ = add(name) }
    if types.count == names.count { seen = types }
  }

  /// Declared types, else those that the values had: doubles take integers in, any other mixture is text.
  public var fields: [Field] {
    names.indices.map { column in
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
