// Cuts results that are lists to the size that the client asked for by `maxBytes`.

import GeoProtocol
import JSON
import JSONRPC
import Planning
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

  /// - Parameters:
  ///   - count: the number of elements that fit.
  ///   - size: the size of the list with the next element.
  func require(_ count: Int, _ size: Int) throws(RPCError) -> Int {
    guard count == 0 else { return count }
    throw RPCError.firstElement(needs: maxBytes - bytes + size, maxBytes)
  }
}

extension RPCError {
  fileprivate static func firstElement(needs needed: Int, _ maxBytes: Int) -> RPCError {
    RPCError(
      .resultTooLarge, "The result with its first element alone has up to \(needed) bytes.", path: "/params/maxBytes",
      expected: "integer of at least \(needed)"
    ).with("limit", maxBytes)
  }
}

/// A result whose elements may be cut to a size.
protocol ListResult: JSONEncodable {
  var exceededLimit: Bool { get set }
  var nextOffset: Int? { get set }
}

extension ListResult {
  /// The result with as many leading elements as fit into `maxBytes`; with all of them without a limit. It is measured as a
  /// whole, since packed columns and nested lists have no elements of their own to measure.
  ///
  /// - Parameters:
  ///   - count: the number of elements.
  ///   - offset: the number of elements that the request skips.
  ///   - hasMore: whether more elements follow these `count`, to which `nextOffset` leads.
  ///   - make: makes the result with the given number of elements, in time proportional to it.
  /// - Throws: `resultTooLarge` if there are elements and not even the first fits.
  /// - Complexity: about five results of the size that is returned where elements have similar sizes, at most O(log n).
  static func cut(
    _ maxBytes: Int?, _ count: Int, after offset: Int, hasMore: Bool, _ make: (Int) throws -> Self
  ) throws -> Self {
    func made(_ number: Int) throws -> Self {
      var result = try make(number)
      if hasMore || number < count { (result.exceededLimit, result.nextOffset) = (true, offset + number) }
      return result
    }
    // No result is larger, and products stay in range.
    guard let maxBytes = maxBytes.map({ min($0, 1 << 32) }), count > 0 else { return try made(count) }
    var fitting: Self?
    // Numbers of elements that fit and that do not, with the sizes of their results.
    var (fits, exceeds) = ((number: 0, size: 0), (number: count + 1, size: 0))
    var guesses = 0
    while fits.number + 1 < exceeds.number {
      var number = (fits.number + exceeds.number) / 2
      if exceeds.number > count {
        let guess = fits.number * maxBytes / max(fits.size, 1)
        number = min(max(guess, fits.number * 2, 1), max(fits.number * 8, 1), count)
      } else if guesses < 6 {
        guesses += 1
        let part = Double(maxBytes - fits.size) / Double(exceeds.size - fits.size)
        number = min(fits.number + max(Int(part * Double(exceeds.number - fits.number)), 1), exceeds.number - 1)
      }
      do {
        let result = try made(number)
        let size = result.text.count
        if size <= maxBytes { (fits, fitting) = ((number, size), result) } else { exceeds = (number, size) }
      } catch QueryError.resultTooLarge where fits.number > 0 {
        exceeds = (number, maxBytes * 2)
      } catch let error as RPCError where fits.number > 0 && error.kind == "resultTooLarge" {
        exceeds = (number, maxBytes * 2)
      }
    }
    guard let fitting else { throw RPCError.firstElement(needs: exceeds.size, maxBytes) }
    return fitting
  }
}

extension FeatureProtocol.QueryIds.Result: ListResult {}
extension FeatureProtocol.QueryRelated.Result: ListResult {}
extension FeatureProtocol.Nearest.Result: ListResult {}
extension FeatureProtocol.Join.Result: ListResult {}
extension ClusterProtocol.Query.Result: ListResult {}
extension ClusterProtocol.Members.Result: ListResult {}
extension ClusterProtocol.Points.Result: ListResult {}
extension LocatorProtocol.Geocode.Result: ListResult {}
extension LocatorProtocol.Suggest.Result: ListResult {}
extension LocatorProtocol.ReverseGeocode.Result: ListResult {}
extension ViewProtocol.Identify.Result: ListResult {}
