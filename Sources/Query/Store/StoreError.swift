// Why a store refuses a change: one reason an item, each with its place in the call.

/// Why one item of a change was refused.
public enum StoreError: Error, Hashable, Sendable {
  /// Ids are integers in 0..<10^14.
  case idOutOfRange(Int)
  /// The store has this id already.
  case idExists(Int)
  /// The id stands in the call twice.
  case idRepeated(Int)
  /// The store has no such id.
  case noSuchID(Int)
  /// Ids are minted upwards, and the last one, 10^14 - 1, has been given.
  case noIDsLeft
  /// A store numbers its rows with 32 bits, removed ones included.
  case tooManyRows
  /// More different attribute names than a store takes.
  case tooManyColumns(limit: Int)
  /// The texts of one column of a batch are larger than 4 GiB together.
  case textTooLarge(column: String)
  /// Whole columns of one batch differ in length.
  case lengthMismatch(expected: Int, found: Int)
}

/// Why a change was refused as a whole: every item that stood in its way. The store is then unchanged.
public struct StoreFailure: Error, Hashable, Sendable {
  public struct Item: Hashable, Sendable {
    /// The place in the call; nil when it is no item's fault.
    public let index: Int?
    public let error: StoreError
    public init(index: Int?, error: StoreError) {
      self.index = index
      self.error = error
    }
  }

  /// Never empty, in the order of the call.
  public let items: [Item]

  public init(_ items: [Item]) { self.items = items }
  init(_ error: StoreError, at index: Int? = nil) { items = [Item(index: index, error: error)] }
}
