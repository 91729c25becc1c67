// What the generated conversions between enumerations of model and protocol have in common.

import GeoProtocol

/// An enumeration of the model, or of a room above it, with the cases of one of the protocol.
///
/// The definition names it as `model` of the protocol's; the conformance is generated, as switches over every case.
package protocol WireWord: Sendable {
  associatedtype Word: WireEnum
  init(_ wire: Word)
  var wire: Word { get }
}
