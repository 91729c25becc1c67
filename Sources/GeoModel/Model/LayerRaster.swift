// Rasters of layers: the file, and the open raster that libraries provide.

import Geometry

/// An open raster. Libraries implement this protocol.
public protocol RasterSource: Sendable {
  var info: RasterInfo { get }

  /// The pixels of a window within a level; see ``RasterInfo/width(at:)``.
  ///
  /// - Parameters:
  ///   - isNearest: whether reduced pixels are one of those that they stand for, in place of their mean.
  ///   - isCancelled: polled at least every 10 ms; the result is ignored once it returns true.
  func pixels(
    _ window: RasterWindow, level: Int, bands: [Int], isNearest: Bool, isCancelled: () -> Bool
  ) throws -> RasterPixels

  /// What the numbers of a band are like; nil if no pixel has data.
  ///
  /// - Complexity: reads at most a million pixels the first time.
  func statistics(ofBand band: Int, isCancelled: () -> Bool) throws -> RasterStatistics?
}

/// The raster of a layer.
public struct LayerRaster: Sendable {
  public internal(set) var origin: FileOrigin
  /// The table of tiles in a GeoPackage; nil for its only one.
  public let table: Text?
  public internal(set) var loadStatus = LoadStatus.notLoaded
  public internal(set) var renderer: RasterRenderer?
  /// Set once it is loaded.
  public internal(set) var source: (any RasterSource)?

  public init(_ origin: FileOrigin, table: String?, renderer: RasterRenderer? = nil) {
    (self.origin, self.table, self.renderer) = (origin, Text(table), renderer)
  }

  public var info: RasterInfo? { source?.info }

  /// The renderer by which it is drawn; nil before it is loaded.
  public var drawnRenderer: RasterRenderer? { info.map { renderer ?? .standard(for: $0) } }
}

extension World {
  /// Adds a layer over the raster of a file, to be loaded.
  @discardableResult
  public mutating func addRasterLayer(
    id: LayerID?, to container: ViewContent, _ raster: LayerRaster, name: String?, at position: LayerPosition = LayerPosition()
  ) throws(ModelError) -> Layer {
    let list = try list(for: position, in: container)
    let file = raster.origin.path.split(separator: "/").last.map(String.init) ?? raster.origin.path
    let stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    let own = raster.table?.string ?? (stem.isEmpty ? file : stem)
    return try add(id, to: container, in: list, at: position) { id in
      Layer(id: id, container: container, group: position.group, name: name ?? own.shortened(to: Layer.nameLimit), raster: raster)
    }
  }

  /// Ends a load with an open raster.
  ///
  /// - Throws: if the raster lacks a band of the renderer.
  public mutating func finishLoad(_ id: LayerID, raster source: any RasterSource) throws(ModelError) -> Layer {
    try finishLoad(id) { (layer) throws(ModelError) in
      try layer.raster?.renderer?.check(for: source.info, at: "/rasterRenderer")
      layer.raster?.source = source
    }
  }
}
