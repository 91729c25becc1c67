// Cuts results that are lists to the size that the client asked for by `maxBytes`.

import GeoProtocol
import JSON
import JSONRPC
import WireCoding

/// The bytes of a result that are left for the elements of its list.
struct ListBudget {
  let bytes: Int
  private let maxBytes: Int

  /// Size of `nextOffset` and of the braces and commas around the list, at most.
  private static let rest = 64

  /// Nil without a limit.
  ///
  /// - Parameter result: the result with an empty list.
  init?(_ maxBytes: Int?, around result: some JSONEncodable) {
    guard let maxBytes else { return nil }
    self.maxBytes = maxBytes
    bytes = maxBytes - result.text.count - Self.rest
  }

  /// The number of leading elements that fit.
  ///
  /// - Throws: `resultTooLarge` if there are elements and not even the first fits.
  func count<T: JSONEncodable>(of elements: [T]) throws(RPCError) -> Int {
    var writer = JSONWriter(capacity: 256)
    var size = 0
    for (index, element) in elements.enumerated() {
      writer.truncate(to: 0)
      element.encode(to: &writer)
      size += writer.count + 1
      if size > bytes { return try require(index, size) }
    }
    return elements.count
  }

  /// - Parameters:
  ///   - count: the number of elements that fit.
  ///   - size: the size of the list with the next element.
  func require(_ count: Int, _ size: Int) throws(RPCError) -> Int {
    guard count == 0 else { return count }
    let needed = maxBytes - bytes + size
    throw RPCError(
      .resultTooLarge, "The result with its first element alone has up to \(needed) bytes.", path: "/params/maxBytes",
      expected: "integer of at least \(needed)"
    ).with("limit", maxBytes)
  }
}
