// A view as a picture: what its snapshot has, in drawing order, on its screen.

import FeatureStore
import GeoModel
import Geometry
import Pictures
import Platform
import Reading
import Sorting

/// What a picture of a view has besides its layers.
package struct PictureOptions: Sendable {
  /// Pixels to a device-independent pixel.
  package var ratio = 1.0
  package var hasLabels = true
  package var hasSelection = true
  package var hasLocation = true
  /// Lines of longitude and latitude above the layers.
  package var graticule: Graticule?
  /// What a scene's camera sees; nil for a flat picture.
  package var ground: SceneGround?
  /// Whether there is a sky above it.
  package var hasSky = true
  /// The shaded ground of a scene from above.
  package var hillshade: DrawnPixels?
  /// Boxes of what covers the map.
  package var panels: [ScreenBox] = []
  /// Numbers what `view/identify` would find, for ``ViewPicture/items``, and draws nothing else.
  package var isNumbered = false
  /// Only collects labels: what has none is left out.
  package var isOfLabels = false
  /// Draws nothing, but keeps what is drawn of layers, for searches: ``ViewPicture/kept``.
  package var isKept = false

  package init() {}
}

/// Draws layers and overlays on the screen of a view.
///
/// ```swift
/// var picture = try ViewPicture(snapshot.layers, of: snapshot.view, in: world, PictureOptions()) { _ in }
/// let labels = try picture.placedLabels { try painters.measure($0) }
/// picture.draw(labels)
/// ```
package struct ViewPicture {
  /// What a number of a numbered picture stands for.
  package struct Item: Hashable, Sendable {
    /// The index in ``ViewPicture/objects``.
    package let object: Int
    /// The id of the feature; of a cluster, the lowest id of its points.
    package let id: Int
    package var isLabel = false
  }

  /// The layers and overlays that are drawn, in drawing order.
  package private(set) var objects: [ObjectReference] = []
  /// Numbered from 1, if the picture is.
  package private(set) var items: [Item] = []
  /// Layers that are not drawn, as their references cannot be transformed to the view's.
  package private(set) var failed: [(object: ObjectReference, error: any Error)] = []
  /// What is drawn of each layer, if it is kept: first the layer's own, then that of its tracks.
  package private(set) var kept: [ObjectReference: [DrawnShapes]] = [:]
  package var words: PictureWriter { painter.words }
  /// Labels that are to be placed, layers from the bottom.
  private(set) var labels = LabelCandidates()
  let view: View
  package let options: PictureOptions
  private let transformer: any CoordinateTransformer
  private var painter = Painter()
  /// What is kept of the parts of the layer that is being drawn.
  private var shapes: [DrawnShapes] = []

  /// - Parameters:
  ///   - rasters: drawn between the layers, as their indexes say.
  ///   - check: called every few milliseconds; throws to cancel.
  package init(
    _ layers: [DrawnLayer], rasters: [DrawnRaster] = [], of view: View, in world: World, _ options: PictureOptions,
    _ check: CancellationCheck
  ) throws {
    (self.view, self.options, transformer) = (view, options, world.transformer)
    if !options.isNumbered, !options.isKept {
      if let ground = options.ground { drawImage(ground.backdrop(hasSky: options.hasSky), width: ground.width, of: ground) }
      if let hillshade = options.hillshade {
        let size = SIMD2(Float(view.screen.width), Float(view.screen.height))
        painter.words.image(hillshade.colors, width: hillshade.width, in: (.zero, size))
      }
    }
    var below = rasters[...]
    for (index, layer) in layers.enumerated() {
      while let raster = below.first, raster.index <= index {
        try draw(raster) { try check((Double(index) + $0) / Double(layers.count + 1)) }
        below.removeFirst()
      }
      objects.append(layer.object)
      if options.isOfLabels, !layer.hasLabels { continue }
      shapes = []
      let isFaded = layer.opacity < 1 && !options.isNumbered
      if isFaded { painter.words.beginGroup(opacity: Float(layer.opacity)) }
      do {
        func part(_ fraction: Double) throws { try check((Double(index) + fraction) / Double(layers.count)) }
        let tracks = try layer.tracks(in: world, checking: { try part(0) })
        for track in tracks.reversed() { try draw(track.layer, part) }
        try draw(layer, part)
        if options.isKept { kept[layer.object] = shapes.reversed() }
      } catch let error as TransformError {
        failed.append((layer.object, error))
      }
      if isFaded { painter.words.endGroup() }
    }
    for raster in below { try draw(raster) { try check((Double(layers.count) + $0) / Double(layers.count + 1)) } }
    guard !options.isNumbered, !options.isOfLabels, !options.isKept else { return }
    try options.graticule?.draw(on: view, transformer, ratio: options.ratio, over: options.ground, besides: options.panels, &painter)
    if options.hasLocation { try drawLocation(in: world) }
  }

  // MARK: Layers

  /// Pixels of an image, at most: a picture that is larger has coarser pixels in it.
  private static let imageLimit = 1 << 25

  /// Draws the samples of a scene's ground.
  private mutating func drawImage(_ colors: [UInt32], width: Int, of ground: SceneGround) {
    painter.words.image(colors, width: width, in: (.zero, SIMD2(Float(width), Float(ground.height)) / Float(ground.scale)))
  }

  private mutating func draw(_ raster: DrawnRaster, on ground: SceneGround, _ check: CancellationCheck) throws {
    guard let colors = try ground.image(of: raster, view, checking: check) else { return }
    if raster.opacity < 1 { painter.words.beginGroup(opacity: Float(raster.opacity)) }
    drawImage(colors, width: ground.width, of: ground)
    if raster.opacity < 1 { painter.words.endGroup() }
  }

  private mutating func draw(_ raster: DrawnRaster, _ check: CancellationCheck) throws {
    var ratio = options.ratio
    while view.screen.width * view.screen.height * ratio * ratio > Double(Self.imageLimit) { ratio /= 2 }
    do {
      if let ground = options.ground { return try draw(raster, on: ground, check) }
      guard let pixels = try raster.pixels(in: PixelFrame(of: view, pixelRatio: ratio), checking: check) else { return }
      painter.words.draw(pixels, ratio: ratio, opacity: raster.opacity)
    } catch let error as TransformError {
      failed.append((raster.object, error))
    } catch let error as ReadError where error != .cancelled {
      failed.append((raster.object, error))
    }
  }

  private mutating func draw(_ layer: DrawnLayer, _ check: CancellationCheck) throws {
    var view = view
    if options.isKept { shapes.append(DrawnShapes()) }
    if let ground = options.ground {
      // What is high above the ground may be seen before any other.
      guard let box = layer.store.rises ? ground.earth : ground.box else { return }
      view = view.covering(box)
    }
    let clusters = try layer.clusters { try check(0.3 * $0) }
    try withoutActuallyEscaping(check) { check in
      var search = try LayerSearch(layer, clusters, nil, view, transformer) { try check(0.3) }
      let rows = try search.candidates(transformer) { try check(0.3 + 0.2 * $0) }
      if options.isKept { shapes[shapes.count - 1].widen(to: search.reach) }
      let pen = Pen(search.area, view, ratio: options.ratio, on: options.ground)
      let drawsPlain = !options.isNumbered && !options.isKept && (!options.hasLabels || layer.labels.isEmpty) && pen.isSingle
      var last = -1
      var selected: [(shapes: [ScreenShape], symbol: Symbol, number: UInt32?)] = []
      for start in stride(from: 0, to: rows.count, by: 4096) {
        try check(0.5 + 0.4 * Double(start) / Double(rows.count))
        let shown = try search.shown(Array(rows[start..<min(start + 4096, rows.count)]))
        let places = try search.area.transform.map { try search.positions(of: shown, $0) }
        let seen = try pen.points(of: shown, in: layer.store, at: places)
        for (index, row) in shown.enumerated() {
          guard let feature = layer.store[row], feature.isVisible else { continue }
          let point = feature.point.map { places.map { $0[index] } ?? SIMD2($0.x, $0.y) }
          // Most pictures are mostly of points with few symbols.
          if drawsPlain, let point, !feature.isSelected, let number = layer.symbols.shared(by: feature) {
            guard number >= 0, let place = seen == nil ? pen.point(at: point) : seen?[index] else { continue }
            if number != last {
              guard let symbol = search.symbols.symbol(of: feature, layer) else { continue }
              painter.draw(symbol, at: place)
              last = symbol.isMarker ? number : -1
            } else {
              painter.words.point(place)
            }
            continue
          }
          last = -1
          let shapes =
            if let point {
              try (seen.map { [$0[index]].compactMap { $0 } } ?? pen.points(at: point)).map { ScreenShape(points: [$0]) }
            } else {
              try pen.shapes(of: feature) { try check(0.5) }
            }
          guard !shapes.isEmpty else { continue }
          let symbol = search.symbols.symbol(of: feature, layer)
          if options.isKept {
            for shape in shapes { self.shapes[self.shapes.count - 1].add(row, shape) }
          }
          let color = feature.isSelected && options.hasSelection && !options.isNumbered ? layer.selectionColor : nil
          draw(shapes, symbol, id: feature.id, selected: point == nil ? nil : color)
          // Neighbours that are drawn later would cover half of the line.
          if point == nil, color != nil, !options.isKept, let symbol { selected.append((shapes, symbol, painter.number)) }
          guard options.hasLabels, !options.isNumbered, !layer.labels.isEmpty else { continue }
          collect(shapes, symbol, id: feature.id, layer.labels.labels(of: feature).map { $0.scaled(by: layer.symbolScale) })
        }
      }
      if let color = layer.selectionColor {
        for each in selected {
          painter.number = each.number
          for shape in each.shapes { painter.drawSelection(of: each.symbol, shape, color) }
        }
      }
      try clusters?.forEachItem(selectionColor: layer.selectionColor, checking: { try check(0.9 + 0.1 * $0) }) { item in
        guard case .point(let point?) = item.geometry, let place = try search.area.place(of: point) else { return }
        let shapes = try pen.points(at: place).map { ScreenShape(points: [$0]) }
        if options.isKept, let row = layer.store.row(of: item.id), let symbol = item.symbol {
          for shape in shapes { self.shapes[self.shapes.count - 1].add(cluster: row, shape, symbol) }
        }
        draw(shapes, item.symbol, id: item.id, selected: options.hasSelection && !options.isNumbered ? item.selectionColor : nil)
        if options.hasLabels, !options.isNumbered { collect(shapes, item.symbol, id: item.id, item.labels) }
      }
    }
  }

  private mutating func draw(_ shapes: [ScreenShape], _ symbol: Symbol?, id: Int, selected: Color?) {
    guard let symbol, !options.isKept else { return }
    if options.isNumbered {
      items.append(Item(object: objects.count - 1, id: id))
      painter.number = UInt32(items.count)
    }
    for shape in shapes {
      painter.draw(symbol, shape)
      if let selected { painter.drawSelection(of: symbol, shape, selected) }
    }
  }

  /// Collects the labels of a feature.
  private mutating func collect(_ shapes: [ScreenShape], _ symbol: Symbol?, id: Int, _ labels: [Label]) {
    for label in labels {
      for shape in shapes { self.labels.add(objects.count - 1, id, label, shape, reach: Float(symbol?.reach ?? 0)) }
    }
  }

  // MARK: The location

  /// The location of the view's display: how exact it is, and where it goes.
  private mutating func drawLocation(in world: World) throws {
    let source = world.locationDisplay(of: view).source.flatMap { world.locationSources[$0] }
    guard let location = source?.location, let position = location.position,
      let transform = try? MapTransform(from: .wgs84, to: view.reference.reference, transformer)
    else { return }
    var values = [position.x, position.y]
    guard (try? transform.transform(&values)) != nil else { return }
    let center: SIMD2<Float>
    if let ground = options.ground {
      guard let place = try ground.point(at: SIMD2(values[0], values[1])) else { return }
      center = place
    } else {
      let point = view.screenPoint(nearest: Point(x: values[0], y: values[1]))
      guard abs(point.x) < 1e5, abs(point.y) < 1e5 else { return }
      center = SIMD2(Float(point.x), Float(point.y))
    }
    let blue = Color(red: 0x1E, green: 0x6F, blue: 0xD9)
    // A map of Mercator is larger than its scale says by the secant of the latitude.
    let stretch = view.reference.reference == .webMercator ? 1 / max(0.01, cos(position.y * .pi / 180)) : 1
    let radius = location.horizontalAccuracy * stretch / view.camera.scale * view.screen.dpi / 0.0254
    // In perspective the circle would be a shape of its own.
    if radius > 8, radius < 1e5, options.ground == nil {
      let ring = (0..<120).map { step in
        let angle = Double(step) * .pi / 60
        return center + SIMD2(Float(radius * cos(angle)), Float(radius * sin(angle)))
      }
      let outline = SimpleLineSymbol(color: blue.faded(0.6), width: 1)
      painter.draw(.simpleFill(SimpleFillSymbol(color: blue.faded(0.15), outline: outline)), ScreenShape(areas: [[ring]]))
    }
    let outline = SimpleLineSymbol(color: Color(red: 255, green: 255, blue: 255), width: 2)
    guard let course = location.course, location.speed ?? 0 > 0 else {
      return painter.draw(.simpleMarker(SimpleMarkerSymbol(style: .circle, color: blue, size: 14, outline: outline)), at: center)
    }
    // Long and notched: of an equilateral triangle nobody sees where it points.
    let turn = (course + view.camera.rotation) * .pi / 180
    let arrow = [(0.0, -13.0), (8, 9), (0, 4), (-8, 9)].map { x, y in
      center + SIMD2(Float(x * cos(turn) - y * sin(turn)), Float(x * sin(turn) + y * cos(turn)))
    }
    painter.draw(.simpleFill(SimpleFillSymbol(color: blue, outline: outline)), ScreenShape(areas: [[arrow]]))
  }

  // MARK: Labels

  /// Draws what is above the map.
  mutating func paint(_ body: (inout Painter) -> Void) { body(&painter) }

  /// The number of labels that found no room, if these did.
  package func omittedCount(_ placed: [PlacedLabel]) -> Int {
    let drawn = Set(placed.map { LabelKey(object: $0.object, id: $0.id, definition: $0.definition) })
    return labels.leftOut.union(labels.list.map(\.key)).subtracting(drawn).count
  }

  /// Draws placed labels above everything.
  package mutating func draw(_ labels: [PlacedLabel]) {
    for label in labels {
      if options.isNumbered {
        items.append(Item(object: label.object, id: label.id, isLabel: true))
        painter.number = UInt32(items.count)
      }
      painter.begin(label.symbol)
      if let line = label.line {
        painter.words.text(label.symbol.text.string, along: line)
      } else {
        painter.words.text(label.symbol.text.string, at: label.center, angle: label.angle, Anchor(.center, .middle))
      }
    }
  }
}
