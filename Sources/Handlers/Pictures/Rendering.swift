// A picture of layers and overlays: drawn by a worker from a snapshot, painted by a process, answered or written to a file.

import Drawing
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Pictures
import Planning
import Readers
import WireCoding

/// What is drawn, on which screen.
struct Rendering: Sendable {
  typealias Params = PictureProtocol.PictureOutput

  let world: World
  /// With the screen of the picture.
  let view: View
  let background: Color?
  let hasLocation: Bool
  /// Whether the fences of monitors are drawn.
  var hasFences = false
  /// What is drawn, in drawing order.
  let layers: @Sendable (World) throws -> [DrawnLayer]
  var rasters: @Sendable (World) throws -> [DrawnRaster] = { _ in [] }
  /// Whether a scene is drawn as its camera sees it.
  var isPerspective = false

  private static let pickLimit = 1 << 22

  // MARK: What is drawn

  /// A view.
  ///
  /// - Parameters:
  ///   - width: that of the view's screen if nil.
  ///   - height: likewise.
  init(_ id: ViewID, width: Double?, height: Double?, hasLocation: Bool, in world: World) throws(ModelError) {
    let view = try world.views.require(id)
    self.world = world
    self.view = view.resized(width: width ?? view.screen.width, height: height ?? view.screen.height)
    background = try world.content(of: view.content).backgroundColor
    self.hasLocation = hasLocation
    layers = { try ViewSnapshot(of: id, in: $0).layers }
    rasters = { try ViewSnapshot(of: id, in: $0).rasters }
  }

  /// Something that is in no view, on a map that is made for it.
  ///
  /// - Parameters:
  ///   - width: of the picture, in device-independent pixels.
  ///   - target: the reference of the map.
  ///   - reference: of what is drawn.
  ///   - asked: the box to be seen, in the target; nil for the extent.
  ///   - hasTitle: whether room is left at the top.
  ///   - extent: of what is drawn; nil if there is nothing.
  ///   - layers: what is drawn in a view.
  init(
    width: Double, height: Double, in target: SpatialReference, box asked: Envelope? = nil, hasTitle: Bool, _ reference: SpatialReference,
    _ extent: Envelope?, of world: World, _ layers: @escaping @Sendable (View, World) throws -> [DrawnLayer]
  ) throws {
    var padding = Insets(0.05 * min(width, height))
    if hasTitle { padding.top = min(padding.top + PictureLayout.titleRoom, height / 3) }
    let viewpoint: ViewpointTarget? =
      if let asked {
        .boundingBox(asked, padding: Insets(), rotation: nil, reference: target)
      } else if let extent, extent.width > 0 || extent.height > 0 {
        .boundingBox(extent, padding: padding, rotation: nil, reference: reference)
      } else if let extent {
        .centerAndScale(center: extent.center, scale: 10_000, rotation: nil, reference: reference)
      } else {
        nil
      }
    var scratch = world
    let map = try scratch.createMap(id: nil, title: nil, reference: target)
    let view = try scratch.createView(
      id: nil, over: .map(map.id), screen: Screen(width: width, height: height), viewpoint: viewpoint)
    (self.world, self.view, background, hasLocation) = (world, view, nil, false)
    self.layers = { try layers(view, $0) }
  }

  init(
    _ params: some PictureProtocol.PictureExtent & Params, _ reference: SpatialReference, _ extent: Envelope?, in world: World,
    _ layers: @escaping @Sendable (View, World) throws -> [DrawnLayer]
  ) throws {
    try self.init(
      width: params.width, height: params.height, in: try world.canonical(params.spatialReference) ?? reference,
      box: params.extent.map { Wire.envelope($0) }, hasTitle: params.layout?.title?.isEmpty == false, reference, extent, of: world, layers)
  }

  /// A task that draws it.
  ///
  /// - Parameter part: writes a part of the result, with a piece of the picture in base64.
  func plan<R: Sendable>(
    _ params: some Params & Sendable, isStreamed: Bool, part: @escaping @Sendable (String) -> JSONOpaque,
    _ result: @escaping @Sendable (Int, PictureProtocol.Picture) -> R
  ) throws -> Plan<R> {
    let job = try self.job(params)
    return TaskPlan(parts: { worker in
      let (picture, data) = try draw(params, job, isStreamed: isStreamed, worker, WorkShare(worker.work))
      let result = result(world.revision, picture)
      return data.map { Self.next(of: $0, part, result) } ?? .answer(result)
    })
  }

  /// The bytes of a part: a message of it is within 1 MiB, and without padding in base64.
  private static let partBytes = 3 << 18

  /// The step that sends the bytes of a picture from one on.
  static func next<R: Sendable>(
    of picture: PaintedPicture, from start: Int = 0, _ part: @escaping @Sendable (String) -> JSONOpaque, _ result: R
  ) -> Plan<R>.Step {
    guard start < picture.byteCount else { return .answer(result) }
    let end = min(start + partBytes - 3072, picture.byteCount)
    let text = picture.withBytes { String(decoding: Base64.encode(UnsafeRawBufferPointer(rebasing: $0[start..<end])), as: UTF8.self) }
    return .part(part(text)) { _ in next(of: picture, from: end, part, result) }
  }

  /// Throws if the picture would be too large.
  func job(_ params: some Params) throws -> PictureJob {
    let background =
      params.transparent ? nil : params.background.map { Wire.color($0) } ?? background ?? Color(red: 255, green: 255, blue: 255)
    let isPixels = try params.pictureFormat == .png
    let format: PictureFormat =
      switch try params.pictureFormat {
      case .png: .png
      case .svg: .svg
      case .pdf: .pdf
      }
    let job = PictureJob(
      format, width: view.screen.width, height: view.screen.height, ratio: isPixels ? params.pixelRatio : 1,
      background: background?.word ?? 0)
    let (width, height) = job.pixels
    guard job.isPaintable, !params.pick || width * height <= Self.pickLimit else {
      let expected = params.pick ? "at most 4,194,304 pixels" : "at most 16,384 pixels each way, and 268,435,456 in all"
      throw RPCError(
        .pictureTooLarge, "A picture of \(width) x \(height) pixels is too large.", path: "/params/pixelRatio", expected: expected
      ).with("width", width).with("height", height)
    }
    return job
  }

  // MARK: Drawing

  private func options(_ params: some Params, isNumbered: Bool = false) throws -> PictureOptions {
    var options = PictureOptions()
    options.ratio = try params.pictureFormat == .png ? params.pixelRatio : 4
    (options.hasLabels, options.hasSelection) = (params.labels, params.selection)
    (options.hasLocation, options.isNumbered) = (hasLocation, isNumbered)
    if let graticule = params.layout?.graticule {
      options.graticule = Graticule(interval: graticule.interval, color: Wire.color(graticule.color))
    }
    return options
  }

  /// What a scene's camera sees of the ground, or the shaded ground from above.
  func addGround(
    to options: inout PictureOptions, ratio: Double, hasSky: Bool, _ worker: Worker, _ share: WorkShare
  ) throws {
    guard let (perspective, surface) = view.perspective(in: world) else { return }
    let isCancelled: @Sendable () -> Bool = { worker.isCancelled }
    do {
      if isPerspective {
        options.ground = try SceneGround(
          perspective, surface, ratio: ratio, world.transformer, isCancelled: isCancelled, checking: share.checkpoint)
        options.hasSky = hasSky
      } else if !options.isOfLabels {
        options.hillshade = try surface.hillshade(
          of: view, ratio: ratio, world.transformer, isCancelled: isCancelled, checking: share.checkpoint)
      }
    } catch {
      try worker.checkCancelled()
      throw error
    }
  }

  /// The elevation sources of a scene that are not loaded.
  private var undrawnSources: [PictureProtocol.UndrawnLayer] {
    (view.perspective(in: world)?.surface.elevationSources ?? []).compactMap { source in
      source.failure.map { .init(elevationSource: source.id, error: Wire.failure($0)) }
    }
  }

  private static func layout(_ params: PictureProtocol.PictureLayout) -> PictureLayout {
    var layout = PictureLayout()
    (layout.title, layout.attribution) = (params.title, params.attribution)
    (layout.hasLegend, layout.hasScaleBar, layout.hasNorthArrow) = (params.legend, params.scaleBar, params.northArrow)
    return layout
  }

  /// What is painted.
  struct Content {
    let layers: [DrawnLayer]
    let labels: [PlacedLabel]
    let picture: ViewPicture
    var words: PictureWriter { picture.words }
    var omittedCount: Int { picture.omittedCount(labels) }
  }

  /// - Parameter title: in place of that of the layout.
  func content(_ params: some Params, title: String? = nil, _ worker: Worker, _ share: WorkShare) throws -> Content {
    let shares = share.split(by: 5, 1)
    let layers = try layers(world)
    let beforeShares = shares[0].split(by: hasFences ? 1 : 0, view.perspective(in: world) == nil ? 0 : 2, 4)
    let drawn = layers + (hasFences ? try fences(worker, beforeShares[0]) : [])
    let rasters = try rasters(world)
    var asked = params.layout.map(Self.layout)
    if let title {
      if asked == nil { asked = PictureLayout() }
      asked?.title = title
    }
    let layout = try asked.map { layout in
      try LayoutDrawing(layout, drawn, rasters, of: view, in: world, checking: { try worker.checkCancelled() }) { try worker.measure($0) }
    }
    var options = try options(params)
    options.panels = layout?.panels ?? []
    try addGround(
      to: &options, ratio: params.pictureFormat == .png ? params.pixelRatio : 1, hasSky: !params.transparent, worker, beforeShares[1])
    var picture = try ViewPicture(drawn, rasters: rasters, of: view, in: world, options, beforeShares[2].checkpoint)
    let labels = try picture.placedLabels(besides: options.panels, measuredBy: worker.meter) {
      try shares[1].checkpoint(0.5)
    }
    picture.draw(labels)
    layout?.draw(to: &picture)
    return Content(layers: layers, labels: labels, picture: picture)
  }

  func draw(
    _ params: some Params, _ job: PictureJob, isStreamed: Bool = false, _ worker: Worker, _ share: WorkShare
  ) throws -> (picture: PictureProtocol.Picture, data: PaintedPicture?) {
    // Refused before anything is drawn.
    let target = try params.path.map { try PictureFile(worker.files.path($0), replaces: params.replace, worker) }
    let shares = share.split(by: 6, 4)
    let content = try content(params, worker, shares[0])
    try shares[1].checkpoint(0)
    let painted = try worker.paint(job, content.words)
    let pick = params.pick ? try picked(params, job, content, worker) : nil
    let (width, height) = job.pixels
    let isAnswered = target == nil && !isStreamed
    if isAnswered, 4 * painted.byteCount / 3 + 4096 > worker.work.resultBytes {
      throw RPCError.resultTooLarge(limit: worker.work.resultBytes)
    }
    let path = try target?.write(painted)
    let failed = content.picture.failed.filter { failed in
      failed.object.collection != .overlays || content.layers.contains { $0.object == failed.object }
    }.map(Self.undrawn) + undrawnSources
    let picture = try PictureProtocol.Picture(
      format: params.pictureFormat, width: width, height: height, bytes: painted.byteCount,
      data: isAnswered ? text(of: painted) : nil, path: path, labelCount: content.labels.count,
      omittedLabelCount: content.omittedCount, missingGlyphCount: painted.notes.missingGlyphs,
      failed: failed.isEmpty ? nil : failed, pick: pick)
    return (picture, target == nil && isStreamed ? painted : nil)
  }

  private func text(of picture: PaintedPicture) -> String {
    String(decoding: picture.withBytes { Base64.encode($0) }, as: UTF8.self)
  }

  private static func undrawn(_ object: ObjectReference, _ error: any Error) -> PictureProtocol.UndrawnLayer {
    let (layer, overlay) = object.ids
    return .init(layer: layer, overlay: overlay, error: Wire.failure((RPCError(error, in: nil, at: "") ?? .internalError("\(error)")).failure))
  }

  private func picked(
    _ params: some Params, _ job: PictureJob, _ content: Content, _ worker: Worker
  ) throws -> PictureProtocol.PickedItems {
    var options = try options(params, isNumbered: true)
    options.ground = content.picture.options.ground
    var picture = try ViewPicture(content.layers, of: view, in: world, options) { _ in try worker.checkCancelled() }
    picture.draw(content.labels)
    var job = job
    (job.format, job.background) = (.items, 0)
    let painted = try worker.paint(job, picture.words)
    return .init(
      pixels: text(of: painted),
      items: picture.items.map { item in
        let (layer, overlay) = picture.objects[item.object].ids
        return .init(layer: layer, overlay: overlay, id: item.id, part: item.isLabel ? .label : nil)
      })
  }

  // MARK: Labels

  /// A task that places the labels.
  func plan(
    _ result: @escaping @Sendable (Int, PictureProtocol.TextMetrics, [PictureProtocol.PlacedLabel], Int) -> ViewProtocol.Labels.Result
  ) -> Plan<ViewProtocol.Labels.Result> {
    TaskPlan(result: { worker in
      let share = WorkShare(worker.work)
      var options = PictureOptions()
      options.isOfLabels = true
      try addGround(to: &options, ratio: 1, hasSky: false, worker, share)
      let picture = try ViewPicture(try layers(world), of: view, in: world, options, share.checkpoint)
      let labels = try picture.placedLabels(measuredBy: worker.meter) { try share.checkpoint(1) }
      return result(
        world.revision, worker.textMetrics, labels.map { Self.wire($0, of: picture.objects[$0.object]) }, picture.omittedCount(labels))
    })
  }

  private static func wire(_ label: PlacedLabel, of object: ObjectReference) -> PictureProtocol.PlacedLabel {
    let (layer, overlay) = object.ids
    func point(_ place: SIMD2<Float>) -> ViewProtocol.ScreenPoint { .init(x: Double(place.x), y: Double(place.y)) }
    return .init(
      layer: layer, overlay: overlay, id: label.id, definition: label.definition, text: label.symbol.text.string,
      center: point(label.center), width: Double(label.size.x), height: Double(label.size.y), angle: Double(label.angle),
      line: label.line?.map(point), symbol: Wire.symbol(.text(label.symbol)))
  }
}

extension PictureProtocol.PictureOutput {
  /// The format that is named, or else that of the file's extension.
  var pictureFormat: PictureProtocol.PictureFormat {
    get throws(RPCError) {
      if let format { return format }
      guard let path, case let ending = path.stemAndExtension.extension, !ending.isEmpty else { return .png }
      guard let format = PictureProtocol.PictureFormat(rawValue: ending) else {
        throw RPCError(
          .unknownFormat, "The extension of \(path.prefix(200)) is that of no format; `format` names one.", path: "/params/path",
          expected: "`.png`, `.svg`, `.pdf`")
      }
      return format
    }
  }
}

extension ObjectReference {
  /// The id of a layer, or else of an overlay.
  fileprivate var ids: (layer: String?, overlay: String?) {
    collection == .overlays ? (nil, id) : (id, nil)
  }
}

/// A file for a picture, which appears when it is complete.
struct PictureFile {
  private let target: HeldName
  private let replaces: Bool
  private let worker: Worker

  init(_ path: String, replaces: Bool, _ worker: Worker) throws(RPCError) {
    target = try worker.files.policy.resolveForWriting(path)
    (self.replaces, self.worker) = (replaces, worker)
    if !replaces, target.identity != nil { throw RPCError(fileExists: target.path, unless: "replace: true") }
  }

  /// The absolute path.
  var path: String { target.path }

  func begin() throws(RPCError) -> AtomicFile { try AtomicFile.begin(replacing: target) }

  /// - Parameter isLast: whether the task does no more after this.
  /// - Returns: the absolute path.
  func write(_ picture: PaintedPicture, isLast: Bool = true) throws -> String {
    let file = try begin()
    try picture.withBytes { bytes throws(RPCError) in try file.append(bytes) }
    try file.commit(replaces: replaces, for: isLast ? worker : nil)
    return path
  }
}

extension Worker {
  /// Where the sizes of texts come from.
  var textMetrics: PictureProtocol.TextMetrics { hasFonts && readers.painters.isAvailable ? .fonts : .estimated }

  func measure(_ words: PictureWriter) throws -> [TextSize] {
    guard textMetrics == .fonts else { return TextSize.estimates(words) }
    do throws(PaintError) { return try readers.painters.measure(words.words, isCancelled: { isCancelled }) } catch {
      if case .unavailable = error { return TextSize.estimates(words) }
      try checkCancelled()
      throw RPCError(error)
    }
  }

  func paint(_ job: PictureJob, _ words: PictureWriter) throws -> PaintedPicture {
    do throws(PaintError) { return try readers.painters.paint(job, words.words, isCancelled: { isCancelled }) } catch {
      try checkCancelled()
      throw RPCError(error)
    }
  }
}
