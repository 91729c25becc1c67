// Finds GDAL on first use: the versions this code was built against first, then whatever the machine has.
#define _GNU_SOURCE
#include "CGDAL.h"

#include "CLibraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {
#ifdef __APPLE__
    "libgdal.dylib",
    "/opt/homebrew/lib/libgdal.dylib",
    "/usr/local/lib/libgdal.dylib",
#else
    "libgdal.so.32",
    "libgdal.so.39",
    "libgdal.so.38",
    "libgdal.so.37",
    "libgdal.so.36",
    "libgdal.so.35",
    "libgdal.so.34",
    "libgdal.so.33",
    "libgdal.so.31",
    "libgdal.so.30",
    "libgdal.so",
#endif
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cgdal_functions functions;
static int (*arrow_stream)(OGRLayerH, struct ArrowArrayStream *, char **);
static void *library;
static int loaded;
static char failure[512];

static void load(void) {
  library = clibraries_open("GDAL", "libgdal.so", names, sizeof names / sizeof *names, failure, sizeof failure);
  if (!library) return;

#define CGDAL_FIND(name)                                                        \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "GDAL lacks " #name);                 \
    return;                                                                   \
  }
  CGDAL_FUNCTIONS(CGDAL_FIND)
#undef CGDAL_FIND
  // Declared as a C++ bool, of which only the low byte counts.
  arrow_stream = (__typeof__(arrow_stream))dlsym(library, "OGR_L_GetArrowStream");
  functions.OSRSetPROJEnableNetwork(0);
  loaded = 1;
}

const struct cgdal_functions *cgdal_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}

void *cgdal_library(void) { return library; }

void cgdal_register(const char *function) {
  void (*add)(void) = (void (*)(void))dlsym(library, function);
  if (add) add();
}

static void (*listener)(const char *);

void cgdal_listen(void (*hear)(const char *)) { listener = hear; }

// CPLPushErrorHandlerEx is per thread, and so is the data it keeps.
static void collect(CPLErr class, CPLErrorNum number, const char *text) {
  (void)number;
  struct cgdal_call *call = functions.CPLGetErrorHandlerUserData();
  if (class >= CE_Warning && listener) listener(text);
  if (class < CE_Failure || !call) return;
  if (call->failures++ == 0) snprintf(call->text, sizeof call->text, "%s", text);
}

// NULL would mean "ask the next handler", so refusing takes an answer that is an error. GDAL frees it.
static CPLHTTPResult *refuse(const char *url, CSLConstList options, GDALProgressFunc progress, void *progress_data,
                             CPLHTTPFetchWriteFunc write, void *write_data, void *user) {
  (void)url, (void)options, (void)progress, (void)progress_data, (void)write, (void)write_data, (void)user;
  CPLHTTPResult *result = functions.VSICalloc(1, sizeof *result);
  if (!result) return NULL;
  result->nStatus = 1;
  result->pszErrBuf = functions.CPLStrdup("the network is not allowed");
  return result;
}

static int allows_network;

void cgdal_allow_network(int allow) { allows_network = allow; }

// Counts the bytes, and ends a download that nobody asked for: a server may know no ranges.
static size_t count_bytes(void *data, size_t size, size_t count, void *total) {
  (void)data;
  *(size_t *)total += size * count;
  return *(size_t *)total > 1 << 16 ? 0 : size * count;
}

int cgdal_probe(const char *address, char *text, size_t size) {
  static const char *const options[] = {"HEADERS=Range: bytes=0-0", "CONNECTTIMEOUT=10", "TIMEOUT=20", NULL};
  size_t total = 0;
  CPLHTTPResult *result = functions.CPLHTTPFetchEx(address, (CSLConstList)(uintptr_t)options, NULL, NULL, count_bytes, &total);
  *text = 0;
  if (!result) return 0;
  int failure = total > 1 << 16 ? 0 : result->nStatus;
  // GDAL asks for 16 KiB, and takes as much of any answer.
  if (failure == 0 && total > 1 << 14) failure = CGDAL_NO_RANGES;
  if (total <= 1 << 16 && result->pszErrBuf) snprintf(text, size, "%s", result->pszErrBuf);
  functions.CPLHTTPDestroyResult(result);
  return failure;
}

void cgdal_enter(struct cgdal_call *call) {
  memset(call, 0, sizeof *call);
  functions.CPLPushErrorHandlerEx(collect, call);
  if (!allows_network) functions.CPLHTTPPushFetchCallback(refuse, NULL);
}

void cgdal_leave(void) {
  if (!allows_network) functions.CPLHTTPPopFetchCallback();
  functions.CPLPopErrorHandler();
}

void cgdal_set_status(VSIStatBufL *status, unsigned mode, long long size, long long modified) {
  memset(status, 0, sizeof *status);
  status->st_mode = (mode_t)mode;
  status->st_size = size;
  status->st_mtime = (time_t)modified;
}

int cgdal_arrow_stream(OGRLayerH layer, struct ArrowArrayStream *stream, int rows) {
  char limit[64];
  snprintf(limit, sizeof limit, "MAX_FEATURES_IN_BATCH=%d", rows);
  char *options[] = {"INCLUDE_FID=YES", "GEOMETRY_ENCODING=WKB", limit, NULL};
  return arrow_stream ? arrow_stream(layer, stream, options) & 0xff : 0;
}

char *cgdal_reference_text(OGRSpatialReferenceH reference) {
  if (!reference) return NULL;
  const char *authority = functions.OSRGetAuthorityName(reference, NULL);
  const char *code = functions.OSRGetAuthorityCode(reference, NULL);
  if (authority && code) {
    char text[128];
    snprintf(text, sizeof text, "%s:%s", authority, code);
    return functions.CPLStrdup(text);
  }
  static const char *const options[] = {"FORMAT=WKT2_2019", NULL};
  char *text = NULL;
  // "Undefined" is how GeoPackage and others write that none is known.
  if (functions.OSRExportToWktEx(reference, &text, options) == OGRERR_NONE && text && *text &&
      !strstr(text, "\"Undefined"))
    return text;
  functions.VSIFree(text);
  return NULL;
}
