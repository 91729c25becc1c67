// The functions of GEOS that this server calls, found on first use: linked, the library would cost every start.
#ifndef CGEOS_H
#define CGEOS_H

#include <geos_c.h>
#include <stdbool.h>

/// Every function called, once. Adding one here is all it takes.
#define CGEOS_FUNCTIONS(X) \
  X(GEOS_init_r) X(GEOS_finish_r) X(GEOSContext_setErrorMessageHandler_r) \
  X(GEOSContext_setNoticeMessageHandler_r) X(GEOSWKBReader_create_r) X(GEOSWKBReader_destroy_r) \
  X(GEOSWKBReader_read_r) X(GEOSGeom_destroy_r) X(GEOSGeom_createRectangle_r) X(GEOSisValidDetail_r) \
  X(GEOSGeomGetX_r) X(GEOSGeomGetY_r) X(GEOSGeomGetZ_r) X(GEOSFree_r) X(GEOSIntersects_r) X(GEOSEquals_r) X(GEOSRelatePattern_r) \
  X(GEOSMakeValid_r) X(GEOSUnaryUnion_r) X(GEOSPrepare_r) X(GEOSPreparedGeom_destroy_r) X(GEOSPreparedIntersects_r) \
  X(GEOSPreparedContains_r) X(GEOSPreparedWithin_r) X(GEOSPreparedCrosses_r) X(GEOSPreparedOverlaps_r) \
  X(GEOSPreparedTouches_r) X(GEOSCoordSeq_copyFromBuffer_r) X(GEOSGeom_createPoint_r) X(GEOSGeom_createPointFromXY_r) \
  X(GEOSGeom_createEmptyPoint_r) X(GEOSGeom_createLineString_r) X(GEOSGeom_createLinearRing_r) \
  X(GEOSWKBWriter_create_r) X(GEOSWKBWriter_destroy_r) X(GEOSWKBWriter_write_r) \
  X(GEOSWKBWriter_setOutputDimension_r) X(GEOSIntersection_r) \
  X(GEOSGeom_createPolygon_r) X(GEOSGeom_createEmptyPolygon_r) X(GEOSGeom_createCollection_r) \
  X(GEOSBufferParams_create_r) X(GEOSBufferParams_destroy_r) X(GEOSBufferParams_setEndCapStyle_r) \
  X(GEOSBufferParams_setJoinStyle_r) X(GEOSBufferParams_setMitreLimit_r) X(GEOSBufferParams_setQuadrantSegments_r) \
  X(GEOSBufferParams_setSingleSided_r) X(GEOSBufferWithParams_r) X(GEOSUnion_r) X(GEOSDifference_r) \
  X(GEOSSymDifference_r) X(GEOSConvexHull_r) X(GEOSConcaveHull_r) X(GEOSMinimumRotatedRectangle_r) \
  X(GEOSMinimumBoundingCircle_r) X(GEOSMaximumInscribedCircle_r) X(GEOSMakeValidParams_create_r) \
  X(GEOSMakeValidParams_destroy_r) X(GEOSMakeValidParams_setMethod_r) X(GEOSMakeValidWithParams_r) X(GEOSBoundary_r) \
  X(GEOSPolygonize_r) X(GEOSPointOnSurface_r) X(GEOSGetCentroid_r) X(GEOSTopologyPreserveSimplify_r) X(GEOSRelate_r) \
  X(GEOSNearestPoints_r) X(GEOSCoordSeq_getX_r) X(GEOSCoordSeq_getY_r) X(GEOSCoordSeq_getZ_r) X(GEOSCoordSeq_destroy_r) \
  X(GEOSisSimple_r) X(GEOSGetNumGeometries_r) X(GEOSGetGeometryN_r) X(GEOSGeomTypeId_r) X(GEOSisEmpty_r) X(GEOSHasZ_r) \
  X(GEOSGetExteriorRing_r) X(GEOSGetNumInteriorRings_r) X(GEOSGetInteriorRingN_r) X(GEOSGeom_getCoordSeq_r) \
  X(GEOSUnaryUnionPrec_r) X(GEOSCoordSeq_getSize_r) X(GEOSCoordSeq_copyToBuffer_r) \
  X(GEOS_interruptRegisterCallback) X(GEOS_interruptRequest)

/// The library's functions, each of the type that its header declares.
struct cgeos_functions {
#define CGEOS_FIELD(name) __typeof__(&name) _Nonnull name;
  CGEOS_FUNCTIONS(CGEOS_FIELD)
#undef CGEOS_FIELD
};

/// Opens the library the first time; later calls give the same answer. Safe from any thread.
///
/// Returns NULL where the library is not on this machine or lacks a function; `*reason` then says which, for good.
const struct cgeos_functions *_Nullable cgeos_load(const char *_Nullable *_Nonnull reason);

/// Whether the work of a thread is no longer wanted.
struct cgeos_interruption {
  bool (*_Nullable is_requested)(const void *_Nullable context);
  const void *_Nullable context;
};

/// Sets what GEOS asks on this thread, again and again within an operation, which fails once the answer is yes. Returns what was set.
struct cgeos_interruption cgeos_set_interruption(struct cgeos_interruption interruption);

/// Asks it now.
bool cgeos_is_interruption_requested(void);

/// A value of the calling thread, NULL at first.
void *_Nullable cgeos_thread_value(void);
void cgeos_set_thread_value(void *_Nullable value);

#endif
