// Converts members of objects between the wire and the model: one case per type of value, whatever the member.

import Expressions
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON

extension Wire {
  /// An object in the form of results: its id, its revision and its members that are not null.
  ///
  /// Encoded immediately, so that nothing of the world is retained.
  package static func object<Object: Entity>(_ object: Object, _ world: World) -> JSONOpaque {
    .made { writer in
      begin(object, &writer)
      writer.member("revision", object.revision)
      for member in Object.members where member.traits.contains(.returned) {
        guard let value = member.value(of: object, in: world), !value.isNull else { continue }
        writer.key(member.name)
        value.encode(to: &writer)
      }
      writer.endObject()
    }
  }

  /// The object with an id, in the form of results.
  package static func object<Object: Entity>(_ id: ID<Object>, in world: World) throws(ModelError) -> JSONOpaque {
    guard let found = Object.current(id, in: world) else { throw .unknownID(Object.collection, id.rawValue) }
    return object(found, world)
  }

  private static func begin<Object: Entity>(_ object: Object, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key(Object.collection.noun)
    writer.value(object.id.rawValue)
  }

  /// An object in the form of documents, without the objects in it.
  ///
  /// - Parameter more: values that documents have in addition to the members.
  package static func saved<Object: Entity>(
    _ object: Object, _ world: World, and more: [(name: String, value: JSONOpaque)] = []
  ) -> JSONOpaque {
    .made { writer in
      begin(object, &writer)
      for member in Object.members {
        guard let value = member.savedValue(of: object, in: world) else { continue }
        writer.key(member.name)
        value.encodeSaved(to: &writer)
      }
      for (name, value) in more {
        writer.key(name)
        value.encode(to: &writer)
      }
      writer.endObject()
    }
  }

  /// Converts the members that a command sets to the model's form.
  package static func changes(_ members: [(name: String, value: MemberPayload?)]) throws -> [MemberChange] {
    try members.map { name, payload in
      do { return MemberChange(name, try payload.map { try value($0, at: name) }) } catch let error as SymbologyError {
        throw error.under([name])
      }
    }
  }

  /// - Parameter name: the name of the member, for errors.
  private static func value(_ payload: MemberPayload, at name: String) throws -> MemberValue {
    switch payload {
    case .boolean(let flag): .flag(flag)
    case .number(let number): .number(number)
    case .integer(let number): .integer(number)
    case .numbers(let numbers): .numbers(numbers)
    case .envelope(let box): .envelope(envelope(box))
    case .string(let text): .text(text)
    case .strings(let texts): .ids(TextList(texts.map { Text($0) }))
    case .expression(let given): .expression(try expression(given, at: nil))
    case .labelDefinitions(let labels): .labels(try self.labels(labels))
    case .popupDefinition(let popup): .popup(try self.popup(popup))
    case .featureReduction(let reduction): .featureReduction(try featureReduction(reduction))
    case .fenceSequence(let given):
      .fenceSequence(
        FenceSequence(
          steps: try given.steps.enumerated().map { index, step in
            do throws(ExpressionError) {
              let expression = try expression(step)
              try expression.check(for: .condition)
              return expression
            } catch { throw ModelError.expression(error, path: "/\(name)/steps/\(index)") }
          }, within: given.within))
    case .rasterRenderer(let renderer): .rasterRenderer(try rasterRenderer(renderer))
    case .renderer(let renderer): .renderer(try self.renderer(renderer))
    case .layerTime(let time):
      .time(
        LayerTime(
          startField: time.startField, endField: time.endField,
          extent: try time.extent.map { try timeExtent($0, at: "/params/\(name)/extent") }))
    case .trackDisplay(let display): .trackDisplay(try trackDisplay(display))
    case .basemapUpdate(let update): .basemapName(Text(update.name))
    case .newBookmarks(let bookmarks): .newBookmarks(try bookmarks.map(bookmark))
    case .viewpoint(let viewpoint): .viewpointTarget(try target(viewpoint))
    case .baseSurfaceUpdate(let update):
      .surfaceUpdate(
        BaseSurfaceUpdate(
          elevationExaggeration: update.elevationExaggeration, isEnabled: update.isEnabled, opacity: update.opacity))
    }
  }
}

extension MemberValue: JSONEncodable {
  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .flag(let flag): writer.value(flag)
    case .integer(let number): writer.value(number)
    case .number(let number): writer.value(number)
    case .text(let text): writer.value(text)
    case .ids(let ids): Self.write(ids, to: &writer)
    case .value(let value): value.encode(to: &writer)
    case .values(let values): writer.map(values) { $0.encode(to: &$1) }
    case .objects(let objects): writer.map(objects) { $1.value($0.rawValue) }
    case .basemap(let basemap): Wire.basemap(basemap).encode(to: &writer)
    case .bookmarks(let bookmarks): writer.array(bookmarks) { Wire.bookmark($0).encode(to: &$1) }
    case .expression(let expression): writer.value(expression.text)
    case .cameraController(let controller): Wire.cameraController(controller).encode(to: &writer)
    case .entityCounts(let counts): Wire.entityCounts(counts).encode(to: &writer)
    case .entityStatus(let status): Wire.entityStatus(status).encode(to: &writer)
    case .envelope(let envelope): Wire.envelope(envelope).encode(to: &writer)
    case .featureReduction(let reduction): Wire.featureReduction(reduction).encode(to: &writer)
    case .fenceSequence(let sequence):
      GeotriggerProtocol.FenceSequence(steps: sequence.steps.map(Wire.opaque), within: sequence.within).encode(to: &writer)
    case .fields(let fields): writer.array(fields) { Wire.field($0).encode(to: &$1) }
    case .geometry(let geometry): Wire.opaque(geometry).encode(to: &writer)
    case .graphics(let store): FeatureWriter.writeGraphics(store, 0..<store.count, to: &writer)
    case .jobStatus(let status): Wire.jobStatus(status).encode(to: &writer)
    case .labels(let labels): writer.array(labels) { Wire.label($0).encode(to: &$1) }
    case .layerViewStates(let states): Self.write(states, to: &writer)
    case .loadStatus(let status): Wire.loadStatus(status).encode(to: &writer)
    case .location(let location): Wire.location(location).encode(to: &writer)
    case .locationDisplay(let display): Wire.locationDisplay(display).encode(to: &writer)
    case .maxExtent(let extent): Wire.envelope(extent.box).encode(to: &writer)
    case .numbers(let numbers): writer.array(numbers) { $1.value($0) }
    case .locationStatus(let status): Wire.locationStatus(status).encode(to: &writer)
    case .point(let point): Wire.opaque(.point(point)).encode(to: &writer)
    case .popup(let popup): Wire.popup(popup).encode(to: &writer)
    case .properties(let properties): writer.array(properties) { Wire.property($0).encode(to: &$1) }
    case .rasterInfo(let info): Wire.rasterInfo(info).encode(to: &writer)
    case .rasterRenderer(let renderer): Wire.rasterRenderer(renderer).encode(to: &writer)
    case .renderer(let renderer): Wire.renderer(renderer).encode(to: &writer)
    case .sourceLayers(let layers): writer.array(layers) { Wire.sourceLayer($0).encode(to: &$1) }
    case .sourceStatus(let status): Wire.sourceStatus(status).encode(to: &writer)
    case .surface(let surface): Wire.surface(surface).encode(to: &writer)
    case .time(let time): Wire.time(time).encode(to: &writer)
    case .trackDisplay(let display): Wire.trackDisplay(display).encode(to: &writer)
    case .viewpoint(let viewpoint): Wire.viewpoint(viewpoint).encode(to: &writer)
    // No stored member has these: the model converts them to other values.
    case .basemapName, .newBookmarks, .surfaceUpdate, .viewpointTarget: writer.null()
    }
  }

  /// Writes the value in the form of documents, without lists of objects that are written separately.
  func encodeSaved(to writer: inout JSONWriter) {
    switch self {
    case .basemap(let basemap): MapProtocol.BasemapUpdate(name: basemap.name?.string).encode(to: &writer)
    case .surface(let surface):
      SceneProtocol.BaseSurfaceUpdate(
        elevationExaggeration: surface.elevationExaggeration, isEnabled: surface.isEnabled, opacity: surface.opacity
      ).encode(to: &writer)
    default: encode(to: &writer)
    }
  }

  private static func write(_ ids: TextList, to writer: inout JSONWriter) {
    writer.beginArray()
    ids.forEach { writer.value($0.string) }
    writer.endArray()
  }

  private static func write(_ states: ViewLayerStates, to writer: inout JSONWriter) {
    writer.beginObject()
    for (layer, state) in states.states(of: states.topLayers.indices) {
      writer.key(layer.rawValue)
      write(state, to: &writer)
    }
    writer.endObject()
  }

  package static func write(_ state: LayerViewState, to writer: inout JSONWriter) {
    writer.array(Wire.flags(state)) { $1.value($0.rawValue) }
  }
}
