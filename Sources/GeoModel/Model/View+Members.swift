// The table of members of views.

extension View {
  public static let members: [Member<View>] = [
    Member(.map) { $0.content.map },
    Member(.scene) { $0.content.scene },
    Member(.width, { $0.screen.width }, set: { $0.screen.width = $1 }),
    Member(.height, { $0.screen.height }, set: { $0.screen.height = $1 }),
    Member(.dpi, { $0.screen.dpi }, set: { $0.screen.dpi = $1 }),
    Member(.spatialReference) { $0.reference.reference },
    // Setting an equal viewpoint may still change the camera.
    Member(.viewpoint, differs: { $0.viewpoint != $1.viewpoint || $0.camera != $1.camera }) { view, _ in
      .viewpoint(view.viewpoint)
    },
    Member(.center, differs: { $0.hasCenter(differentFrom: $1) }) { view, world in
      view.center(by: world.transformer).map { .point($0) } ?? .null
    },
    Member(.scale) { $0.camera.scale },
    Member(.rotation) { $0.camera.rotation },
    Member(.isNavigating) { $0.isNavigating },
    Member(.cameraController) { $0.cameraController },
    Member(.overlays) { $0.overlays },
    Member(.locationDisplay, differs: { $0.locationDisplay != $1.locationDisplay }) { view, world in
      .locationDisplay(world.locationDisplay(of: view))
    },
    Member(derived: .layerViewStates) { view, world in .layerViewStates(ViewLayerStates(of: view, in: world)) },
    .environment,
  ]
}
