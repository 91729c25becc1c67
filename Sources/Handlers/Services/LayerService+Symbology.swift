// Handlers of `layer/*` that compute symbols, labels, popups, legends and class breaks.

import Drawing
import Expressions
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import WireCoding

extension LayerService {
  private static func loaded(_ id: String, in world: World) throws -> (layer: Layer, store: FeatureStore) {
    let layer = world.live(try world.layers.require(ID(id)))
    guard let store = try layer.requireFeatures().store else { throw ModelError.notLoaded(id) }
    return (layer, store)
  }

  /// The rows that pass the layer's filters.
  private static func shown(_ rows: [FeatureRow], of layer: Layer) -> [FeatureRow] {
    guard let features = layer.features, !features.isUnfiltered else { return rows }
    let shown = Set(features.shown(rows.map(\.row)))
    return rows.filter { shown.contains($0.row) }
  }

  package static func symbolFor(_ params: SymbolFor.Params, in world: World) throws -> SymbolFor.Result {
    let (layer, store) = try loaded(params.layer, in: world)
    let rows = try Portraying.rows(params.ids, of: store, "feature")
    let drawn = Set(shown(rows, of: layer).map(\.row))
    let bound = layer.boundSymbols(store)
    let scale = world.symbolScale(of: layer, at: params.scale)
    let selection = world.selectionColor(of: layer.reference)
    return .init(
      revision: world.revision,
      symbols: rows.flatMap {
        drawn.contains($0.row)
          ? Portraying.symbols([$0], bound, scale: scale, selection: selection) : [.init(id: $0.id)]
      })
  }

  package static func labelFor(_ params: LabelFor.Params, in world: World) throws -> LabelFor.Result {
    let (layer, store) = try loaded(params.layer, in: world)
    let rows = shown(try Portraying.rows(params.ids, of: store, "feature"), of: layer)
    let bound = layer.portrayal.boundLabels(
      scale: params.scale, schema: store.schema, by: world.conventions(at: layer.reference))
    return .init(
      revision: world.revision,
      labels: Portraying.labels(rows, bound, scale: world.symbolScale(of: layer, at: params.scale)))
  }

  package static func popupFor(_ params: PopupFor.Params, in world: World) throws -> PopupFor.Result {
    let (layer, store) = try loaded(params.layer, in: world)
    let rows = shown(try Portraying.rows(params.ids, of: store, "feature"), of: layer)
    return .init(
      revision: world.revision,
      popups: Portraying.popups(
        rows, layer.portrayal, store.schema, name: layer.name, by: world.conventions(at: layer.reference)))
  }

  package static func legend(_ params: Legend.Params, in world: inout World) throws -> Plan<Legend.Result> {
    let layer = world.live(try world.layers.require(ID(params.layer)))
    if let raster = layer.raster { return try legend(of: raster, layer, in: world) }
    let features = try layer.requireFeatures()
    let kind = ShapeKind(geometryType: features.schema.geometryType)
    let isTable = features.isTable
    let needsFeatures =
      params.includeCounts || layer.mayHaveSimpleStyles || layer.portrayal.renderer == nil && kind == nil && !isTable
    if needsFeatures, layer.store == nil { throw ModelError.notLoaded(params.layer) }
    let revision = world.revision
    let conventions = world.conventions(at: layer.reference)
    let scale = world.symbolScale(at: layer.reference)
    return TaskPlan(result: { worker in
      let entries =
        if let renderer = layer.portrayal.renderer {
          try Portraying.legend(
            renderer, params.includeCounts ? features.store : nil, features, scale: scale, by: conventions,
            isCancelled: { worker.isCancelled })
        } else if let store = features.store, case let symbols = layer.boundSymbols(store), symbols.isByFeature {
          try Portraying.styledLegend(
            name: layer.name, counts: params.includeCounts, store, symbols, features, scale: scale,
            isCancelled: { worker.isCancelled })
        } else {
          try Portraying.plainLegend(
            name: layer.name, kind: kind, counts: params.includeCounts, features.store, features, scale: scale,
            isCancelled: { worker.isCancelled })
        }
      return .init(revision: revision, entries: entries)
    })
  }

  private static func legend(of raster: LayerRaster, _ layer: Layer, in world: World) throws -> Plan<Legend.Result> {
    guard let source = raster.source, let renderer = raster.drawnRenderer else { throw ModelError.notLoaded(layer.id.rawValue) }
    let (revision, conventions) = (world.revision, world.conventions(at: layer.reference))
    return TaskPlan(.readRaster, result: { worker in
      let entries = try renderer.legend(of: source, by: conventions) { worker.isCancelled }
      return .init(
        revision: revision,
        entries: entries.map { .init(label: $0.label.string, description: $0.description?.string, symbol: Wire.symbol($0.symbol)) })
    })
  }

  package static func classBreaks(
    _ params: ClassBreaks.Params, in world: inout World
  ) throws -> Plan<ClassBreaks.Result> {
    let (layer, store) = try loaded(params.layer, in: world)
    let source = try Wire.source(params.field, params.expression)
    try Wire.within(params.field == nil ? "expression" : "field") { () throws(SymbologyError) in
      try source.check(for: store.schema, as: .number)
    }
    if let name = params.normalizationField {
      try Wire.within("normalizationField") { () throws(SymbologyError) in
        try AttributeSource.field(Text(name)).check(for: store.schema, as: .number)
      }
    }
    let symbol =
      try params.symbol.map { given in
        try Wire.within("symbol") { () throws(SymbologyError) in try Wire.symbol(given) }
      } ?? .standard(for: ShapeKind(geometryType: layer.schema?.geometryType) ?? .point)
    let colors = params.colors.map(Wire.color)
    let revision = world.revision
    return TaskPlan(result: { worker in
      let numbers = Classification.numbers(
        in: store, of: source, normalizationField: params.normalizationField, isCancelled: { worker.isCancelled })
      try worker.checkCancelled()
      let classes = Classification(
        numbers, .init(params.method), count: params.classCount,
        isCancelled: { worker.isCancelled })
      try worker.checkCancelled()
      let renderer = try classes.renderer(
        for: source, normalizationField: params.normalizationField, symbol: symbol, colors: colors)
      let result = Wire.renderer(Renderer(.classBreaks(renderer)))
      return .init(revision: revision, counts: classes.classes.map(\.count), renderer: result)
    })
  }
}
