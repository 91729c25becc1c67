// The protocol of types that can be written as JSON.

/// A type that can be written as one JSON value.
public protocol JSONEncodable: SendableMetatype {
  func encode(to writer: inout JSONWriter)
}

extension Bool: JSONEncodable { public func encode(to writer: inout JSONWriter) { writer.value(self) } }
extension Int: JSONEncodable { public func encode(to writer: inout JSONWriter) { writer.value(self) } }
extension Double: JSONEncodable { public func encode(to writer: inout JSONWriter) { writer.value(self) } }
extension String: JSONEncodable { public func encode(to writer: inout JSONWriter) { writer.value(self) } }

extension Array: JSONEncodable where Element: JSONEncodable {
  public func encode(to writer: inout JSONWriter) { writer.array(self) { $0.encode(to: &$1) } }
}
