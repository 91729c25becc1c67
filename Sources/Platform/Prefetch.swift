// What the processor loads ahead of its use.

import CPlatform

/// Asks the processor to load the memory at an address into its caches. Nothing waits for it, and the address may be any.
@inlinable
@inline(__always)
public func prefetch(_ address: UnsafeRawPointer?) { cplatform_prefetch(address) }
