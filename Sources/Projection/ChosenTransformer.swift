// A transformer that uses one chosen operation between two references everywhere, not the best one at each place.

import Geometry

struct ChosenTransformer: CoordinateTransformer {
  let whole: PROJTransformer
  let choice: TransformationChoice

  func describe(_ reference: SpatialReference) throws(TransformError) -> SpatialReferenceInfo { try whole.describe(reference) }

  func esriWKT(of reference: SpatialReference) throws(TransformError) -> String? { try whole.esriWKT(of: reference) }

  func transform(
    _ values: UnsafeMutableBufferPointer<Double>, stride: Int, hasZ: Bool, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) {
    try whole.transform(values, stride: stride, hasZ: hasZ, from: source, to: target, by: choice)
  }

  func transformKnown(_ values: inout [Double], from source: SpatialReference, to target: SpatialReference) throws(TransformError) {
    try whole.transformKnown(&values, from: source, to: target, by: choice)
  }

  func convertHeights(
    _ heights: inout [Double], at points: [Point], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) {
    try whole.convertHeights(&heights, at: points, from: source, to: target)
  }

  func bounds(of envelope: Envelope, from source: SpatialReference, to target: SpatialReference) throws(TransformError) -> Envelope {
    try whole.bounds(of: envelope, from: source, to: target)
  }

  func transformations(
    from source: SpatialReference, to target: SpatialReference, in area: Envelope?
  ) throws(TransformError) -> [Transformation] {
    try whole.transformations(from: source, to: target, in: area)
  }

  func choosing(
    _ choice: TransformationChoice, from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> (transformer: any CoordinateTransformer, transformation: Transformation) {
    try whole.choosing(choice, from: source, to: target)
  }
}
