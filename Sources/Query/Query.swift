// Stand-in until the store lands.
import Geometry
public struct FeatureStore: Sendable { public init() {}
  public var count: Int { 0 }
  public var extent: Envelope? { nil } }
