// Handlers of `overlay/*` that compute symbols, labels, popups and legends.

import Drawing
import FeatureStore
import GeoModel
import GeoProtocol

extension OverlayService {
  package static func symbolFor(_ params: SymbolFor.Params, in world: World) throws -> SymbolFor.Result {
    let overlay = try world.overlays.require(ID(params.overlay))
    let rows = try Portraying.rows(params.ids, of: overlay.store, "graphic")
    let scale = world.symbolScale(of: overlay)
    return .init(
      revision: world.revision,
      symbols: Portraying.symbols(
        rows, overlay.boundSymbols, scale: scale, selection: world.selectionColor(of: overlay.reference)))
  }

  package static func labelFor(_ params: LabelFor.Params, in world: World) throws -> LabelFor.Result {
    let overlay = try world.overlays.require(ID(params.overlay))
    let rows = try Portraying.rows(params.ids, of: overlay.store, "graphic")
    let bound = overlay.portrayal.boundLabels(
      scale: params.scale, schema: overlay.store.schema, by: world.conventions(at: overlay.reference))
    return .init(
      revision: world.revision, labels: Portraying.labels(rows, bound, scale: world.symbolScale(of: overlay)))
  }

  package static func popupFor(_ params: PopupFor.Params, in world: World) throws -> PopupFor.Result {
    let overlay = try world.overlays.require(ID(params.overlay))
    let rows = try Portraying.rows(params.ids, of: overlay.store, "graphic")
    let popups = Portraying.popups(
      rows, overlay.portrayal, overlay.store.schema, name: overlay.name ?? "",
      by: world.conventions(at: overlay.reference))
    return .init(revision: world.revision, popups: popups)
  }

  package static func legend(_ params: Legend.Params, in world: inout World) throws -> Plan<Legend.Result> {
    let overlay = try world.overlays.require(ID(params.overlay))
    let revision = world.revision
    let conventions = world.conventions(at: overlay.reference)
    let scale = world.symbolScale(at: overlay.reference)
    return TaskPlan(result: { worker in
      let entries = try overlay.portrayal.renderer.map { renderer in
        try Portraying.legend(
          renderer, params.includeCounts ? overlay.store : nil, nil, scale: scale, by: conventions,
          isCancelled: { worker.isCancelled })
      }
      return .init(revision: revision, entries: entries ?? [])
    })
  }
}
