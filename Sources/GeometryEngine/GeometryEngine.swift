// probe
import CGEOS
public func probe() -> Int {
  var why: UnsafePointer<CChar>?
  guard let p = cgeos_load(&why) else { return 0 }
  return p.pointee.GEOS_init_r() == nil ? 0 : 1
}
