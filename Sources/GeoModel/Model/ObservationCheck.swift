// Which observations of a feed are kept: those with a track, a position on the earth and a time.

import FeatureStore
import Geometry

/// Positions of a source on the ellipsoid.
struct Ground {
  private let reference: SpatialReference
  private let isWGS84: Bool
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy

  init(_ reference: SpatialReference, _ transformer: any CoordinateTransformer, _ geodesy: any Geodesy) {
    (self.reference, self.transformer, self.geodesy) = (reference, transformer, geodesy)
    isWGS84 = reference == .wgs84
  }

  /// Longitude and latitude; nil for a place that is not on the earth.
  func wgs84(_ point: Point) -> Point? {
    var place = point
    if !isWGS84 {
      var values = [point.x, point.y]
      let isDone: Void? = try? values.withUnsafeMutableBufferPointer { (buffer) throws(TransformError) in
        try transformer.transform(buffer, stride: 2, hasZ: false, from: reference, to: .wgs84)
      }
      guard isDone != nil else { return nil }
      place = Point(x: values[0], y: values[1])
    }
    // A transformation may put a pole slightly beyond 90 degrees by rounding.
    return abs(place.y) <= 90 + 1e-9 && abs(place.x) <= 360 ? place : nil
  }

  /// Metres along the geodesic, and its direction at its end: that of the travel on arrival.
  func motion(from start: Point, to end: Point) -> (distance: Double, course: Double)? {
    guard let start = wgs84(start), let end = wgs84(end), let line = try? geodesy.inverse(from: start, to: end) else { return nil }
    return (line.distance, line.endAzimuth)
  }
}

/// The observations of a batch that are kept, row by row.
struct Accepted {
  private(set) var tracks: [TrackID] = []
  private(set) var times: [Instant] = []
  private(set) var points: [Point] = []

  /// Removes the others from the batch, and gives observations without a time that of their receipt.
  init(
    _ batch: inout FeatureBatch, _ schema: EntitySchema, at now: Instant, _ ground: Ground, _ receipt: inout EntityReceipt
  ) {
    var rows: [Int] = []
    rows.reserveCapacity(batch.count)
    tracks.reserveCapacity(batch.count)
    times.reserveCapacity(batch.count)
    points.reserveCapacity(batch.count)
    for row in 0..<batch.count {
      var fault = ObservationFault.track
      if let track = TrackID(batch.value(schema.track, row: row)) {
        fault = .position
        if let point = batch.position(row), ground.wgs84(point) != nil {
          fault = .time
          if let time = Self.time(batch, row, schema, now) {
            tracks.append(track)
            times.append(time)
            points.append(point)
            rows.append(row)
            continue
          }
        }
      }
      receipt.rejected[fault, default: 0] += 1
      if receipt.faults.count < 100 { receipt.faults.append((row, fault)) }
    }
    if rows.count < batch.count { batch = batch.selecting(rows) }
    guard let field = schema.time else { return }
    let value: AttributeValue =
      schema.fields[field].type == .integer ? .integer(now.nanoseconds.flooredQuotient(1_000_000)) : .string(now.text)
    for row in 0..<batch.count where batch.isNull(field, row: row) { batch.set(column: field, row: row, value) }
  }

  /// Nil for a malformed time.
  private static func time(_ batch: FeatureBatch, _ row: Int, _ schema: EntitySchema, _ now: Instant) -> Instant? {
    guard let field = schema.time, !batch.isNull(field, row: row) else { return now }
    return Instant(observation: batch.value(field, row: row))
  }
}

extension Instant {
  /// The time of an observation: a text as of features, or milliseconds since 1970.
  init?(observation value: AttributeValue) {
    switch value {
    case .string: self.init(time: value)
    case .integer(let milliseconds):
      let (nanoseconds, isBeyond) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
      guard !isBeyond else { return nil }
      self.init(nanoseconds: nanoseconds)
    case .null, .bool, .double, .json: return nil
    }
  }
}
