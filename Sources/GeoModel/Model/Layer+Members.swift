// The table of members of layers, and the members that layers and overlays share.

import Geometry

extension Layer {
  public static let members: [Member<Layer>] = identity + drawing + ofGroups + ofFeatures + ofRasters + [.environment]

  private static let identity: [Member<Layer>] = [
    Member(.kind) { $0.kind },
    Member(.map) { $0.container.map },
    Member(.scene) { $0.container.scene },
    Member(.group) { $0.group },
    Member(.source) { $0.features?.source }.only { $0.features.map { $0.entitySource == nil } ?? false },
    Member(.sourceLayer) { $0.raster?.table ?? $0.schema?.name }.only { $0.grouping == nil && $0.features?.entitySource == nil },
    Member(.path) { $0.raster.map { Text($0.origin.path) } }.only { $0.raster != nil },
    Member(.entitySource) { $0.features?.entitySource }.only { $0.features?.entitySource != nil },
    Member(.name, { $0.name }, set: { $0.name = $1 }),
  ]

  private static let drawing: [Member<Layer>] =
    appearance + [
      Member(.loadStatus, differs: { $0.ownLoadStatus != $1.ownLoadStatus }) {
        .loadStatus($1.loadStatus(of: $0))
      }
    ]

  private static let ofGroups: [Member<Layer>] = [
    Member(.layers) { $0.grouping?.layers },
    Member(
      .visibilityMode, { $0.grouping?.visibilityMode },
      set: { layer, mode in
        if let mode { layer.grouping?.visibilityMode = mode }
      }),
  ].only { $0.grouping != nil }

  private static let ofRasters: [Member<Layer>] = [
    Member(.raster) { $0.raster?.info },
    Member(.rasterRenderer, { $0.raster?.renderer }, set: { $0.raster?.renderer = $1 }),
  ].only(where: { $0.raster != nil })

  // Those of features and of rasters.
  private static let ownReference = Member<Layer>(.spatialReference) { (layer) -> SpatialReference? in
    layer.raster.map { $0.info?.reference } ?? layer.reference
  }.only { $0.grouping == nil }
  private static let ownExtent = Member<Layer>(.extent, differs: { $0.extent != $1.extent }) {
    $1.live($0).extent.memberValue
  }.only { $0.grouping == nil }

  private static let ofSchema: [Member<Layer>] = [
    Member(.geometryType) { $0.schema?.geometryType },
    // Of entities their source records the changes.
    Member(.featureCount, differs: { $0.featureCount != $1.featureCount }) { $1.live($0).featureCount.memberValue },
  ].only(where: hasFeatures)

  private static let ofFeatures: [Member<Layer>] =
    [ownReference] + ofSchema + [ownExtent]
    + [
      Member(.fields) { $0.schema?.fields },
      Member(.selectedCount, differs: { $0.features?.selectedCount != $1.features?.selectedCount }) {
        $1.live($0).features.map { .integer($0.selectedCount) } ?? .null
      },
      Member(
        .definitionExpression, { $0.features?.definitionExpression }, set: { $0.features?.definitionExpression = $1 }),
      Member(.time, { $0.features?.time }, set: { $0.features?.time = $1 }),
      Member(
        .isTimeFilterEnabled, { $0.features?.isTimeFilterEnabled },
        set: { layer, isEnabled in
          if let isEnabled { layer.features?.isTimeFilterEnabled = isEnabled }
        }),
    ].only(where: hasFeatures) + (portrayal + [isPopupEnabled]).only(where: hasFeatures)
    + [
      Member(
        .trackDisplay, default: TrackDisplay(), { $0.features?.trackDisplay ?? TrackDisplay() },
        set: { $0.features?.trackDisplay = $1 }).only { $0.features?.entitySource != nil }
    ]

  private static let hasFeatures: @Sendable (Layer) -> Bool = { $0.features != nil }

  /// The error for a member that only layers of other kinds have.
  public func refusal(of member: String) -> ModelError {
    func has(_ members: [Member<Layer>]) -> Bool { members.contains { $0.name == member } }
    return .wrongKind(id.rawValue, kind, expected: has(Self.ofRasters) ? [.raster] : has(Self.ofGroups) ? [.group] : [.feature, .table])
  }
}

/// An object with an appearance and a portrayal: layers and overlays.
protocol Portrayed: Entity {
  var appearance: Appearance { get set }
  var portrayal: Portrayal { get set }
}

extension Layer: Portrayed {}
extension Overlay: Portrayed {}

extension Portrayed {
  static var appearance: [Member<Self>] {
    [
      Member(.isVisible, { $0.appearance.isVisible }, set: { $0.appearance.isVisible = $1 }),
      Member(.opacity, { $0.appearance.opacity }, set: { $0.appearance.opacity = $1 }),
      Member(.minScale, { $0.appearance.minScale }, set: { $0.appearance.minScale = $1 }),
      Member(.maxScale, { $0.appearance.maxScale }, set: { $0.appearance.maxScale = $1 }),
    ]
  }

  static var portrayal: [Member<Self>] {
    [
      Member(.renderer, { $0.portrayal.renderer }, set: { $0.portrayal.renderer = $1 }),
      Member(.labels, default: [], { $0.portrayal.labels }, set: { $0.portrayal.labels = $1 }),
      Member(.labelsEnabled, default: false, { $0.portrayal.labelsEnabled }, set: { $0.portrayal.labelsEnabled = $1 }),
      Member(.popup, { $0.portrayal.popup }, set: { $0.portrayal.popup = $1 }),
      Member(.featureReduction, { $0.portrayal.featureReduction }, set: { $0.portrayal.featureReduction = $1 }),
    ]
  }

  static var isPopupEnabled: Member<Self> {
    Member(.isPopupEnabled, default: true, { $0.portrayal.isPopupEnabled }, set: { $0.portrayal.isPopupEnabled = $1 })
  }
}

extension Member {
  /// The environment that the object inherits.
  static var environment: Member {
    Member(derived: .environment) { object, world in .value(world.environment(seenBy: object.reference)) }
  }
}

extension World {
  /// The values of all keys of the environment at a node.
  func environment(seenBy node: ObjectReference?) -> Value {
    var members = Value.Members()
    for key in environmentKeys.ids { members[key.rawValue] = environment(key.rawValue, at: node) }
    return .object(members)
  }
}
