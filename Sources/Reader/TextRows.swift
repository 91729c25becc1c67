// Features of GeoJSON text as rows of a block.

import GeoJSON
import Geometry
import Reading

/// Fills blocks with the features of a layer.
struct TextRows {
  let layer: TextLayer
  private(set) var count = 0
  var block: FeatureBlockBuilder
  /// The id of the next feature that has none.
  private var nextID: Int64 = 0
  /// By column, the number of the last feature with a value.
  private var lastRow: [Int]
  private var scratch: [UInt8] = []

  init(_ layer: TextLayer) {
    self.layer = layer
    block = FeatureBlockBuilder(columns: layer.columns.map(\.form.kind))
    lastRow = Array(repeating: 0, count: layer.columns.count)
  }

  mutating func append(_ feature: borrowing FeatureText) {
    count += 1
    block.begin(id: id(of: feature))
    for token in feature.properties {
      let column = layer.columnOfField[token.field]
      lastRow[column] = count
      append(token, layer.columns[column].form, to: column)
    }
    if feature.properties.count < layer.columns.count { fillGaps(feature) }
    let geometry = feature.geometry
    switch geometry.kind {
    case nil: block.appendNoGeometry()
    case .point:
      let ordinates = geometry.ordinates
      block.appendPoint(x: ordinates[0], y: ordinates[1], z: geometry.hasZ ? ordinates[2] : nil)
    default: block.appendWKB { geometry.appendWKB(to: &$0) }
    }
  }

  private mutating func id(of feature: borrowing FeatureText) -> Int64 {
    var id: Int64 = -1
    switch layer.ids {
    case .order, .attribute: break
    case .member: if case .integer(let number) = feature.id { id = number }
    case .property(let column):
      for token in feature.properties where layer.columnOfField[token.field] == column && token.kind == .integer {
        id = token.integer
      }
    }
    guard id == -1 else { return id }
    defer { nextID += 1 }
    return nextID
  }

  private mutating func fillGaps(_ feature: borrowing FeatureText) {
    let idColumn: Int? =
      switch layer.ids {
      case .order, .member: nil
      case .property(let column), .attribute(let column): column
      }
    for column in lastRow.indices where lastRow[column] != count {
      switch feature.id {
      case .integer(let id) where column == idColumn:
        if layer.columns[column].form == .integers {
          block.columns[column].append(id)
        } else {
          block.columns[column].append(String(id))
        }
      case .string(let id) where column == idColumn: append(id.bytes, hasEscapes: id.hasEscapes, to: column)
      default: block.columns[column].appendNull()
      }
    }
  }

  // MARK: Values

  @inline(__always)
  private mutating func append(_ token: PropertyToken, _ form: ColumnForm, to column: Int) {
    switch (form, token.kind) {
    case (.texts, .string), (.json, .string): append(token.text, hasEscapes: token.hasEscapes, to: column)
    case (.integers, .integer): block.columns[column].append(token.integer)
    case (.doubles, .double), (.doubles, .integer): block.columns[column].append(token.double)
    default: appendOther(token, form, to: column)
    }
  }

  @inline(never)
  private mutating func appendOther(_ token: PropertyToken, _ form: ColumnForm, to column: Int) {
    switch (form, token.kind) {
    case (_, .null): block.columns[column].appendNull()
    case (.bools, .yes), (.bools, .no): block.columns[column].append(token.kind == .yes)
    case (.integers, .yes), (.integers, .no): block.columns[column].append(Int64(token.kind == .yes ? 1 : 0))
    case (.doubles, .yes), (.doubles, .no): block.columns[column].append(token.kind == .yes ? 1.0 : 0.0)
    case (.texts, .yes), (.texts, .no), (.json, .yes), (.json, .no):
      block.columns[column].append(token.kind == .yes ? "true" : "false")
    case (.texts, .integer), (.json, .integer): block.columns[column].append(String(token.integer))
    case (.json, .double): block.columns[column].append(String(token.double))
    case (.json, .array), (.json, .object): block.columns[column].append(valid: token.text)
    case (.numbers, .array): block.columns[column].append(token.numbersText)
    case (.date, .string), (.time, .string), (.dateTime, .string):
      if let text = token.momentText(form) {
        block.columns[column].append(text)
      } else {
        block.columns[column].appendNull()
      }
    // A value that the scan has not seen.
    default: block.columns[column].appendNull()
    }
  }

  @inline(__always)
  private mutating func append(_ text: UnsafeRawBufferPointer, hasEscapes: Bool, to column: Int) {
    guard hasEscapes else { return block.columns[column].append(valid: text) }
    scratch.removeAll(keepingCapacity: true)
    appendDecoded(text, to: &scratch)
    scratch.withUnsafeBytes { block.columns[column].append(valid: $0) }
  }
}

extension ColumnForm {
  fileprivate var kind: BlockColumnBuilder.Kind {
    switch self {
    case .bools: .bools
    case .integers: .integers
    case .doubles: .doubles
    case .texts, .date, .time, .dateTime: .texts
    case .json, .numbers: .json
    }
  }
}
