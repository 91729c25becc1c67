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
  /// - Complexity: O(log n) results, most of them smaller than the one that is returned, none more than twice as large by much.
  static func cut(
    _ maxBytes: Int?, _ count: Int, after offset: Int, hasMore: Bool, _ make: (Int) throws -> Self
  ) throws -> Self {
    func made(_ number: Int) throws -> Self {
      var result = try make(number)
      if hasMore || number < count { (result.exceededLimit, result.nextOffset) = (true, offset + number) }
      return result
    }
    guard let maxBytes, count > 0 else { return try made(count) }
    var fitting: Self?
    var (fits, exceeds, needed) = (0, count + 1, 0)
    while fits + 1 < exceeds {
      // Doubled up to the first number that does not fit, then halved between that and the last that does.
      let number = exceeds > count ? min(max(fits * 2, 1), count) : (fits + exceeds) / 2
      do {
        let result = try made(number)
        let size = result.text.count
        if size <= maxBytes { (fits, fitting) = (number, result) } else { (exceeds, needed) = (number, size) }
      } catch QueryError.resultTooLarge where fits > 0 {
        exceeds = number
      } catch let error as RPCError where fits > 0 && error.kind == "resultTooLarge" {
        exceeds = number
      }
    }
    guard let fitting else { throw RPCError.firstElement(needs: needed, maxBytes) }
    return fitting
  }
}

extension FeatureProtocol.QueryIds.Result: ListResult {}
extension FeatureProtocol.QueryRelated.Result: ListResult {}
extension FeatureProtocol.Nearest.Result: ListResult {}
extension FeatureProtocol.Join.Result: ListResult {}
extension ClusterProtocol.Query.Result: ListResult {}
extension ClusterProtocol.Members.Result: ListResult {}
extension LocatorProtocol.Geocode.Result: ListResult {}
extension LocatorProtocol.Suggest.Result: ListResult {}
extension LocatorProtocol.ReverseGeocode.Result: ListResult {}
extension ViewProtocol.Identify.Result: ListResult {}
