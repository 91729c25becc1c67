// Converts feature reduction between the wire and the model.

import GeoModel
import GeoProtocol
import Statistics

extension Wire {
  static func featureReduction(
    _ wire: SymbologyProtocol.FeatureReduction
  ) throws(SymbologyError) -> FeatureReduction {
    var reduction = FeatureReduction()
    reduction.isEnabled = wire.isEnabled
    reduction.radius = wire.radius
    reduction.maxScale = wire.maxScale
    reduction.minSymbolSize = wire.minSymbolSize
    reduction.maxSymbolSize = wire.maxSymbolSize
    reduction.aggregateFields = wire.aggregateFields.map(statistic)
    if let given = wire.renderer {
      reduction.renderer = try within("renderer") { () throws(SymbologyError) in try renderer(given) }
    }
    reduction.labels = try within("labels") { () throws(SymbologyError) in try labels(wire.labels) }
    reduction.labelsEnabled = wire.labelsEnabled
    if let given = wire.popup {
      reduction.popup = try within("popup") { () throws(SymbologyError) in try popup(given) }
    }
    reduction.isPopupEnabled = wire.isPopupEnabled
    return reduction
  }

  static func featureReduction(_ reduction: FeatureReduction) -> SymbologyProtocol.FeatureReduction {
    .init(
      isEnabled: reduction.isEnabled, radius: reduction.radius, maxScale: reduction.maxScale,
      minSymbolSize: reduction.minSymbolSize, maxSymbolSize: reduction.maxSymbolSize,
      aggregateFields: reduction.aggregateFields.map(statistic), renderer: reduction.renderer.map(renderer),
      labels: reduction.labels.map(label), labelsEnabled: reduction.labelsEnabled,
      popup: reduction.popup.map(popup), isPopupEnabled: reduction.isPopupEnabled)
  }

  static func trackDisplay(_ wire: SymbologyProtocol.TrackDisplay) throws(SymbologyError) -> TrackDisplay {
    var display = TrackDisplay()
    display.maximumObservations = wire.maximumObservations
    (display.showsPreviousObservations, display.showsTrackLines) = (wire.showsPreviousObservations, wire.showsTrackLines)
    if let given = wire.previousObservationRenderer {
      display.previousObservationRenderer = try within("previousObservationRenderer") { () throws(SymbologyError) in
        try renderer(given)
      }
    }
    if let given = wire.trackLineRenderer {
      display.trackLineRenderer = try within("trackLineRenderer") { () throws(SymbologyError) in try renderer(given) }
    }
    return display
  }

  static func trackDisplay(_ display: TrackDisplay) -> SymbologyProtocol.TrackDisplay {
    .init(
      maximumObservations: display.maximumObservations, showsPreviousObservations: display.showsPreviousObservations,
      showsTrackLines: display.showsTrackLines,
      previousObservationRenderer: display.previousObservationRenderer.map(renderer),
      trackLineRenderer: display.trackLineRenderer.map(renderer))
  }

  /// A statistic with its given name, or else one made from its type and field.
  package static func statistic(_ wire: FeatureProtocol.Statistic) -> NamedStatistic {
    let name = wire.name ?? wire.type.rawValue + (wire.field.map { "_\($0)" } ?? "")
    return NamedStatistic(name: name, .init(wire.type), of: wire.field, percentile: wire.percentile)
  }

  static func statistic(_ statistic: NamedStatistic) -> FeatureProtocol.Statistic {
    .init(
      type: statistic.kind.wire, field: statistic.field?.string, percentile: statistic.percentile,
      name: statistic.name.string)
  }
}
