// The operations between two spatial references, of which a client may choose one.

/// An operation between two spatial references, as PROJ's database has it.
public struct Transformation: Hashable, Sendable {
  public struct Grid: Hashable, Sendable {
    public let name: String
    /// Where it can be had; nil if that is not known.
    public let url: String?
    public let isAvailable: Bool

    public init(name: String, url: String?, isAvailable: Bool) { (self.name, self.url, self.isAvailable) = (name, url, isAvailable) }
  }

  public let name: String
  /// `AUTHORITY:CODE` of it, or of its steps that are no mere conversions.
  public let codes: [String]
  /// Metres; nil if unknown.
  public let accuracy: Double?
  /// Whether a difference of datums is ignored.
  public let isBallpark: Bool
  /// Longitude and latitude in degrees; nil if unknown.
  public let areaOfUse: Envelope?
  public let areaName: String?
  public let grids: [Grid]
  /// Whether nothing that it needs is lacking.
  public let isAvailable: Bool

  public init(
    name: String, codes: [String], accuracy: Double?, isBallpark: Bool, areaOfUse: Envelope?, areaName: String?, grids: [Grid],
    isAvailable: Bool
  ) {
    (self.name, self.codes, self.accuracy, self.isBallpark) = (name, codes, accuracy, isBallpark)
    (self.areaOfUse, self.areaName, self.grids, self.isAvailable) = (areaOfUse, areaName, grids, isAvailable)
  }
}

/// Which transformation is wanted: the best available one of those with the name that overlap the area.
public struct TransformationChoice: Hashable, Sendable {
  /// A name, or a code of it or of a step; nil for any.
  public let name: Text?
  /// Longitude and latitude in degrees; nil for everywhere.
  public let area: Envelope?

  public init(name: Text?, area: Envelope?) { (self.name, self.area) = (name, area) }

  public func includes(_ transformation: Transformation) -> Bool {
    // As in references, the case of an authority is of no meaning.
    name.map { name in
      name == Text(transformation.name) || transformation.codes.contains { $0.lowercased() == name.string.lowercased() }
    } ?? true
  }
}
