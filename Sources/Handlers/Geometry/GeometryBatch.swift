// The geometries of a request of `geometry/*`, and the results of an operation with each of them.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import SpatialRelations
import Synchronization
import WireCoding

/// The geometries of a request, in the form in which results are answered.
struct GeometryBatch: Sendable {
  private enum Form { case one, list, columns }
  typealias Item = Result<Geometry?, RPCError>

  private let form: Form
  private(set) var items: [Item]

  var count: Int { items.count }
  /// Those that could be read, in order.
  var geometries: [Geometry] { items.compactMap { try? $0.get() } }

  /// Reads the geometries. Of a list those that are malformed are failures.
  init(_ params: some GeometryProtocol.GeometryOperands) throws {
    let given = [params.geometry != nil, params.geometries != nil, params.columns != nil]
    guard given.count(where: { $0 }) == 1 else { throw ModelError.oneOf(["geometry", "geometries", "columns"]) }
    if let geometry = params.geometry {
      form = .one
      items = [.success(try Self.checked(geometry))]
    } else if let geometries = params.geometries {
      form = .list
      items = Self.read(geometries, at: "/params/geometries")
    } else {
      form = .columns
      let columns = params.columns ?? .init()
      var refused: [ItemError] = []
      let read = try ColumnReader.geometry(
        .init(x: columns.x, y: columns.y, z: columns.z, geometry: columns.geometry), at: "/columns", .each { refused += $0 })
      var items: [Item]
      switch read {
      case .points(let x, let y, let z): items = x.indices.map { .success(.point(Point(x: x[$0], y: y[$0], z: z?[$0]))) }
      case .any(let geometries): items = geometries.map { .success($0) }
      case nil: throw RPCError(.invalidParams, "There are no columns.", path: "/params/columns", expected: "`x` and `y`, or `geometry`")
      }
      for row in refused {
        let expected = row.failure.expected.map { " Expected \($0.string)." } ?? ""
        items[row.index] = .failure(RPCError(.invalidGeometry, row.failure.message.string + expected))
      }
      self.items = items
    }
  }

  /// The geometries of a list, or what is wrong with each.
  static func read(_ geometries: [JSONOpaque], at path: String) -> [Item] {
    geometries.enumerated().map { index, geometry in
      do { return .success(try checked(geometry)) } catch {
        return .failure(failure(error, in: geometry.value, at: "\(path)/\(index)"))
      }
    }
  }

  /// The batch for an operation with all geometries together: those that are nowhere fail alone.
  func placed(for operation: GeometryOperation) throws -> GeometryBatch {
    var batch = self
    for (index, item) in items.enumerated() {
      guard case .success(let geometry?) = item, geometry.isBeyondPlaces else { continue }
      let error = Self.failure(EngineError.beyondPlaces(operation.kind))
      guard form != .one else { throw error }
      batch.items[index] = .failure(error)
    }
    return batch
  }

  /// A geometry beside those of the batch.
  static func checked(_ geometry: JSONOpaque) throws(WireFault) -> Geometry { try Wire.geometry(geometry) }

  /// An error as the client is told of it.
  ///
  /// - Parameters:
  ///   - root: the value that the error is about, if it is in the request.
  ///   - path: its JSON Pointer.
  static func failure(_ error: any Error, in root: JSONValue? = nil, at path: String = "/params") -> RPCError {
    if let error = error as? EngineError {
      switch error {
      case .failed(let operation, let reason): return RPCError(.invalidGeometry, "\(operation): \(reason)")
      case .invalid(_, _, let operand): return RPCError(SpatialError(error), at: operand == 0 ? "/params/geometry" : "/params/other")
      case .unavailable, .interrupted, .tooExpensive, .tooManyPositions, .engineFailed: return RPCError(SpatialError(error), at: path)
      }
    }
    if let error = error as? JSONSyntaxError { return RPCError(.invalidGeometry, "The geometry is no JSON: \(error.reason).", expected: "a GeoJSON geometry") }
    return RPCError(error, in: root, at: path, searches: false) ?? .internalError("\(error)")
  }

  /// Why one geometry fails; throws what concerns all of them.
  static func failure(ofOne error: EngineError) throws(EngineError) -> RPCError {
    switch error {
    case .unavailable, .interrupted: throw error
    case .failed, .tooExpensive, .tooManyPositions, .engineFailed, .invalid: return failure(error)
    }
  }

  /// The distance of each geometry: one for all, or one each.
  func distances(_ one: Double?, _ each: [Double]?) throws -> [Double] {
    guard let each else { return Array(repeating: one ?? 0, count: count) }
    guard each.count == count else {
      throw RPCError(.invalidParams, "There is not one for each geometry.", path: "/params/distances", expected: "\(count) numbers")
    }
    return each
  }

  // MARK: Results

  /// The result of `body` for each geometry, computed by several threads: nil where there is no geometry.
  ///
  /// - Parameter size: the bytes that a result takes, of which there are not too many.
  /// - Throws: the failure of the only geometry of a request; what fails all, such as a missing library.
  func results<R: Sendable>(
    _ worker: Worker, size: @Sendable (R) -> Int = { _ in 32 },
    _ body: @Sendable (_ index: Int, _ geometry: Geometry, borrowing GeometryCalculator) throws -> R
  ) throws -> [Result<R, RPCError>?] {
    let share = WorkShare(worker.work)
    let chunk = 256
    let bytes = Atomic(0)
    let parts = try share.concurrently((count + chunk - 1) / chunk) { part in
      let calculator = try GeometryCalculator()
      return try (part * chunk..<min((part + 1) * chunk, count)).map { index -> Result<R, RPCError>? in
        try worker.checkCancelled()
        do {
          guard let geometry = try items[index].get() else { return nil }
          let result = try body(index, geometry, calculator)
          try share.checkSize(bytes.wrappingAdd(size(result), ordering: .relaxed).newValue)
          return .success(result)
        } catch let error as EngineError {
          do throws(EngineError) { return .failure(try Self.failure(ofOne: error)) } catch { throw SpatialError(error) }
        } catch let error as QueryError { throw error } catch is CancellationError { throw CancellationError() } catch {
          return .failure(Self.failure(error))
        }
      }
    }
    let results = parts.flatMap { $0 }
    if form == .one, case .failure(let error) = results.first ?? nil { throw error }
    return results
  }

  /// What failed of a list, by index; nil if nothing did.
  static func failures<R>(_ results: [Result<R, RPCError>?]) -> [GeometryProtocol.GeometryFailure]? {
    let failures = results.indices.compactMap { index -> GeometryProtocol.GeometryFailure? in
      guard case .failure(let error) = results[index] else { return nil }
      func detail(_ name: String) -> String? { error.details.first { $0.name == name }?.json }
      let place = detail("at")?.dropFirst().dropLast().split(separator: ",").compactMap { Double($0) }
      return .init(index: index, kind: error.kind, message: error.message, offset: detail("offset").flatMap { Int($0) }, at: place)
    }
    return failures.isEmpty ? nil : failures
  }

  /// Geometries made of each.
  func made(
    _ worker: Worker, _ body: @Sendable (_ index: Int, _ geometry: Geometry, borrowing GeometryCalculator) throws -> Geometry
  ) throws -> GeometryProtocol.GeometryResult {
    try answer(results(worker, size: { $0.byteCount }, body))
  }

  func answer(_ results: [Result<Geometry, RPCError>?]) throws -> GeometryProtocol.GeometryResult {
    if form == .one, case .failure(let error) = results.first ?? nil { throw error }
    let made = results.map { try? $0?.get() }
    switch form {
    case .one: return .init(geometry: made.first?.map(Wire.opaque))
    case .list: return .init(geometries: Self.list(made), failures: Self.failures(results))
    case .columns: return .init(columns: Self.columns(made), failures: Self.failures(results))
    }
  }

  /// One geometry made of all.
  func answer(together geometry: Geometry) -> GeometryProtocol.GeometryResult {
    switch form {
    case .one, .list: .init(geometry: Wire.opaque(geometry))
    case .columns: .init(columns: Self.columns([geometry]))
    }
  }

  /// The failure of a geometry of which a distance is infinite.
  static var beyondNumbers: RPCError { RPCError(.invalidGeometry, "Its positions are too far apart to be measured.") }

  /// A number of each.
  func measured(
    _ worker: Worker, _ body: @Sendable (_ index: Int, _ geometry: Geometry, borrowing GeometryCalculator) throws -> Double?
  ) throws -> GeometryProtocol.GeometryNumbers {
    let results = try results(worker) { index, geometry, calculator in
      let value = try body(index, geometry, calculator)
      guard value?.isFinite ?? true else { throw Self.beyondNumbers }
      return value
    }
    let values = results.map { (try? $0?.get()) ?? nil }
    return .init(
      values: Self.list(values), failures: Self.failures(results))
  }

  static func list(_ numbers: [Double?]) -> JSONOpaque {
    .written { writer in
      writer.beginArray()
      for number in numbers { if let number { writer.value(number) } else { writer.null() } }
      writer.endArray()
    }
  }

  /// Points in columns, moved to another reference without a geometry of each; nil for others, and where a point has no coordinates there.
  static func projected(
    _ params: some GeometryProtocol.GeometryOperands, _ worker: Worker, _ transformer: any CoordinateTransformer,
    from source: SpatialReference, to target: SpatialReference
  ) throws -> GeometryProtocol.GeometryResult? {
    guard params.geometry == nil, params.geometries == nil, let columns = params.columns, columns.geometry == nil else { return nil }
    let given = try [columns.x, columns.y, columns.z].compactMap { try $0.map(CoordinateColumn.init) }
    guard columns.x != nil, columns.y != nil, let count = given.first?.count, given.allSatisfy({ $0.count == count }) else { return nil }
    // Such parts can be decoded alone.
    let chunk = CoordinateColumn.step << 12
    do {
      let parts = try WorkShare(worker.work).concurrently((count + chunk - 1) / chunk) { part -> [[Double]]? in
        try worker.checkCancelled()
        let range = part * chunk..<min((part + 1) * chunk, count)
        let read = given.compactMap { $0[range] }
        guard read.count == given.count else { return nil }
        var (x, y, z) = (read[0], read[1], read.count > 2 ? read[2] : [])
        try transformer.transform(x: &x, y: &y, z: &z, from: source, to: target)
        return [x, y, z]
      }
      let known = parts.compactMap { $0 }
      guard known.count == parts.count else { return nil }
      func column(_ ordinate: Int) -> JSONOpaque { PackedColumn.doubles(parts: known.map { $0[ordinate] }) }
      return .init(columns: .init(x: column(0), y: column(1), z: columns.z == nil ? nil : column(2)))
    } catch is TransformError { return nil }
  }

  static func list(_ geometries: [Geometry?]) -> JSONOpaque {
    .written { writer in
      writer.beginArray()
      for geometry in geometries {
        if let geometry { GeometryWriter.write(geometry, to: &writer) } else { writer.null() }
      }
      writer.endArray()
    }
  }

  private static func columns(_ geometries: [Geometry?]) -> GeometryProtocol.PointColumns {
    let points = geometries.lazy.compactMap { geometry -> Point? in
      guard case .point(let point?) = geometry, point.m == nil else { return nil }
      return point
    }
    if let first = points.first, points.count == geometries.count, points.allSatisfy({ ($0.z == nil) == (first.z == nil) }) {
      return .init(
        x: PackedColumn.doubles(points.map(\.x)), y: PackedColumn.doubles(points.map(\.y)),
        z: first.z == nil ? nil : PackedColumn.doubles(points.map { $0.z ?? .nan }))
    }
    return .init(geometry: PackedColumn.geometries(geometries))
  }
}

extension Geometry {
  /// About the bytes that it takes.
  var byteCount: Int {
    var count = 64
    forEachPositions { count += $0.values.count * 8 + 32 }
    return count
  }
}
