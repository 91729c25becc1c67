// The owner of a GEOS context, and of the messages that GEOS reports to it.

import CGEOS
import Geometry

/// One GEOS context. Never share it between tasks; make one per batch of operations.
///
/// A class, because shapes keep their context alive; confined to the caller that created it.
final class GEOSContext {
  let geos: UnsafePointer<cgeos_functions>
  let handle: GEOSContextHandle_t
  /// The last message that GEOS passed to the callback.
  private let message: UnsafeMutablePointer<String>

  init() throws(EngineError) {
    var reason: UnsafePointer<CChar>?
    guard let geos = cgeos_load(&reason) else {
      throw .unavailable(reason: reason.map { String(cString: $0) } ?? "GEOS did not load")
    }
    guard let handle = geos.pointee.GEOS_init_r() else { throw .unavailable(reason: "GEOS gives no context") }
    self.geos = geos
    self.handle = handle
    message = .allocate(capacity: 1)
    message.initialize(to: "")
    _ = geos.pointee.GEOSContext_setErrorMessageHandler_r(
      handle,
      { text, data in
        guard let text, let data else { return }
        data.assumingMemoryBound(to: String.self).pointee = String(cString: text)
      }, message)
  }

  deinit {
    geos.pointee.GEOS_finish_r(handle)
    message.deinitialize(count: 1)
    message.deallocate()
  }

  /// The first line, without its end.
  var reason: String { message.pointee.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no reason given" }

  /// Runs an operation, which returns nil on failure.
  ///
  /// GEOS has a single interruption flag for all threads, so an operation interrupted by another thread's request is repeated.
  func run<Result>(_ operation: String, _ body: () -> Result?) throws(EngineError) -> Result {
    while true {
      message.pointee = ""
      if let result = body() { return result }
      guard message.pointee.hasPrefix("InterruptedException") else {
        throw .failed(operation: operation, reason: reason)
      }
      if cgeos_is_interruption_requested() { throw .interrupted }
    }
  }

  /// Runs a predicate of GEOS, which returns 0, 1, or 2 for an exception.
  func answer(_ operation: String, _ predicate: () -> CChar) throws(EngineError) -> Bool {
    try run(operation) {
      let result = predicate()
      return result == 2 ? nil : result == 1
    }
  }

  func validity(of shape: borrowing GEOSShape) throws(EngineError) -> Validity {
    var text: UnsafeMutablePointer<CChar>?
    var fault: OpaquePointer?
    let handle = shape.handle
    let isValid = try answer("validity") { geos.pointee.GEOSisValidDetail_r(self.handle, handle, 0, &text, &fault) }
    defer {
      if let text { geos.pointee.GEOSFree_r(self.handle, text) }
      if let fault { geos.pointee.GEOSGeom_destroy_r(self.handle, fault) }
    }
    if isValid { return .valid }
    var point: Point?
    if let fault {
      var x = 0.0
      var y = 0.0
      if geos.pointee.GEOSGeomGetX_r(self.handle, fault, &x) == 1,
        geos.pointee.GEOSGeomGetY_r(self.handle, fault, &y) == 1
      {
        point = Point(x: x, y: y)
      }
    }
    return .invalid(reason: text.map { String(cString: $0) } ?? "invalid", at: point)
  }
}
