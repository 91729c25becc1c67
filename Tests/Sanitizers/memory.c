// Lifts the bound of the address space that readers, writers, engines, feeds and painters set themselves, as a preloaded library: a
// sanitizer maps terabytes. For these tests only; no server does so by itself.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  return resource == RLIMIT_AS ? 0 : (int)syscall(SYS_prlimit64, 0, resource, limit, 0);
}
