// Finds Cairo, Pango and libspng on first use.
#define _GNU_SOURCE
#include "CCairo.h"

#include "CLibraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Cairo, Pango, GObject and fontconfig are found through this one, which needs them all.
static const char *const text_names[] = {
#ifdef __APPLE__
    "libpangocairo-1.0.0.dylib",
    "/opt/homebrew/lib/libpangocairo-1.0.dylib",
    "/usr/local/lib/libpangocairo-1.0.dylib",
#else
    "libpangocairo-1.0.so.0",
    "libpangocairo-1.0.so",
#endif
};

static const char *const png_names[] = {
#ifdef __APPLE__
    "libspng.0.dylib",
    "/opt/homebrew/lib/libspng.dylib",
    "/usr/local/lib/libspng.dylib",
#else
    "libspng.so.0",
    "libspng.so",
#endif
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ccairo_functions functions;
static int loaded;
static char failure[512];

static void load(void) {
  void *library = clibraries_open("Pango (libpangocairo-1.0-0, of Debian)", "libpangocairo.so", text_names,
                                  sizeof text_names / sizeof *text_names, failure, sizeof failure);
  if (!library) return;

#define CCAIRO_FIND(name)                                                       \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "the libraries of Pango or libspng lack " #name); \
    return;                                                                   \
  }
  CCAIRO_FUNCTIONS(CCAIRO_FIND)
  CCAIRO_TEXT_FUNCTIONS(CCAIRO_FIND)
  library = clibraries_open("libspng (libspng0, of Debian)", "libspng.so", png_names, sizeof png_names / sizeof *png_names, failure,
                            sizeof failure);
  if (!library) return;
  CCAIRO_PNG_FUNCTIONS(CCAIRO_FIND)
#undef CCAIRO_FIND
  loaded = 1;
}

const struct ccairo_functions *ccairo_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}
