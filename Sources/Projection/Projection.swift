// probe
import CPROJ
public func probe() -> Int {
  var why: UnsafePointer<CChar>?
  guard let p = cproj_load(&why) else { return 0 }
  let c = p.pointee.proj_context_create()
  _ = p.pointee.proj_context_destroy(c)
  return 1
}
