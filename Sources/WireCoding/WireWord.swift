// The common part of the generated conversions between enumerations of the model and of the protocol.

import GeoProtocol

/// An enumeration of the model, or of a room above it, with the same cases as one of the protocol.
///
/// The protocol's enumeration names it as `model` in the definition. The conformance is generated, as switches over all cases.
package protocol WireWord: Sendable {
  associatedtype Word: WireEnum
  init(_ wire: Word)
  var wire: Word { get }
}
