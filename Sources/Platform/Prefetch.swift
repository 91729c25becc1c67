// Asks the processor to load memory before it is used.

import CPlatform

/// Asks the processor to load the memory at an address into its caches. It does not block, and any address is allowed.
@inlinable
@inline(__always)
public func prefetch(_ address: UnsafeRawPointer?) { cplatform_prefetch(address) }
