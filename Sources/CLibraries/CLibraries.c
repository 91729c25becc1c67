// Finds the libraries that are opened on first use: those beside the program, which a wheel brings, else those of the machine.
#define _GNU_SOURCE
#include "CLibraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef __linux__
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

static char folder[PATH_MAX + sizeof "/geomodel-libraries"];

static void find(void) {
  // A link's text, not the file it leads to: an update may have replaced the program. Without /proc, the name that was started.
  ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  if (length > 0) {
    folder[length] = 0;
  } else {
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (!started || !realpath(started, folder)) folder[0] = 0;
  }
  char *end = strrchr(folder, '/');
  struct stat status;
  if (end) strcpy(end, "/geomodel-libraries");
  if (!end || stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) folder[0] = 0;
}
#else
static char folder[1];
static void find(void) {}
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *clibraries_folder(void) {
  pthread_once(&once, find);
  return folder[0] ? folder : NULL;
}

void clibraries_isolate(void) {
  static const char *const variables[] = {"PROJ_DATA", "PROJ_LIB", "PROJ_AUX_DB"};
  for (size_t i = 0; clibraries_folder() && i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
}

void *clibraries_open(const char *title, const char *bundled, const char *const *names, size_t count, char *failure, size_t size) {
  char path[sizeof folder + 64];
  const char *const paths[] = {path};
  if (clibraries_folder()) {
    snprintf(path, sizeof path, "%s/%s", folder, bundled);
    names = paths;
    count = 1;
  }
  for (size_t i = 0; i < count; i++) {
    void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (library) return library;
    // The first answer names the cause: a library that is there but does not load, or the expected name.
    if (i > 0) continue;
    const char *said = dlerror();
    snprintf(failure, size, "%s was not found: %s", title, said ? said : names[0]);
  }
  return NULL;
}
