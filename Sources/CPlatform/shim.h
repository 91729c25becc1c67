// Why: what Swift's module of the C library leaves out, and Swift itself.
#include <pthread.h>
#include <stdint.h>
#include <sys/xattr.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

static inline long cplatform_thread_number(void) { return syscall(SYS_gettid); }
#endif

// A thread's handle is a number or an address, by system.
static inline uint64_t cplatform_thread_handle(void) { return (uint64_t)(uintptr_t)pthread_self(); }

// Asks the processor to load the memory at any address into its caches; nothing waits for it.
static inline void cplatform_prefetch(const void *address) { __builtin_prefetch(address); }
