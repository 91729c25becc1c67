// Converts entity sources and observations between the wire and the model.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON

extension Wire {
  package static func entityStatus(_ status: EntityStatus) -> EntityProtocol.EntityStatus {
    switch status {
    case .disconnected: .disconnected
    case .connecting(let attempt, let error): .connecting(.init(attempt: attempt, error: error.map(failure)))
    case .connected: .connected
    case .failed(let error): .failed(failure(error))
    }
  }

  package static func entityCounts(_ counts: EntityCounts) -> EntityProtocol.EntityCounts {
    let rejected = counts.rejected
    return .init(
      received: counts.received, late: counts.late, purged: counts.purged,
      rejected: .init(
        track: rejected[.track] ?? 0, position: rejected[.position] ?? 0, time: rejected[.time] ?? 0),
      lostValues: counts.lostValues, badLines: counts.badLines > 0 ? counts.badLines : nil)
  }

  /// An observation of an entity.
  package static func observation(
    _ observation: Observation, _ row: FeatureRow, of entity: Int, _ track: TrackID, _ schema: FeatureSchema, _ columns: [Int]
  ) -> EntityProtocol.Observation {
    .init(
      observation: observation.id, entity: entity,
      track: .written { track.value.encode(to: &$0) },
      time: observation.time.text, received: observation.received.text, isLate: observation.isLate,
      geometry: .written { FeatureWriter.writeShape(row, to: &$0) },
      properties: .written { FeatureWriter.writeProperties(row, schema, columns, to: &$0) })
  }

  package static func track(_ opaque: JSONOpaque) throws -> TrackID? {
    guard let value = opaque.value else { return nil }
    switch value.kind {
    case .integer: return .integer(value.int64)
    case .string: return .text(Text(try value.string()))
    case .real, .bool, .null, .array, .object, .absent: throw value.typeError(expected: "a string or an integer")
    }
  }
}

extension EntitySource {
  /// An observation of a track, if it is still there.
  package func observation(
    _ observation: Observation, of entity: Int, _ track: EntityTrack
  ) -> EntityProtocol.Observation? {
    contents.observations.feature(id: observation.id).map { row in
      Wire.observation(
        observation, row, of: entity, track.id, contents.observations.schema, Array(schema.fields.indices))
    }
  }
}
