// Converts feature reduction between the wire and the model.

import GeoModel
import GeoProtocol
import Query

extension Wire {
  static func featureReduction(_ wire: SymbologyProtocol.FeatureReduction) -> FeatureReduction {
    var reduction = FeatureReduction()
    reduction.isEnabled = wire.isEnabled
    reduction.radius = wire.radius
    reduction.maxScale = wire.maxScale
    reduction.minSymbolSize = wire.minSymbolSize
    reduction.maxSymbolSize = wire.maxSymbolSize
    reduction.aggregateFields = wire.aggregateFields.map {
      .init(name: $0.name, statistic: word($0.statisticType, .count), field: $0.onStatisticField)
    }
    return reduction
  }

  static func featureReduction(_ reduction: FeatureReduction) -> SymbologyProtocol.FeatureReduction {
    .init(
      isEnabled: reduction.isEnabled, radius: reduction.radius, maxScale: reduction.maxScale,
      minSymbolSize: reduction.minSymbolSize, maxSymbolSize: reduction.maxSymbolSize,
      aggregateFields: reduction.aggregateFields.map {
        .init(name: $0.name.string, statisticType: word($0.statistic, .count), onStatisticField: $0.field.string)
      })
  }
}
