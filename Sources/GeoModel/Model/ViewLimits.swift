// Where views of a map or scene may be: their scales, their maximum extent, and what gestures snap to.

import Geometry
import Platform

/// A box that views are kept inside.
public struct MaxExtent: Hashable, Sendable {
  /// In degrees, as given; across the antimeridian `xMin > xMax`.
  public let box: Envelope
  /// In the map's reference; across the edge of the world `xMax` is beyond it.
  let inMap: Envelope
}

extension World {
  /// - Throws: `invalidGeometry` if the box is empty or not on the earth.
  func maxExtent(_ box: Envelope, in info: SpatialReferenceInfo) throws(ModelError) -> MaxExtent {
    let degrees = Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    let corners = [(box.xMin, box.yMin), (box.xMax, box.yMax)]
    guard corners.allSatisfy({ degrees.contains(x: $0.0, y: $0.1) }), box.yMin < box.yMax, box.xMin != box.xMax else {
      throw .invalidGeometry(expected: "a box in degrees with a width and a height")
    }
    do {
      var inMap = Envelope.none
      let parts = try box.split(at: 180).map { (part) throws(TransformError) in
        try bounds(of: part, from: .wgs84, to: info.reference)
      }
      for part in parts { inMap.include(part) }
      if parts.count > 1, let wrap = WorldWrap(info, transformer) {
        (inMap.xMin, inMap.xMax) = (parts[0].xMin, parts[1].xMax + wrap.width)
      }
      return MaxExtent(box: box, inMap: inMap)
    } catch { throw .transform(error) }
  }
}

extension MapContent {
  /// The nearest camera within the scale range and the maximum extent.
  func limited(_ camera: Camera, in view: View) -> Camera {
    var camera = camera
    camera.scale = clamped(camera.scale)
    guard let box = maxExtent?.inMap else { return camera }
    // The size of the upright box around the screen, in pixels.
    let (screen, (right, up)) = (view.screen, camera.axes)
    let width = screen.width * abs(right.0) + screen.height * abs(up.0)
    let height = screen.width * abs(right.1) + screen.height * abs(up.1)
    let isRound = view.wrap.map { box.width > $0.width * (1 - 1e-9) } ?? false
    let resolution = min(isRound ? .infinity : box.width / width, box.height / height)
    camera.scale = clamped(
      min(camera.scale, Camera.scale(ofResolution: resolution, on: screen, metersPerUnit: view.metersPerUnit)))
    let half = camera.resolution(on: screen, metersPerUnit: view.metersPerUnit) / 2
    camera.y = Self.kept(camera.y, within: (box.yMin, box.yMax), half: height * half)
    guard !isRound else { return camera }
    let x = camera.x + (view.wrap?.shift(camera.x, nearest: box.center.x) ?? 0)
    let kept = Self.kept(x, within: (box.xMin, box.xMax), half: width * half)
    if kept != x { camera.x = view.wrap?.normalized(kept) ?? kept }
    return camera
  }

  /// The nearest number at least `half` inside of both ends; the middle if there is no room.
  private static func kept(_ number: Double, within ends: (low: Double, high: Double), half: Double) -> Double {
    let (low, high) = (ends.low + half, ends.high - half)
    return low < high ? min(max(number, low), high) : (ends.low + ends.high) / 2
  }

  /// The nearest level by ratio; the scale itself if there are none.
  func snapped(scale: Double) -> Double {
    func distance(_ level: Double) -> Double { abs(log(level / scale)) }
    return scaleLevels?.min { distance($0) < distance($1) } ?? scale
  }

  /// North up, if the rotation is near enough.
  func snapped(rotation: Double) -> Double {
    guard let rotationSnap, min(rotation, 360 - rotation) <= rotationSnap else { return rotation }
    return 0
  }
}
