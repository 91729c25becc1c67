// probe
import CGDAL
public func probe() -> Int {
  var why: UnsafePointer<CChar>?
  guard let p = cgdal_load(&why) else { return 0 }
  p.pointee.GDALAllRegister()
  return 1
}
