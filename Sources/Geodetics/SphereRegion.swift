// Areas on the ellipsoid as polygons in longitude and latitude: cut at the antimeridian, closed along the edge at a pole.

import Geometry
import Platform

/// What lies to the left of a ring on the ellipsoid.
///
/// The world is a box of longitude and latitude. Where the ring leaves it at the antimeridian, the outline goes on along the edge of the box,
/// with the box to its left, until the ring comes back: so poles need no rule of their own.
struct SphereRegion {
  private static let corners: [(at: Double, place: Place)] = [(0, place: Place(-180, -90)), (360, Place(180, -90)), (540, Place(180, 90)), (900, Place(-180, 90))]
  private static let around = 1080.0
  /// Degrees by which rounding may put the start of a chain before the end of the one that it follows: not once around the world.
  private static let slack = 1e-10

  /// - Parameter ring: places whose sides are shorter than half of the world; the last is joined to the first.
  static func polygons(leftOf ring: [Place]) -> Geometry {
    let places = normalized(ring)
    guard let start = places.firstIndex(where: { abs($0.x) < 180 }) else { return .polygon([]) }
    // Parts of the ring within the box, which begin and end at its edges.
    var chains: [[Place]] = [[places[start]]]
    var last = places[start]
    for offset in 1...places.count {
      let next = places[(start + offset) % places.count]
      let reach = last.x + last.turn(to: next)
      if abs(reach) > 180 {
        let edge = reach > 0 ? 180.0 : -180
        let y = crossing(last, next)
        chains[chains.count - 1].append(Place(edge, y))
        chains.append([Place(-edge, y)])
      }
      // On the antimeridian it is on the side from which it was reached.
      last = abs(next.x) == 180 && abs(reach) <= 180 ? Place(reach > 0 ? 180 : -180, next.y) : next
      chains[chains.count - 1].append(last)
    }
    guard chains.count > 1 else {
      let ring = closed(chains[0])
      guard ring.count > 3 else { return .polygon([]) }
      return .polygon(ring.doubledArea >= 0 ? [ring] : [closed(corners.map(\.place)), ring])
    }
    // The ring was begun within the box: its last part goes on with its first.
    chains[0] = chains.removeLast() + chains[0].dropFirst()
    return .multiPolygon(linked(chains).map(closed).filter { $0.count > 3 && $0.doubledArea != 0 }.map { [$0] })
  }

  /// The share of the sphere that areas have.
  static func share(of areas: Geometry) -> Double {
    var sum = 0.0
    areas.forEachPositions { ring in
      let places = ring.places
      for (start, end) in zip(places, places.dropFirst()) where start.x != end.x {
        sum -= (end.x - start.x) * (sin(start.y * .pi / 180) + sin(end.y * .pi / 180))
      }
    }
    return sum / 1440
  }

  /// The latitude at which a side crosses the antimeridian: the same number in both directions.
  private static func crossing(_ start: Place, _ end: Place) -> Double {
    let (east, west) = start.x > 0 ? (start, end) : (end, start)
    let (before, after) = (180 - abs(east.x), 180 - abs(west.x))
    // What is on it is where it crosses: rounding would make a sliver.
    if before == 0 || after == 0 { return before == 0 ? east.y : west.y }
    return (east.y * after + west.y * before) / (before + after)
  }

  /// The longitude within half a turn. What is on the antimeridian or a pole but for rounding is on it: neighbours meet there.
  private static func snapped(_ place: Place) -> Place {
    let x = place.x.remainder(dividingBy: 360)
    return Place(180 - abs(x) < 1e-10 ? (x < 0 ? -180 : 180) : x, 90 - abs(place.y) < 1e-10 ? (place.y < 0 ? -90 : 90) : place.y)
  }

  /// Longitudes within half a turn; a pole is passed along the edge of the box, with the box to the left.
  private static func normalized(_ ring: [Place]) -> [Place] {
    var places: [Place] = []
    for (index, place) in ring.enumerated() {
      let place = snapped(place)
      guard place.isPole else {
        places.append(place)
        continue
      }
      let (before, after) = (snapped(ring[(index + ring.count - 1) % ring.count]), snapped(ring[(index + 1) % ring.count]))
      let x = before.x
      var turn = (after.x - before.x).remainder(dividingBy: 360)
      if place.y > 0, turn > 0 { turn -= 360 } else if place.y < 0, turn < 0 { turn += 360 }
      let middle = (1...3).map { (x + turn * Double($0) / 4).remainder(dividingBy: 360) }
      places += ([x] + middle + [after.x]).map { Place($0, place.y) }
    }
    return places
  }

  /// Rings of chains, joined along the edges of the box.
  private static func linked(_ chains: [[Place]]) -> [[Place]] {
    let starts = chains.map { perimeter($0[0]) }
    var left = Set(chains.indices)
    var rings: [[Place]] = []
    while let first = left.min() {
      var (ring, index) = ([Place](), first)
      while left.remove(index) != nil {
        ring += chains[index]
        let end = perimeter(chains[index][chains[index].count - 1])
        let ahead = { (at: Double) in at >= end - slack ? max(at - end, 0) : at - end + around }
        let candidates = left.union([first])
        guard let next = candidates.min(by: { (ahead(starts[$0]), $0) < (ahead(starts[$1]), $1) }) else { break }
        let way = ahead(starts[next])
        ring += corners.filter { ahead($0.at) < way }.sorted { ahead($0.at) < ahead($1.at) }.map(\.place)
        index = next
      }
      rings.append(ring)
    }
    return rings
  }

  /// Where a place on an edge is on the way around the box: degrees from its south-western corner, eastward.
  private static func perimeter(_ place: Place) -> Double {
    place.x > 0 ? 360 + place.y + 90 : 900 + 90 - place.y
  }

  /// A closed ring without repeated places and ways back.
  private static func closed(_ places: [Place]) -> Positions {
    var ring: [Place] = []
    for place in places where ring.last != place {
      if ring.count > 1, ring[ring.count - 2] == place { ring.removeLast() } else { ring.append(place) }
    }
    while ring.count > 1, ring[0] == ring[ring.count - 1] { ring.removeLast() }
    guard let first = ring.first, ring.count > 2 else { return Positions() }
    return Positions(values: (ring + [first]).flatMap { [$0.x, $0.y] })
  }
}
