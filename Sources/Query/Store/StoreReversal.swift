// STUB until the store's branch is merged.
public struct StoreReversal: Sendable { public var byteCount: Int { 0 } }
extension FeatureStore { public mutating func rollBack(_ reversal: StoreReversal) {} }
