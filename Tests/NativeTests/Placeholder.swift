// probe
import FeatureFormats
import Geometry
import Testing

@Test func probe() throws {
  let root = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
  for source in ["/\(root)/Fixtures/naturalearth_110m.gpkg", "/tmp/nat/cities.fgb", "/tmp/nat/cities.shp"] {
    do {
    print(try FeatureFormats.describe(.file(source)))
    var n = 0
    try FeatureFormats.read(.file(source), layer: "cities", progress: { print($0, terminator: " ") }) { if n < 2 { print($0) }; n += 1 }
    print(n)
    } catch { print(source, error) }
  }
}
