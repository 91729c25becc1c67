// Why: what Swift's module of the C library leaves out.
#include <sys/xattr.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

static inline long cplatform_thread_number(void) { return syscall(SYS_gettid); }
#endif
