// The functions of GDAL that this server calls, found on first use: linked, the library would cost every start.
#ifndef CGDAL_H
#define CGDAL_H

#if __has_include(<gdal/gdal.h>)
#include <gdal/gdal.h>
#include <gdal/ogr_api.h>
#include <gdal/ogr_srs_api.h>
#include <gdal/cpl_conv.h>
#include <gdal/cpl_error.h>
#include <gdal/cpl_http.h>
#include <gdal/cpl_string.h>
#include <gdal/cpl_vsi.h>
#else
#include <gdal.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>
#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_http.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#endif


// The C data interface of Apache Arrow, for versions of GDAL before 3.6, which lack it and this header.
#if __has_include(<gdal/ogr_recordbatch.h>)
#include <gdal/ogr_recordbatch.h>
#elif __has_include(<ogr_recordbatch.h>)
#include <ogr_recordbatch.h>
#else
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

/// Every function called, once. Adding one here is all it takes.
#define CGDAL_FUNCTIONS(X) \
  X(GDALGetDriverByName) X(GDALGetDriverShortName) X(GDALGetDatasetDriver) \
  X(GDALIdentifyDriverEx) X(GDALOpenEx) X(GDALClose) \
  X(GDALDatasetGetLayerCount) X(GDALDatasetGetLayer) X(GDALGetRasterXSize) \
  X(GDALGetRasterYSize) X(GDALGetGeoTransform) X(GDALGetSpatialRef) X(GDALGetRasterBand) \
  X(GDALGetRasterDataType) X(GDALGetRasterNoDataValue) X(GDALGetRasterScale) X(GDALGetRasterOffset) \
  X(GDALGetRasterUnitType) X(GDALGetMaskFlags) X(GDALGetMaskBand) X(GDALRasterIO) \
  X(GDALGetRasterCount) X(GDALRasterIOEx) X(GDALGetOverviewCount) X(GDALGetDataTypeName) X(GDALGetMetadata) \
  X(GDALGetRasterColorTable) X(GDALGetColorEntryCount) X(GDALGetColorEntryAsRGB) \
  X(OGR_L_GetName) X(OGR_L_GetGeomType) X(OGR_L_GetGeometryColumn) X(OGR_L_GetSpatialRef) X(OGR_L_GetFeatureCount) X(OGR_L_GetExtent) \
  X(OGR_L_GetLayerDefn) X(OGR_L_GetFIDColumn) X(OGR_L_ResetReading) X(OGR_L_GetNextFeature) \
  X(OGR_FD_GetFieldCount) X(OGR_FD_GetFieldIndex) X(OGR_FD_GetFieldDefn) X(OGR_Fld_GetNameRef) X(OGR_Fld_GetType) X(OGR_Fld_GetSubType) \
  X(OGR_F_Destroy) X(OGR_F_GetFID) X(OGR_F_GetGeometryRef) X(OGR_F_IsFieldSetAndNotNull) \
  X(OGR_F_GetFieldAsInteger) X(OGR_F_GetFieldAsInteger64) X(OGR_F_GetFieldAsDouble) X(OGR_F_GetFieldAsString) \
  X(OGR_F_GetFieldAsIntegerList) X(OGR_F_GetFieldAsInteger64List) X(OGR_F_GetFieldAsDoubleList) \
  X(OGR_F_GetFieldAsStringList) X(OGR_F_GetFieldAsBinary) X(OGR_F_GetFieldAsDateTimeEx) \
  X(OGR_G_GetGeometryType) X(OGR_G_IsEmpty) X(OGR_G_GetX) X(OGR_G_GetY) X(OGR_G_GetZ) \
  X(OGR_G_WkbSize) X(OGR_G_ExportToIsoWkb) X(OGR_G_GetLinearGeometry) X(OGR_G_Clone) X(OGR_G_ForceTo) \
  X(OGR_G_DestroyGeometry) X(OGR_G_CreateFromWkb) X(OGR_GT_Flatten) X(OGR_GT_HasZ) X(OGR_GT_HasM) X(OGR_GT_IsNonLinear) \
  X(GDALCreate) X(GDALDatasetCreateLayer) X(GDALDatasetGetLayerByName) X(GDALDatasetExecuteSQL) X(GDALDatasetStartTransaction) X(GDALDatasetCommitTransaction) \
  X(OGR_L_CreateField) X(OGR_L_CreateFeature) X(OGR_Fld_Create) X(OGR_Fld_SetSubType) X(OGR_Fld_Destroy) \
  X(OGR_F_Create) X(OGR_F_SetFID) X(OGR_F_SetFieldNull) X(OGR_F_SetFieldInteger) X(OGR_F_SetFieldInteger64) \
  X(OGR_F_SetFieldDouble) X(OGR_F_SetFieldString) X(OGR_F_SetFieldBinary) X(OGR_F_SetFieldDateTimeEx) \
  X(OGR_F_SetGeometryDirectly) X(OGR_G_CreateGeometry) X(OGR_G_SetPoint) X(OGR_G_SetPoint_2D) X(OGR_GT_SetModifier) \
  X(OSRNewSpatialReference) X(OSRSetFromUserInput) X(OSRSetAxisMappingStrategy) X(OSRDestroySpatialReference) \
  X(OSRGetAuthorityName) X(OSRGetAuthorityCode) X(OSRExportToWktEx) \
  X(OSRSetPROJEnableNetwork) X(CPLPushErrorHandlerEx) X(CPLPopErrorHandler) \
  X(CPLGetErrorHandlerUserData) X(CPLHTTPFetchEx) X(CPLHTTPDestroyResult) X(CPLHTTPPushFetchCallback) X(CPLHTTPPopFetchCallback) \
  X(CPLRecode) X(CSLAddString) X(VSIFree) X(VSICalloc) \
  X(CPLStrdup) X(VSIAllocFilesystemPluginCallbacksStruct) X(VSIFreeFilesystemPluginCallbacksStruct) \
  X(VSIInstallPluginHandler)

/// The library's functions, each of the type that its header declares.
struct cgdal_functions {
#define CGDAL_FIELD(name) __typeof__(&name) _Nonnull name;
  CGDAL_FUNCTIONS(CGDAL_FIELD)
#undef CGDAL_FIELD
};

/// Opens the library the first time; later calls give the same answer. Safe from any thread.
///
/// Returns NULL where the library is not on this machine or lacks a function; `*reason` then says which, for good.
const struct cgdal_functions *_Nullable cgdal_load(const char *_Nullable *_Nonnull reason);

/// What cgdal_load has opened, through which symbols of the libraries that it brings are found, too.
void *_Nullable cgdal_library(void);

/// Registers the driver that a function of the library adds, after cgdal_load. Does nothing where a build of GDAL lacks it.
void cgdal_register(const char *_Nonnull function);

/// What GDAL said on this thread between cgdal_enter and cgdal_leave: the first failure, and how many there were.
struct cgdal_call {
  int failures;
  char text[1024];
};

/// Whether GDAL may reach the network; to be said before cgdal_enter. It may not unless this is called.
void cgdal_allow_network(int allow);
#define CGDAL_NO_RANGES -1
/// Asks an address for its first byte. Returns the number of curl's error, 0 for none, CGDAL_NO_RANGES where much more came; the text says
/// what failed.
int cgdal_probe(const char *_Nonnull address, char *_Nonnull text, size_t size);
/// Keeps GDAL's messages of this thread off standard error, and this thread off the network unless it is allowed.
void cgdal_enter(struct cgdal_call *_Nonnull call);
/// Ends what cgdal_enter began on the same thread; in pairs, nested.
void cgdal_leave(void);
/// Has `hear` called with every warning and error as it comes: what a crash would take along.
void cgdal_listen(void (*_Nonnull hear)(const char *_Nonnull text));

/// Sets what GDAL asks of a file, in a struct that Swift does not see. Bytes; seconds since 1970.
void cgdal_set_status(VSIStatBufL *_Nonnull status, unsigned mode, long long size, long long modified);

/// The features of a layer by columns, at most `rows` at a time; 0 where GDAL (before 3.6) or the driver cannot give them.
int cgdal_arrow_stream(OGRLayerH _Nonnull layer, struct ArrowArrayStream *_Nonnull stream, int rows);

/// `AUTHORITY:CODE` where the reference has one, else WKT2; NULL where it says nothing. Give it back with VSIFree.
char *_Nullable cgdal_reference_text(OGRSpatialReferenceH _Nullable reference);

#endif
