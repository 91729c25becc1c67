// Finds PROJ on first use: the versions this code was built against first, then whatever the machine has.
#define _GNU_SOURCE
#include "CPROJ.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *const names[] = {
#ifdef __APPLE__
    "libproj.25.dylib",
    "libproj.dylib",
    "/opt/homebrew/lib/libproj.dylib",
    "/usr/local/lib/libproj.dylib",
#else
    "libproj.so.25",
    "libproj.so.26",
    "libproj.so.22",
    "libproj.so",
#endif
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cproj_functions functions;
static int loaded;
static char failure[512];

static void load(void) {
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
    library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    // The first answer names the cause: a library that is there but does not load, or the expected name.
    if (!library && i == 0) {
      const char *said = dlerror();
      snprintf(failure, sizeof failure, "PROJ was not found: %s", said ? said : names[0]);
    }
  }
  if (!library) return;

#define CPROJ_FIND(name)                                                        \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "PROJ lacks " #name);                 \
    return;                                                                   \
  }
  CPROJ_FUNCTIONS(CPROJ_FIND)
#undef CPROJ_FIND
  loaded = 1;
}

const struct cproj_functions *cproj_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}
