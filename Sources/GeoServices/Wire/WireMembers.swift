// Members of objects on the wire, both ways: one case a type of value, whatever members have it.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Query

extension Wire {
  /// An object as results have it: its id, its revision and its members that are not null.
  static func object<Object: Entity>(_ object: Object, _ world: World) -> JSONOpaque {
    let revision = object.revision
    return written(
      object, Object.members.lazy.filter { $0.traits.contains(.returned) }, [("revision", .integer(revision))]
    ) {
      $0.value(of: object, in: world)
    }
  }

  /// An object as documents have it, without what lies in it.
  static func saved<Object: Entity>(_ object: Object, _ world: World) -> JSONOpaque {
    written(object, Object.members, []) { $0.savedValue(of: object, in: world) }
  }

  /// Values are read now, so that nothing of the world is held; text is made when it is written.
  private static func written<Object: Entity>(
    _ object: Object, _ members: some Sequence<Member<Object>>, _ first: [(name: String, value: MemberValue)],
    _ value: (Member<Object>) -> MemberValue?
  ) -> JSONOpaque {
    var values = [(name: Object.collection.noun, value: MemberValue.text(object.id.rawValue))] + first
    for member in members {
      if let value = value(member), !value.isNull { values.append((member.name, value)) }
    }
    return .written { [values] writer in
      writer.beginObject()
      for (name, value) in values {
        writer.key(name)
        value.encode(to: &writer)
      }
      writer.endObject()
    }
  }

  /// The members that a command sets, as the model has them.
  static func changes(_ members: [(name: String, value: MemberPayload?)]) throws -> [MemberChange] {
    try members.map { name, payload in
      MemberChange(name, try payload.map { try value($0, at: name) })
    }
  }

  /// - Parameter name: of the member, for errors.
  private static func value(_ payload: MemberPayload, at name: String) throws -> MemberValue {
    switch payload {
    case .boolean(let flag): .flag(flag)
    case .number(let number): .number(number)
    case .string(let text): .text(text)
    case .labelDefinitions(let labels):
      .labels(try within(name) { () throws(SymbologyError) in try self.labels(labels) })
    case .popupDefinition(let popup): .popup(try within(name) { () throws(SymbologyError) in try self.popup(popup) })
    case .renderer(let renderer):
      .renderer(try within(name) { () throws(SymbologyError) in try self.renderer(renderer) })
    case .layerTime(let time):
      .time(
        LayerTime(
          startField: time.startField, endField: time.endField,
          extent: try time.extent.map { try timeExtent($0, at: "/params/\(name)/extent") }))
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
    case .ids(let ids): writer.array(ids) { $1.value($0) }
    case .value(let value): value.encode(to: &writer)
    case .expression(let expression): writer.value(expression.text)
    case .envelope(let envelope): Wire.envelope(envelope).encode(to: &writer)
    case .fields(let fields): writer.array(fields) { Wire.field($0).encode(to: &$1) }
    case .graphics(let store): StateNode.write(store, 0..<store.count, to: &writer)
    case .labels(let labels): writer.array(labels) { Wire.label($0).encode(to: &$1) }
    case .loadStatus(let status): Wire.loadStatus(status).encode(to: &writer)
    case .popup(let popup): Wire.popup(popup).encode(to: &writer)
    case .renderer(let renderer): Wire.renderer(renderer).encode(to: &writer)
    case .time(let time): Wire.time(time).encode(to: &writer)
    }
  }
}

extension StateNode {
  /// How a value of its type changes in deltas: as a whole, or as a list.
  init(_ value: MemberValue) {
    switch value {
    case .ids(let ids): self = .ids(ids)
    case .graphics(let store): self = .graphics(store)
    case .fields, .labels: self = .list { value.encode(to: &$0) }
    default: self = .leaf { value.encode(to: &$0) }
    }
  }
}
