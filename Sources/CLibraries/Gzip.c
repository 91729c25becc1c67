// Packs bytes by the machine's zlib, which every system with these libraries has.
#include "CLibraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*begin)(struct clibraries_zstream *, int, int, int, int, int, const char *, int);
static int (*step)(struct clibraries_zstream *, int);
static int (*end)(struct clibraries_zstream *);

static void find(void) {
  void *library = clibraries_zlib();
  if (!library) return;
  begin = (__typeof__(begin))dlsym(library, "deflateInit2_");
  step = (__typeof__(step))dlsym(library, "deflate");
  end = (__typeof__(end))dlsym(library, "deflateEnd");
}

void *clibraries_zlib(void) {
  void *library = dlopen("libz.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) library = dlopen("libz.so.1", RTLD_LAZY);
  if (!library) library = dlopen("libz.1.dylib", RTLD_LAZY);
  return library;
}

size_t clibraries_gzip(const uint8_t *source, size_t size, uint8_t *target, size_t capacity) {
  pthread_once(&once, find);
  struct clibraries_zstream stream;
  memset(&stream, 0, sizeof stream);
  // Level 6, Deflate, the largest window in the form of gzip, the default memory and strategy.
  if (size > UINT32_MAX || capacity > UINT32_MAX || !begin || !step || !end || begin(&stream, 6, 8, 15 + 16, 8, 0, "1.2.11", (int)sizeof stream) != 0)
    return 0;
  stream.next_in = source;
  stream.avail_in = (unsigned)size;
  stream.next_out = target;
  stream.avail_out = (unsigned)capacity;
  int status = step(&stream, 4);
  size_t count = capacity - stream.avail_out;
  end(&stream);
  return status == 1 ? count : 0;
}
