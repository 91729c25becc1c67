// Tiles of heights that are kept for later questions, of all rasters together.

import Reading
import Synchronization

/// Tiles of heights, of which the least recently used go first.
public final class RasterTiles: Sendable {
  /// Bytes of all tiles together.
  public static let limit = 64 << 20

  private struct Key: Hashable {
    let raster: Int
    let tile: Int
  }

  private struct State {
    var tiles: [Key: (heights: RasterHeights, used: Int)] = [:]
    var bytes = 0
    /// Number of uses so far, and of rasters.
    var uses = 0
    var rasters = 0
  }

  private let state = Mutex(State())

  public init() {}

  /// A number for the tiles of one raster.
  public func makeRaster() -> Int {
    state.withLock { state in
      state.rasters += 1
      return state.rasters
    }
  }

  public subscript(raster: Int, tile: Int) -> RasterHeights? {
    state.withLock { state in
      state.uses += 1
      state.tiles[Key(raster: raster, tile: tile)]?.used = state.uses
      return state.tiles[Key(raster: raster, tile: tile)]?.heights
    }
  }

  public func keep(_ heights: RasterHeights, raster: Int, tile: Int) {
    state.withLock { state in
      state.uses += 1
      state.bytes += heights.byteCount
      let old = state.tiles.updateValue((heights, state.uses), forKey: Key(raster: raster, tile: tile))
      state.bytes -= old?.heights.byteCount ?? 0
      while state.bytes > Self.limit, let oldest = state.tiles.min(by: { $0.value.used < $1.value.used }) {
        state.tiles[oldest.key] = nil
        state.bytes -= oldest.value.heights.byteCount
      }
    }
  }

  public func forget(raster: Int) {
    state.withLock { state in
      for (key, tile) in state.tiles where key.raster == raster {
        state.tiles[key] = nil
        state.bytes -= tile.heights.byteCount
      }
    }
  }
}
