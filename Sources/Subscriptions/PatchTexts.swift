// The text of one JSON Patch operation, encoded once for all subscriptions that send it.

import GeoModel
import JSON
import StateTree

/// The operation that was encoded last. Valid while the world does not change.
package struct PatchTexts: ~Copyable {
  private var path: ModelPath?
  private var text = JSONWriter(capacity: 256)

  package init() {}

  /// Encodes the `replace` of the value at a path.
  ///
  /// - Returns: false if there is no value at the path.
  package mutating func make(_ path: ModelPath, in world: World) -> Bool {
    if self.path == path { return true }
    self.path = nil
    guard let node = StateTree.node(at: path, in: world) else { return false }
    text.truncate(to: 0)
    text.append("{\"op\":\"replace\",\"path\":")
    text.value(path.description)
    text.key("value")
    node.write(to: &text)
    text.endObject()
    self.path = path
    return true
  }

  /// The operation that was encoded last.
  package var bytes: UnsafeRawBufferPointer { text.bytes }
}
