// Texts of coordinates: what is read is a place, and is written so that it is read as the same place.

import Geometry
import GridReferences

extension FuzzTarget {
  static let coordinates = FuzzTarget(
    name: "coordinates",
    words: ["°", "′", "″", "N", "S", "E", "W", "31U", "DQ", "ZAH", "NKCD", "365MP24", "-", ", ", ":"],
    seeds: {
      [
        "48.8584, 2.2945", "48°51′30.24″N 2°17′40.2″E", "E 2 17.67 / N 48 51.504", "48-51-30,24N 002-17-40,20E", "31N 448252.0 5411954.9",
        "31U 448252mE 5411955mN", "N 2000000 2000000", "31U DQ 48252 11954", "ZAH", "NKCD17675150", "365MP24", "31S 500000 3600000",
      ].map { Array($0.utf8) }
    },
    run: { (input) throws(Broken) in
      let text = String(decoding: input, as: UTF8.self)
      let place: NotedPlace
      do throws(NotationError) { place = try Notation.place(text, in: nil) } catch {
        return try check((0...text.unicodeScalars.count).contains(error.offset ?? 0), "an error at \(error.offset ?? 0)")
      }
      try check(abs(place.point.x) <= 180 && abs(place.point.y) <= 90, "\(place)")
      for notation in [Notation.decimalDegrees, .dms, .ddm, .utm, place.notation] {
        let written = try accepted("no \(notation)") { () throws(NotationError) in
          try notation.text(of: place.point, precision: notation.finest)
        }
        let again = try accepted("\(written) is refused") { () throws(NotationError) in try Notation.place(written, in: notation) }
        // Of UTM a nanometre, and of a cell its half; meridians meet towards the poles.
        let reach = 1e-11 + (again.cell.map { $0.isDegrees ? $0.size / 2 : 1e-7 } ?? 0)
        try check(abs(again.point.y - place.point.y) <= reach, "\(written) is read as \(again)")
        let turn = (again.point.x - place.point.x).remainder(dividingBy: 360)
        try check(abs(turn) <= reach * 1.01 || abs(place.point.y) > 80, "\(written) is read as \(again)")
      }
    })
}
