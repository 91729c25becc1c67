// Finds PROJ on first use: the versions this code was built against first, then whatever the machine has.
#define _GNU_SOURCE
#include "CPROJ.h"

#include "CLibraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  void *library = clibraries_open("PROJ", "libproj.so", names, sizeof names / sizeof *names, failure, sizeof failure);
  if (!library) return;

#define CPROJ_FIND(name)                                                        \
  functions.name = (__typeof__(functions.name))dlsym(library, #name);         \
  if (!functions.name) {                                                      \
    snprintf(failure, sizeof failure, "PROJ lacks " #name);                 \
    return;                                                                   \
  }
  CPROJ_FUNCTIONS(CPROJ_FIND)
#undef CPROJ_FIND
  if (clibraries_folder()) {
    // A new context copies this from the one that NULL stands for. It comes before the user's folder and the one that was built in.
    static char data[4200];
    snprintf(data, sizeof data, "%s/proj", clibraries_folder());
    functions.proj_context_set_search_paths(NULL, 1, (const char *const[]){data});
  }
  loaded = 1;
}

const struct cproj_functions *cproj_load(const char **reason) {
  pthread_once(&once, load);
  *reason = loaded ? NULL : failure;
  return loaded ? &functions : NULL;
}

/// The folders that PROJ searches, of PROJ_DATA, of its user and of its installation, with a colon between them.
static const char *folders;
static pthread_once_t folders_once = PTHREAD_ONCE_INIT;
static void find_folders(void) { folders = strdup(functions.proj_info().searchpath); }

/// Whether a name lies beneath one of PROJ's folders as it is written: what its owner links there is the owner's.
static int is_own(const char *name) {
  pthread_once(&folders_once, find_folders);
  if (!folders || strstr(name, "/../")) return 0;
  for (const char *folder = folders; *folder;) {
    size_t length = strcspn(folder, ":");
    if (length > 0 && strncmp(name, folder, length) == 0 && name[length] == '/') return 1;
    folder += length + (folder[length] == ':');
  }
  return 0;
}

static PROJ_FILE_HANDLE *file_open(PJ_CONTEXT *context, const char *name, PROJ_OPEN_ACCESS access, void *data) {
  (void)context, (void)data;
  if (access != PROJ_OPEN_ACCESS_READ_ONLY || !is_own(name)) return NULL;
  int descriptor = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  FILE *file = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(descriptor, "rb") : NULL;
  if (!file && descriptor >= 0) close(descriptor);
  return (PROJ_FILE_HANDLE *)file;
}

static size_t file_read(PJ_CONTEXT *context, PROJ_FILE_HANDLE *file, void *bytes, size_t count, void *data) {
  (void)context, (void)data;
  return fread(bytes, 1, count, (FILE *)file);
}

static size_t file_write(PJ_CONTEXT *context, PROJ_FILE_HANDLE *file, const void *bytes, size_t count, void *data) {
  (void)context, (void)file, (void)bytes, (void)count, (void)data;
  return 0;
}

static int file_seek(PJ_CONTEXT *context, PROJ_FILE_HANDLE *file, long long offset, int whence, void *data) {
  (void)context, (void)data;
  return fseeko((FILE *)file, (off_t)offset, whence) == 0;
}

static unsigned long long file_tell(PJ_CONTEXT *context, PROJ_FILE_HANDLE *file, void *data) {
  (void)context, (void)data;
  return (unsigned long long)ftello((FILE *)file);
}

static void file_close(PJ_CONTEXT *context, PROJ_FILE_HANDLE *file, void *data) {
  (void)context, (void)data;
  fclose((FILE *)file);
}

static int file_exists(PJ_CONTEXT *context, const char *name, void *data) {
  (void)context, (void)data;
  struct stat status;
  return is_own(name) && stat(name, &status) == 0;
}

static int refuse(PJ_CONTEXT *context, const char *name, void *data) {
  (void)context, (void)name, (void)data;
  return 0;
}

static int refuse_two(PJ_CONTEXT *context, const char *from, const char *to, void *data) {
  (void)context, (void)from, (void)to, (void)data;
  return 0;
}

void cproj_confine(PJ_CONTEXT *context) {
  static const PROJ_FILE_API files = {1,         file_open,   file_read, file_write, file_seek, file_tell,
                                      file_close, file_exists, refuse,    refuse,     refuse_two};
  functions.proj_context_set_fileapi(context, &files, NULL);
}
