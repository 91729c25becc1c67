// The small picture by which people know a package.

import Drawing
import GeoModel
import Geometry
import Pictures
import Readers

extension Worker {
  /// A PNG of what is loaded of the first map, without texts, so that it is the same with all fonts; nil where nothing is drawn or can be.
  ///
  /// - Parameter extent: what is seen, in WGS 84.
  package func thumbnail(of world: World, _ extent: Envelope) throws -> [UInt8]? {
    guard let map = world.maps.values.first(where: { _ in true }) else { return nil }
    do {
      let (screen, padding) = (Screen(width: 256, height: 192), Insets(8))
      var scratch = world
      let view = try scratch.createView(
        id: nil, over: .map(map.id), screen: screen,
        viewpoint: .boundingBox(extent, padding: padding, rotation: nil, reference: .wgs84))
      let layers = try ViewSnapshot(of: view.id, in: scratch).layers
      guard !layers.isEmpty else { return nil }
      var options = PictureOptions()
      (options.hasLabels, options.hasSelection, options.hasLocation) = (false, false, false)
      let picture = try ViewPicture(layers, of: view, in: scratch, options) { _ in try checkCancelled() }
      let background = map.content.backgroundColor ?? Color(red: 255, green: 255, blue: 255)
      let job = PictureJob(.png, width: screen.width, height: screen.height, background: background.word)
      return try paint(job, picture.words).withBytes { Array($0) }
    } catch {
      // A package is one without a picture, too.
      try checkCancelled()
      return nil
    }
  }
}
