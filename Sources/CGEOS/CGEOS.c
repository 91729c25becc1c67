// Finds GEOS on first use: the versions this code was built against first, then whatever the machine has.
#define _GNU_SOURCE
#include "CGEOS.h"

#include "CLibraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *const names[] = {
#ifdef __APPLE__
    "libgeos_c.1.dylib",
    "libgeos_c.dylib",
    "/opt/homebrew/lib/libgeos_c.dylib",
    "/usr/local/lib/libgeos_c.dylib",
#else
    "libgeos_c.so.1",
    "libgeos_c.so",
#endif
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cgeos_functions functions;
static int loaded;
static char failure[512];

static _Thread_local struct cgeos_interruption interruption;

struct cgeos_interruption cgeos_set_interruption(struct cgeos_interruption next) {
  struct cgeos_interruption last = interruption;
  interruption = next;
  return last;
}

static _Thread_local void *value;

void *cgeos_thread_value(void) { return value; }
void cgeos_set_thread_value(void *next) { value = next; }

bool cgeos_is_interruption_requested(void) {
  return interruption.is_requested && interruption.is_requested(interruption.context);
}

// GEOS calls this on each thread before it looks at its flag of interruption, which is one for all threads.
static void check_interruption(void) {
  if (cgeos_is_interruption_requested()) functions.GEOS_interruptRequest();
}

static void load(void) {
  void *library = clibraries_open("GEOS", "libgeos_c.so", names, sizeof names / sizeof *names, failure, sizeof failure);
  if (!library) return;

#define CGEOS_FIND(name)                                                        \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "GEOS lacks " #name);                 \
    return;                                                                   \
  }
  CGEOS_FUNCTIONS(CGEOS_FIND)
#undef CGEOS_FIND
  functions.GEOS_interruptRegisterCallback(check_interruption);
  loaded = 1;
}

const struct cgeos_functions *cgeos_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}
