// Heights from a raster file: what one is, what a sample says, and why a file gives none.

import Files
import Geometry

/// What a surface says of one position. 0 is a height, never "unknown".
public enum ElevationSample: Hashable, Sendable {
  /// Metres.
  case value(Double)
  /// Inside the raster, where it knows nothing.
  case noData
  case outside
}

public enum ElevationInterpolation: Hashable, Sendable {
  /// Between the centres of the four pixels around; towards an outer edge, between those that there are.
  case bilinear
  /// The pixel that the position is in.
  case nearest
}

/// Why a raster was not opened or read.
public enum ElevationError: Error, Hashable, Sendable {
  case notFound(path: String)
  case isDirectory(path: String)
  /// The ``FilePolicy`` says no.
  case refused(path: String, reason: String)
  case notReadable(path: String, reason: String)
  /// No raster format that is known here.
  case unrecognized(path: String)
  case openFailed(path: String, reason: String)
  case readFailed(path: String, reason: String)
  case cancelled
  /// GDAL is not on this machine.
  case unavailable(reason: String)
}

/// What a raster says of itself.
public struct ElevationDescription: Hashable, Sendable {
  public let path: String
  /// GDAL's name of the format: "GTiff".
  public let driver: String
  /// Pixels.
  public let width: Int
  public let height: Int
  /// Nil when the file names none.
  public let spatialReference: SpatialReference?
  public let transform: RasterTransform
  /// As stored, before scale and unit; nil when every pixel counts.
  public let noData: Double?
  /// Around the pixels' outer edges, in the units of the reference.
  public let extent: Envelope
}

/// Where pixels lie: GDAL's six numbers, rotation included.
public struct RasterTransform: Hashable, Sendable {
  public let xOrigin: Double
  public let xPerColumn: Double
  public let xPerRow: Double
  public let yOrigin: Double
  public let yPerColumn: Double
  public let yPerRow: Double

  /// Nil when pixels have no area.
  public init?(_ numbers: [Double]) {
    guard numbers.count == 6, numbers.allSatisfy(\.isFinite) else { return nil }
    (xOrigin, xPerColumn, xPerRow) = (numbers[0], numbers[1], numbers[2])
    (yOrigin, yPerColumn, yPerRow) = (numbers[3], numbers[4], numbers[5])
    guard determinant != 0 else { return nil }
  }

  private var determinant: Double { xPerColumn * yPerRow - xPerRow * yPerColumn }

  /// The sides of a pixel, in the units of the reference.
  public var resolution: (x: Double, y: Double) {
    (
      (xPerColumn * xPerColumn + yPerColumn * yPerColumn).squareRoot(),
      (xPerRow * xPerRow + yPerRow * yPerRow).squareRoot()
    )
  }

  /// Columns and rows from the outer corner of the first pixel; its centre is at 0.5, 0.5.
  func pixel(x: Double, y: Double) -> (column: Double, row: Double) {
    let dx = x - xOrigin
    let dy = y - yOrigin
    return ((dx * yPerRow - dy * xPerRow) / determinant, (dy * xPerColumn - dx * yPerColumn) / determinant)
  }

  func position(column: Double, row: Double) -> (x: Double, y: Double) {
    (xOrigin + column * xPerColumn + row * xPerRow, yOrigin + column * yPerColumn + row * yPerRow)
  }

  func extent(width: Int, height: Int) -> Envelope {
    var box = Envelope.none
    for (column, row) in [(0, 0), (width, 0), (0, height), (width, height)] {
      let corner = position(column: Double(column), row: Double(row))
      box.include(x: corner.x, y: corner.y)
    }
    return box
  }
}
