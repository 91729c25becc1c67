// A map series: a page for each feature of a layer, as one PDF or a file for each page.

import Drawing
import FeatureStore
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Pictures
import Planning
import Readers
import Reading
import WireCoding

struct MapSeries: Sendable {
  /// Pages, at most.
  private static let limit = 1000

  /// That of the world that is drawn.
  let revision: Int
  /// With the view on the screen of a page.
  private let world: World
  private let params: ViewProtocol.RenderSeries.Params
  private let path: String
  private let view: ViewID
  private let screen: Screen
  private let features: FeatureQuery
  private let terms: [SortTerm]
  private let title: LabelDefinition?
  private let job: PictureJob

  /// What a page shows.
  private struct Page {
    let id: Int
    let extent: Envelope
    let title: String?
  }

  init(_ params: ViewProtocol.RenderSeries.Params, in world: World) throws {
    guard let path = params.path else {
      throw RPCError(.invalidParams, "A series has no file.", path: "/params/path", expected: "the path of a file")
    }
    guard !params.pick else {
      throw RPCError(.invalidParams, "A series answers no pixels.", path: "/params/pick", expected: "false")
    }
    (self.params, self.path, view, revision) = (params, path, ViewID(params.view), world.revision)
    features = try FeatureQuery(params, in: world)
    terms = try features.terms(params.orderBy)
    title = try params.titleExpression.map { [features] text in
      let expression = try Wire.parsed(text, at: "/params/titleExpression")
      _ = try world.condition(
        expression, as: .value, over: features.store.schema, in: features.reference, at: "/titleExpression")
      return LabelDefinition(expression: expression, symbol: TextSymbol(size: 10))
    }
    var resized = world
    var screen = try world.views.require(view).screen
    (screen.width, screen.height) = (params.width ?? screen.width, params.height ?? screen.height)
    try resized.resizeView(view, [MemberChange(.width, screen.width), MemberChange(.height, screen.height)])
    (self.world, self.screen) = (resized, screen)
    // Refused before anything is searched.
    job = try Rendering(view, width: nil, height: nil, hasLocation: params.location, in: resized).job(params)
  }

  // MARK: Pages

  private func pages(_ share: WorkShare) throws -> [Page] {
    let found = try features.computedPage(terms, offset: 0, limit: .max, share)
    let store = found.features.store
    let titles = BoundLabels(
      title.map { [$0] } ?? [], scale: nil, schema: store.schema, by: world.conventions(at: ObjectReference(.views, view.rawValue)))
    var pages: [Page] = []
    for row in found.page {
      guard let feature = store[row], let extent = feature.envelope else { continue }
      guard pages.count < Self.limit else {
        throw RPCError(.outOfRange, "The series would have more than \(Self.limit) pages.", path: "/params", expected: "fewer features")
      }
      pages.append(Page(id: feature.id, extent: extent, title: titles.labels(of: feature).first?.symbol.text.string))
    }
    guard !pages.isEmpty else {
      throw RPCError(.outOfRange, "The series would have no page.", path: "/params", expected: "a feature with a geometry")
    }
    return pages
  }

  /// The view on a page.
  private func rendering(of page: Page) throws -> Rendering {
    var world = world
    let extent = page.extent
    var padding = Insets(params.margin * min(screen.width, screen.height))
    if page.title != nil || params.layout?.title?.isEmpty == false { padding.top = min(padding.top + PictureLayout.titleRoom, screen.height / 2) }
    let target: ViewpointTarget =
      if params.scale == nil, extent.width > 0 || extent.height > 0 {
        .boundingBox(extent, padding: padding, rotation: nil, reference: features.reference)
      } else {
        .centerAndScale(
          center: extent.center, scale: try params.scale ?? world.views.require(view).camera.scale, rotation: nil,
          reference: features.reference)
      }
    _ = try world.setViewpoint(of: view, to: target)
    var rendering = try Rendering(view, width: nil, height: nil, hasLocation: params.location, in: world)
    rendering.hasFences = params.fences
    return rendering
  }

  func draw(_ worker: Worker) throws -> PictureProtocol.PictureSeries {
    let shares = WorkShare(worker.work).split(by: 1, 19)
    let pages = try pages(shares[0])
    return try job.format == .pdf ? book(pages, worker, shares[1]) : files(pages, worker, shares[1])
  }

  /// Calls `body` with what each page shows.
  private func each(
    _ pages: [Page], _ worker: Worker, _ share: WorkShare, _ body: (Int, Rendering.Content) throws -> Void
  ) throws {
    for (index, (page, share)) in zip(pages, share.split(by: pages.map { _ in 1 })).enumerated() {
      try share.checkpoint(0)
      let content = try rendering(of: page).content(params, title: page.title, worker, share.split(by: 3, 2)[0])
      // The result of a series names no layers that are missing.
      for case (_, let error as ReadError) in content.picture.failed { throw error }
      try body(index, content)
    }
  }

  private func series(
    _ pages: [Page], bytes: Int, missing: Int, path: String?, paths: [String]
  ) throws -> PictureProtocol.PictureSeries {
    let (width, height) = job.pixels
    return try .init(
      format: params.pictureFormat, width: width, height: height, bytes: bytes, path: path,
      pages: pages.enumerated().map { .init(id: $1.id, title: $1.title, path: paths.isEmpty ? nil : paths[$0]) },
      missingGlyphCount: missing)
  }

  // MARK: Files

  /// One PDF, written page by page.
  private func book(_ pages: [Page], _ worker: Worker, _ share: WorkShare) throws -> PictureProtocol.PictureSeries {
    let target = try PictureFile(worker.files.path(path), replaces: params.replace, worker)
    let file = try target.begin()
    var missing = 0
    do {
      let painter = try worker.readers.painters.pages(job)
      try each(pages, worker, share) { index, content in
        let painted = try painter.paint(content.words.words, isLast: index == pages.count - 1) { worker.isCancelled }
        missing += painted.notes.missingGlyphs
        try painted.withBytes { bytes throws(RPCError) in try file.append(bytes) }
      }
    } catch let error as PaintError {
      try worker.checkCancelled()
      throw RPCError(error)
    }
    let bytes = file.size
    try file.commit(replaces: params.replace, for: worker)
    return try series(pages, bytes: bytes, missing: missing, path: target.path, paths: [])
  }

  /// A file for each page, whose number is before the extension.
  private func files(_ pages: [Page], _ worker: Worker, _ share: WorkShare) throws -> PictureProtocol.PictureSeries {
    let path = try worker.files.path(path)
    let digits = String(pages.count).count
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let name = path[folder.endIndex...]
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
    let targets = try pages.indices.map { index in
      let number = String(index + 1)
      let page = folder + stem + "-" + String(repeating: "0", count: digits - number.count) + number + name[stem.endIndex...]
      return try PictureFile(page, replaces: params.replace, worker)
    }
    var (bytes, missing) = (0, 0)
    try each(pages, worker, share) { index, content in
      let painted = try worker.paint(job, content.words)
      bytes += painted.byteCount
      missing += painted.notes.missingGlyphs
      _ = try targets[index].write(painted, isLast: index == pages.count - 1)
    }
    return try series(pages, bytes: bytes, missing: missing, path: nil, paths: targets.map(\.path))
  }
}
