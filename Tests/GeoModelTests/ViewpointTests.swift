// Viewpoints of both kinds, as set or as computed by hand at 96 dpi; screen points and map positions.

import GeoModel
import Geometry
import Testing

/// Metres per pixel at scale 1 and 96 dpi: 0.0254 / 96.
private let pixel = 0.000_264_583_333_333_333_3

private func isClose(_ left: Double, _ right: Double, _ within: Double = 1e-6) -> Bool { abs(left - right) <= within }

struct ViewpointTests {
  private var world = World.manual()

  @Test mutating func `a viewpoint of either kind is returned exactly as set`() throws {
    let id = try world.makeView()
    let point = Viewpoint.centerAndScale(
      center: Point(x: 2.351_234_567_89, y: 48.860_987_654_321), scale: 12_345.678_9, rotation: 33.3, reference: .wgs84)
    try world.run {
      try $0.setViewpoint(of: id, to: .at(2.351_234_567_89, 48.860_987_654_321, scale: 12_345.678_9, rotation: 33.3))
    }
    #expect(try world.view(id).viewpoint(as: .centerAndScale, in: nil, proj) == point)
    #expect(try world.view(id).viewpoint(as: .centerAndScale, in: .wgs84, proj) == point)

    let shape = Geometry.lineString(Positions(values: [0.1, 0.2, 7.7, 5.5]))
    try world.run {
      try $0.setViewpoint(of: id, to: .boundingGeometry(shape, padding: 20, rotation: 370, reference: .wgs84))
    }
    #expect(
      try world.view(id).viewpoint(as: .boundingGeometry, in: nil, proj)
        == .boundingGeometry(shape, rotation: 10, reference: .wgs84))
    // Asking for the other kind computes it, and changes nothing.
    #expect(try world.view(id).viewpoint(as: .centerAndScale, in: nil, proj).kind == .centerAndScale)
    #expect(try world.view(id).viewpoint.kind == .boundingGeometry)
  }

  @Test mutating func `scale and extent follow from size and dpi`() throws {
    let id = try world.makeView(viewpoint: .mercator(1000, 2000, scale: 100_000))
    // A pixel is 26.458333 m: 800 of them 21,166.6667 m, 600 of them 15,875 m.
    guard
      case .boundingGeometry(let shape, 0, .webMercator) = try world.view(id).viewpoint(
        as: .boundingGeometry, in: nil, proj)
    else {
      Issue.record("a box in the reference of the center")
      return
    }
    let box = try #require(shape.envelope)
    #expect(isClose(box.width, 21_166.666_667, 1e-4))
    #expect(isClose(box.height, 15_875, 1e-4))
    #expect(isClose(box.center.x, 1000))
    #expect(isClose(box.center.y, 2000))

    // 42,333.3333 m over 800 pixels is 200,000; 15,875 m over 600 only 100,000: the larger ratio decides.
    try world.run { try $0.setViewpoint(of: id, to: .box(0, 0, 42_333.333_333_333_336, 15_875)) }
    #expect(isClose(try world.view(id).camera.scale, 200_000, 1e-3))
    try world.run { try $0.setViewpoint(of: id, to: .box(0, 0, 21_166, 31_750)) }
    #expect(isClose(try world.view(id).camera.scale, 200_000, 1e-3))
    #expect(isClose(try world.view(id).camera.x, 10_583))
    #expect(isClose(try world.view(id).camera.y, 15_875))
  }

  @Test mutating func `twice the dpi halves the ground per pixel`() throws {
    let id = try world.makeView(
      screen: Screen(width: 800, height: 600, dpi: 192), viewpoint: .mercator(0, 0, scale: 100_000))
    #expect(isClose(try #require(try world.view(id).visibleArea.points.first).x, -400 * 100_000 * pixel / 2, 1e-4))
  }

  @Test mutating func `on a map in degrees one degree is a 360th of the equator`() throws {
    let id = try world.makeView(in: .wgs84, viewpoint: .at(10, 20, scale: 1_000_000))
    // 264.583333 m per pixel, 400 pixels: 105,833.333 m, at 111,319.490793 m per degree.
    let corner = try #require(try world.view(id).visibleArea.points.first)
    #expect(isClose(corner.x, 10 - 105_833.333_333_33 / 111_319.490_793, 1e-9))
    #expect(isClose(corner.y, 20 - 300 * 1_000_000 * pixel / 111_319.490_793, 1e-9))
  }

  @Test mutating func `Web Mercator's scale is not corrected for latitude`() throws {
    let id = try world.makeView(viewpoint: .at(0, 60, scale: 100_000))
    let area = try world.view(id).visibleArea.points
    #expect(isClose(area[1].x - area[0].x, 800 * 100_000 * pixel, 1e-4))
  }

  @Test mutating func `padding leaves a margin on each side`() throws {
    // 700 of 800 pixels for 7,000 m, 500 of 600 for 1,000 m: 10 m per pixel.
    let id = try world.makeView(viewpoint: .box(0, 0, 7000, 1000, padding: 50))
    let view = try world.view(id)
    #expect(isClose(view.camera.scale, 10 / pixel, 1e-3))
    let left = view.screenPoint(of: Point(x: 0, y: 500))
    let right = view.screenPoint(of: Point(x: 7000, y: 500))
    #expect(isClose(left.x, 50) && isClose(left.y, 300))
    #expect(isClose(right.x, 750))
  }

  @Test mutating func `a single position keeps the scale, and an empty geometry is refused`() throws {
    let id = try world.makeView(viewpoint: .mercator(0, 0, scale: 5000))
    try world.run {
      try $0.setViewpoint(
        of: id, to: .boundingGeometry(.point(Point(x: 7, y: 8)), padding: 0, rotation: nil, reference: .webMercator))
    }
    let camera = try world.view(id).camera
    #expect(camera.x == 7 && camera.y == 8 && camera.scale == 5000)
    #expect(throws: ModelError.emptyGeometry) {
      try world.run {
        try $0.setViewpoint(
          of: id, to: .boundingGeometry(.collection([]), padding: 0, rotation: nil, reference: .wgs84))
      }
    }
  }

  @Test mutating func `setting one component keeps the others`() throws {
    let id = try world.makeView(viewpoint: .at(2, 48, scale: 5000, rotation: 30))
    func viewpoint() throws -> Viewpoint { try world.view(id).viewpoint }
    try world.run { try $0.setViewpoint(of: id, to: .scale(700)) }
    #expect(try viewpoint() == .centerAndScale(center: Point(x: 2, y: 48), scale: 700, rotation: 30, reference: .wgs84))
    try world.run { try $0.setViewpoint(of: id, to: .rotation(-90)) }
    #expect(
      try viewpoint() == .centerAndScale(center: Point(x: 2, y: 48), scale: 700, rotation: 270, reference: .wgs84))
    try world.run { try $0.setViewpoint(of: id, to: .center(Point(x: 3, y: 4), reference: .webMercator)) }
    #expect(
      try viewpoint() == .centerAndScale(center: Point(x: 3, y: 4), scale: 700, rotation: 270, reference: .webMercator))
    try world.run { try $0.setViewpoint(of: id, to: .at(5, 6, scale: 800)) }
    #expect(try viewpoint() == .centerAndScale(center: Point(x: 5, y: 6), scale: 800, rotation: 270, reference: .wgs84))
  }

  @Test(arguments: [(-90.0, 270.0), (360, 0), (720.5, 0.5), (-0.25, 359.75), (-360, 0), (180, 180)])
  mutating func `rotation is kept in 0 to 360`(given: Double, kept: Double) throws {
    let id = try world.makeView(viewpoint: .at(0, 0, scale: 1000, rotation: given))
    guard case .centerAndScale(_, _, let rotation, _) = try world.view(id).viewpoint else {
      Issue.record("another viewpoint")
      return
    }
    #expect(isClose(rotation, kept, 1e-9))
    #expect(rotation.sign == .plus)
  }

  @Test mutating func `resize keeps center and scale`() throws {
    let id = try world.makeView(viewpoint: .mercator(100, 200, scale: 5000, rotation: 45))
    let before = try world.view(id).camera
    try world.run { try $0.resizeView(id, [MemberChange(.width, 1600.0)]) }
    #expect(try world.view(id).camera == before)
    #expect(try world.view(id).screen == Screen(width: 1600, height: 600, dpi: 96))
    #expect(world.takeChangeDescriptions() == ["views/v.width"])
    let middle = try world.view(id).screenPoint(of: Point(x: 100, y: 200))
    #expect(isClose(middle.x, 800) && isClose(middle.y, 300))
    // A box stays as it was set, though the screen has changed.
    try world.run { try $0.setViewpoint(of: id, to: .box(0, 0, 1000, 1000)) }
    let box = try world.view(id).viewpoint
    let camera = try world.view(id).camera
    try world.run {
      try $0.resizeView(id, [MemberChange(.width, 300.0), MemberChange(.height, 300.0), MemberChange(.dpi, 192.0)])
    }
    #expect(try world.view(id).viewpoint == box)
    #expect(try world.view(id).camera == camera)
    // Setting it again fits it to the new screen, which is a change.
    _ = world.takeChanges()
    try world.run { try $0.setViewpoint(of: id, to: .box(0, 0, 1000, 1000)) }
    #expect(world.takeChangeDescriptions() == ["views/v.viewpoint", "views/v.scale"])
  }

  // MARK: Screen and location

  @Test mutating func `rotation turns north clockwise on the screen`() throws {
    let id = try world.makeView(viewpoint: .mercator(0, 0, scale: 1 / pixel, rotation: 90))
    // One metre per pixel. A point 100 m to the north appears 100 pixels to the right.
    let north = try world.view(id).screenPoint(of: Point(x: 0, y: 100))
    #expect(isClose(north.x, 500) && isClose(north.y, 300))
    let east = try world.view(id).screenPoint(of: Point(x: 100, y: 0))
    #expect(isClose(east.x, 400) && isClose(east.y, 400))
    let top = try world.view(id).location(x: 400, y: 0)
    #expect(isClose(top.x, -300) && isClose(top.y, 0))
  }

  @Test(arguments: [0.0, 30, 90, 123.4, 270, 359])
  mutating func `screen and location are inverse to each other`(rotation: Double) throws {
    let id = try world.makeView(viewpoint: .at(2.35, 48.86, scale: 25_000, rotation: rotation))
    let view = try world.view(id)
    for (x, y) in [(0.0, 0.0), (400, 300), (800, 600), (-50, 1000), (123.4, 567.8)] {
      let screenPoint = view.screenPoint(of: view.location(x: x, y: y))
      #expect(isClose(screenPoint.x, x) && isClose(screenPoint.y, y))
    }
    let middle = view.location(x: 400, y: 300)
    #expect(isClose(middle.x, view.camera.x) && isClose(middle.y, view.camera.y))
  }

  @Test mutating func `a rotated view fits a box`() throws {
    // Rotated by 90 degrees, the 600 pixels of the height lie along the x axis: 6,000 m over 600 and 4,000 m over 800.
    let id = try world.makeView()
    try world.run {
      try $0.setViewpoint(
        of: id,
        to: .boundingGeometry(
          .lineString(Positions(values: [0, 0, 6000, 4000])), padding: 0, rotation: 90, reference: .webMercator))
    }
    #expect(isClose(try world.view(id).camera.scale, 10 / pixel, 1e-3))
    for point in [Point(x: 0, y: 0), Point(x: 6000, y: 4000)] {
      let screenPoint = try world.view(id).screenPoint(of: point)
      #expect((-1e-6...800.000_001).contains(screenPoint.x) && (-1e-6...600.000_001).contains(screenPoint.y))
    }
  }

  // MARK: Beginnings and refusals

  @Test(arguments: [
    SpatialReference.webMercator, .wgs84, SpatialReference("EPSG:32631"), SpatialReference("EPSG:2154"),
  ])
  mutating func `a new view shows the area of use of its reference`(reference: SpatialReference) throws {
    let id = try world.makeView(in: reference)
    let area = try #require(try proj.describe(reference).areaOfUse)
    let extent = try proj.bounds(of: area, from: .wgs84, to: reference)
    let view = try world.view(id)
    for point in [Point(x: extent.xMin, y: extent.yMin), Point(x: extent.xMax, y: extent.yMax)] {
      let screenPoint = view.screenPoint(of: point)
      #expect((-0.001...800.001).contains(screenPoint.x) && (-0.001...600.001).contains(screenPoint.y))
    }
    #expect(view.viewpoint.reference == .wgs84)
  }

  @Test mutating func `a position without coordinates in the map's reference is refused`() throws {
    let id = try world.makeView()
    let before = try world.view(id).camera
    #expect(throws: ModelError.self) { try world.run { try $0.setViewpoint(of: id, to: .at(0, 100, scale: 1000)) } }
    #expect(throws: ModelError.self) {
      try world.run {
        try $0.setViewpoint(of: id, to: .center(Point(x: 0, y: 0), reference: SpatialReference("EPSG:999999")))
      }
    }
    #expect(try world.view(id).camera == before)
    #expect(!world.hasChanges)
  }

  @Test mutating func `the viewpoint can be read in another reference`() throws {
    let id = try world.makeView(viewpoint: .at(90, 0, scale: 1000))
    guard
      case .centerAndScale(let center, 1000, 0, .webMercator) = try world.view(id).viewpoint(
        as: .centerAndScale, in: .webMercator, proj)
    else {
      Issue.record("the same scale in the reference asked for")
      return
    }
    #expect(isClose(center.x, 6_378_137 * .pi / 2, 1e-3))
    #expect(isClose(center.y, 0, 1e-3))
  }
}
