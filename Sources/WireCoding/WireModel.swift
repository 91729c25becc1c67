// Converts between model values and wire types: one function per type and direction, without decisions.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

package enum Wire {
  /// A box as the geometry `Envelope`.
  package static func opaque(_ box: Envelope) -> JSONOpaque { .written { GeometryWriter.write(box, to: &$0) } }

  package static func opaque(_ geometry: Geometry) -> JSONOpaque {
    .written { GeometryWriter.write(geometry, to: &$0) }
  }

  package static func envelope(_ envelope: Envelope) -> SessionProtocol.Envelope {
    .init(xMin: envelope.xMin, yMin: envelope.yMin, xMax: envelope.xMax, yMax: envelope.yMax)
  }

  package static func envelope(_ envelope: SessionProtocol.Envelope) -> Envelope {
    Envelope(xMin: envelope.xMin, yMin: envelope.yMin, xMax: envelope.xMax, yMax: envelope.yMax)
  }

  package static func failure(_ failure: Failure) -> SessionProtocol.Failure {
    .init(
      kind: failure.kind.string, message: failure.message.string, path: failure.path?.string,
      expected: failure.expected?.string)
  }

  package static func origin(_ origin: Origin) -> SessionProtocol.Origin {
    switch origin {
    case .client(let name, let client): .client(.init(name: name?.string, id: client?.id.rawValue))
    case .animation: .animation
    case .location: .location
    case .task: .task
    case .undo: .undo
    case .binding: .binding
    }
  }

  package static func field(_ field: Field) -> SourceProtocol.Field {
    .init(name: field.name.string, type: field.type.wire)
  }

  package static func field(_ field: SourceProtocol.Field) -> Field {
    Field(name: field.name, type: .init(field.type))
  }

  static func sourceStatus(_ status: SourceStatus) -> SourceProtocol.SourceStatus {
    switch status {
    case .open: .open
    case .failed(let error): .failed(failure(error))
    }
  }

  /// A schema in its saved form.
  package static func sourceLayer(_ layer: SourceProtocol.SourceLayer) -> SourceLayer {
    SourceLayer(
      name: layer.name, geometryType: layer.geometryType, featureCount: layer.featureCount,
      extent: layer.extent.map(envelope), reference: layer.spatialReference.map { SpatialReference($0) },
      fields: layer.fields.map(field), geometryName: layer.geometryName)
  }

  package static func sourceLayer(_ layer: SourceLayer) -> SourceProtocol.SourceLayer {
    .init(
      name: layer.name.string, geometryType: layer.geometryType, geometryName: layer.geometryName?.string,
      featureCount: layer.featureCount,
      extent: layer.extent.map(envelope), spatialReference: layer.reference?.definition, fields: layer.fields.map(field)
    )
  }

  package static func loadStatus(_ status: LoadStatus) -> LayerProtocol.LoadStatus {
    switch status {
    case .notLoaded: .notLoaded
    case .loading: .loading
    case .loaded: .loaded
    case .failed(let error): .failed(failure(error))
    }
  }

  package static func elevation(_ elevation: Elevation) -> SceneProtocol.ElevationSample {
    switch elevation {
    case .value(let height, let source, let resolution):
      .value(.init(elevation: height, source: source, resolution: resolution))
    case .noData: .noData
    case .outside: .outside
    case .notLoaded(let source, let failure): .notLoaded(.init(source: source, error: self.failure(failure)))
    }
  }

  // MARK: Jobs

  package static func jobStatus(_ status: JobStatus) -> JobProtocol.JobStatus {
    switch status {
    case .notStarted: .notStarted
    case .started: .started
    case .paused: .paused
    case .canceling: .canceling
    case .succeeded(let result): .succeeded(opaque(result))
    case .failed(let error): .failed(failure(error))
    }
  }

  package static func jobStatus(_ status: JobProtocol.JobStatus) throws -> JobStatus {
    switch status {
    case .notStarted: .notStarted
    case .started: .started
    case .paused: .paused
    case .canceling: .canceling
    case .succeeded(let result): .succeeded(try value(result))
    case .failed(let error):
      .failed(Failure(kind: error.kind, message: error.message, path: error.path, expected: error.expected))
    }
  }

  // MARK: Locations

  package static func locationStatus(_ status: LocationStatus) -> LocationProtocol.LocationStatus {
    switch status {
    case .stopped: .stopped
    case .starting: .starting
    case .started: .started
    case .stopping: .stopping
    case .failedToStart(let error): .failedToStart(failure(error))
    }
  }

  package static func location(_ location: Location) -> LocationProtocol.Location {
    .init(
      timestamp: location.timestamp?.text, position: location.position.map { opaque(.point($0)) },
      horizontalAccuracy: location.horizontalAccuracy, verticalAccuracy: location.verticalAccuracy,
      speed: location.speed, course: location.course, isLastKnown: location.isLastKnown,
      receivedAt: location.receivedAt?.text)
  }

  /// - Parameter path: the JSON Pointer of the location, for errors.
  package static func location(_ new: LocationProtocol.NewLocation, at path: String) throws -> Location {
    Location(
      timestamp: try new.timestamp.map { try instant($0, path + "/timestamp") }, position: try point(new.position),
      horizontalAccuracy: new.horizontalAccuracy, verticalAccuracy: new.verticalAccuracy, speed: new.speed,
      course: new.course)
  }

  // MARK: Geotriggers

  package static func geotriggerEvent(_ event: GeoModel.GeotriggerEvent) -> GeotriggerProtocol.GeotriggerEvent {
    .init(
      number: event.number, type: event.kind.wire, cause: event.cause.wire, object: event.object.string, fence: event.fence,
      fences: event.fences.string, rule: event.rule.wire, time: event.time.text, position: opaque(.point(event.position)),
      previousPosition: event.previousPosition.map { opaque(.point($0)) }, expectedTime: event.expectedTime?.text,
      message: event.message == .null ? nil : opaque(event.message), actions: event.actions.map(\.string))
  }

  /// - Parameter path: the JSON Pointer of the extent, for errors.
  package static func timeExtent(_ extent: LayerProtocol.TimeExtent, at path: String) throws -> TimeExtent {
    let start = try extent.startTime.map { try instant($0, "\(path)/startTime") }
    let end = try extent.endTime.map { try instant($0, "\(path)/endTime") }
    if let start, let end, end < start {
      throw RPCError(
        .invalidTime, "The extent ends before it begins.", path: "\(path)/endTime",
        expected: "a time not before startTime")
    }
    return TimeExtent(start: start, end: end)
  }
}
