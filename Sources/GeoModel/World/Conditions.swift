// Conditions: expressions that are true or false for a feature, as in filters and definition expressions.

import Expressions
import FeatureStore
import Filtering
import Geometry
import Proximity

extension Expression {
  /// Parses a condition without a schema.
  ///
  /// - Parameter path: JSON Pointer of the text from the params, for errors.
  static func condition(_ text: String, at path: String) throws(ModelError) -> Expression {
    do throws(ExpressionError) { return try Expression(text).checkedCondition() } catch {
      throw .expression(error, path: path)
    }
  }

  /// Parses a condition over values with the names of these fields.
  ///
  /// - Parameter path: JSON Pointer of the expression from the params, for errors.
  public func condition(
    over fields: [(name: String, type: FieldType?)], at path: String
  ) throws(ModelError) -> Expression {
    do throws(ExpressionError) {
      try check(fields: fields, for: .condition)
      return self
    } catch { throw .expression(error, path: path) }
  }

  /// The expression, if its value can be a truth value; throws otherwise.
  func checkedCondition() throws(ExpressionError) -> Expression {
    try check(for: .condition)
    return self
  }
}

extension World {
  /// Compiles an expression over features.
  ///
  /// - Parameters:
  ///   - reference: the reference of the features.
  ///   - given: the reference of the geometries in the condition; that of the features if nil.
  ///   - extent: the extent of the features.
  ///   - path: JSON Pointer of the expression from the params, for errors.
  public func condition(
    _ expression: Expression, as use: Expression.Use = .condition, over schema: FeatureSchema,
    in reference: SpatialReference, given: SpatialReference? = nil, extent: Envelope? = nil, at path: String
  ) throws(ModelError) -> CompiledExpression {
    do throws(ExpressionError) {
      let placed = try placed(expression, in: reference, given: given ?? reference, extent, postpones: true)
      return try placed.compiled(for: schema, as: use)
    } catch { throw .expression(error, path: path) }
  }

  /// An expression with its geometries transformed to the reference of features.
  ///
  /// - Parameters:
  ///   - extent: the extent of the features; nil if they may be anywhere.
  ///   - postpones: whether it is for one question, which a task may answer.
  public func placed(
    _ expression: Expression, in reference: SpatialReference, given: SpatialReference? = nil, _ extent: Envelope?, postpones: Bool = false
  ) throws(ExpressionError) -> Expression {
    guard expression.hasGeometries else { return expression }
    let given = given ?? reference
    // A reference without a description has no known limits.
    let info = try? transformer.describe(given)
    let wrap = info.flatMap { WorldWrap($0, transformer) }
    let target = given == reference ? info : try? transformer.describe(reference)
    let own = given == reference ? wrap : target.flatMap { WorldWrap($0, transformer) }
    var turns: GeometryPlacement.Turns?
    if let own { turns = { own.shifts(of: $0, near: $1) } }
    return try expression.placed(
      GeometryPlacement(
        yRange: info?.kind == .geographic ? -90...90 : nil, worldWidth: wrap?.width,
        meter: target.flatMap { meter($0, own) }, maker: maker(target, own), postpones: postpones,
        transformed: { try? transformer.transform($0, from: given, to: reference) },
        shifts: { own?.shifts(of: $0, over: extent) ?? [0] },
        turns: turns, seam: own?.seam))
  }

  /// Measures geometries in a reference: in a plane that goes around the world, distances by the shorter way.
  private func meter(_ info: SpatialReferenceInfo, _ wrap: WorldWrap?) -> GeometryPlacement.Meter? {
    guard let meter = GeometryMeter(info, transformer, geodesy) else { return nil }
    guard info.kind == .projected, let width = wrap?.width, let metres = info.metersPerUnit else { return meter.measure }
    return { measure, first, second in
      let own = meter.measure(measure, first, second)
      guard measure == .distance, let own, let second, let a = first.envelope, let b = second.envelope else { return own }
      return [-width, width].reduce(own) { nearest, turn in
        guard max(0, b.xMin + turn - a.xMax, a.xMin - b.xMax - turn) * metres < nearest else { return nearest }
        return meter.measure(.distance, first, second.mapX { $0 + turn }).map { min($0, nearest) } ?? nearest
      }
    }
  }

  /// Makes geometries in a reference; without one only centroids.
  private func maker(_ info: SpatialReferenceInfo?, _ wrap: WorldWrap?) -> GeometryPlacement.Maker {
    let meter = info.flatMap { GeometryMeter($0, transformer, geodesy) }
    return { making, geometry, distance in
      switch making {
      case .buffer: meter?.buffer(geometry, distance)
      case .centroid: WorldWrap.whole(geometry, wrap, GeometryMeter.centroid)
      }
    }
  }
}

extension WorldWrap {
  /// The whole turns by which copies of a geometry with this extent meet a box; none if no copy does.
  fileprivate func shifts(of extent: Envelope, near box: Envelope) -> [Double] {
    let meeting = shifts(of: extent, over: box).filter { extent.moved(byX: $0).intersects(box) }
    return meeting.isEmpty ? [0] : meeting
  }
}
