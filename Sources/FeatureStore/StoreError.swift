// Reasons why a store refuses a change: one for each item, with its index in the call.

/// Why one item of a change was refused.
public enum StoreError: Error, Hashable, Sendable {
  /// Ids are integers in 0..<10^14.
  case idOutOfRange(Int)
  /// The store has a feature with this id.
  case idExists(Int)
  /// The id occurs twice in the call.
  case idRepeated(Int)
  /// The store has no feature with this id.
  case noSuchID(Int)
  /// Ids are minted in ascending order, and the last one, 10^14 - 1, has been used.
  case noIDsLeft
  /// Row numbers have 32 bits and count removed rows too.
  case tooManyRows
  /// Too many different attribute names.
  case tooManyColumns(limit: Int)
  /// The texts of one column of a batch exceed 4 GiB in total.
  case textTooLarge(column: String)
  /// Columns of one batch differ in length.
  case lengthMismatch(expected: Int, found: Int)
}

/// Why a change was refused: all items in error. The store is unchanged.
public struct StoreFailure: Error, Hashable, Sendable {
  public struct Item: Hashable, Sendable {
    /// The index in the call; nil if the error concerns no single item.
    public let index: Int?
    public let error: StoreError
    public init(index: Int?, error: StoreError) {
      self.index = index
      self.error = error
    }
  }

  /// Never empty; in the order of the call.
  public let items: [Item]

  public init(_ items: [Item]) { self.items = items }
  public init(_ error: StoreError, at index: Int? = nil) { items = [Item(index: index, error: error)] }
}
