// Finds GDAL on first use: the versions this code was built against first, then whatever the machine has.
#define _GNU_SOURCE
#include "CGDAL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

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
static int loaded;
static char failure[512];

static void load(void) {
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
    library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    // The first answer is the telling one: a library that is there but does not load, or the expected name.
    if (!library && i == 0) {
      const char *said = dlerror();
      snprintf(failure, sizeof failure, "GDAL was not found: %s", said ? said : names[0]);
    }
  }
  if (!library) return;

#define CGDAL_FIND(name)                                                        \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "GDAL lacks " #name);                 \
    return;                                                                   \
  }
  CGDAL_FUNCTIONS(CGDAL_FIND)
#undef CGDAL_FIND
  loaded = 1;
}

const struct cgdal_functions *cgdal_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}
