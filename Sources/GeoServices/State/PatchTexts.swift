// The text of a change, made once however many subscriptions tell it.

import GeoModel
import JSON

/// The last change that was written; lives no longer than the world is the same.
struct PatchTexts: ~Copyable {
  private var place: StatePath?
  private var text = JSONWriter(capacity: 256)

  init() {}

  /// Makes the `replace` of the value at a place; false where there is none.
  mutating func make(_ place: StatePath, in world: World) -> Bool {
    if self.place == place { return true }
    self.place = nil
    guard let node = StateTree.node(at: place, in: world) else { return false }
    text.truncate(to: 0)
    text.append("{\"op\":\"replace\",\"path\":")
    text.value(place.pointer)
    text.key("value")
    node.write(to: &text)
    text.endObject()
    self.place = place
    return true
  }

  /// What was made last.
  var bytes: UnsafeRawBufferPointer { text.bytes }
}
