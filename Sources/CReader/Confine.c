// Confines a reader before it reads foreign bytes. Each protection is applied if the system has it, and reported.
#define _GNU_SOURCE
#include "CReader.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void bound(int resource, uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > bytes) limit.rlim_max = bytes;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

#ifdef __linux__

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define CREADER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CREADER_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

// System calls that are refused. Reading and computing need none of them.
static const int refused[] = {
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4, __NR_execve,
    __NR_execveat, __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kill, __NR_tkill, __NR_mount,
    __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, __NR_bpf, __NR_perf_event_open,
    __NR_userfaultfd, __NR_keyctl, __NR_add_key, __NR_request_key, __NR_init_module, __NR_finit_module,
    __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_swapon, __NR_sethostname, __NR_settimeofday,
    __NR_unlinkat, __NR_mkdirat, __NR_mknodat, __NR_symlinkat, __NR_linkat, __NR_renameat2, __NR_truncate,
    __NR_fchmod, __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_utimensat, __NR_setxattr, __NR_fsetxattr,
    __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_inotify_init1, __NR_fanotify_init, __NR_openat2,
#ifdef __NR_renameat
    __NR_renameat,
#endif
#ifdef __NR_io_uring_setup
    __NR_io_uring_setup,
#endif
#ifdef __NR_pidfd_open
    __NR_pidfd_open,
#endif
#ifdef __NR_pidfd_getfd
    __NR_pidfd_getfd,
#endif
#ifdef __NR_fork
    __NR_fork, __NR_vfork, __NR_unlink, __NR_rename, __NR_mkdir, __NR_rmdir, __NR_mknod, __NR_link, __NR_symlink,
    __NR_creat, __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes,
#endif
};

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
// Skips the next instruction unless the system call is `call`.
#define IF_CALL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(call), 0, 1)

static unsigned filter_system_calls(int allow_network) {
#ifdef CREADER_ARCHITECTURE
  enum { fixed = 64, count = sizeof refused / sizeof *refused };
  struct sock_filter code[fixed + 2 * count];
  unsigned short length = 0;
#define ADD(...)                                                      \
  do {                                                                \
    const struct sock_filter part[] = {__VA_ARGS__};                  \
    memcpy(code + length, part, sizeof part);                         \
    length += sizeof part / sizeof *part;                             \
  } while (0)
  ADD(LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREADER_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS));
  ADD(LOAD(nr));
#ifdef __x86_64__
  // System calls of the x32 interface have numbers from here on.
  ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), REFUSE);
#endif
  for (size_t i = 0; i < count; i++) {
    if (allow_network && refused[i] >= 0 &&
        (refused[i] == __NR_socket || refused[i] == __NR_connect || refused[i] == __NR_bind ||
         refused[i] == __NR_socketpair))
      continue;
    ADD(IF_CALL(refused[i]), REFUSE);
  }
  // Without clone3 the C library starts threads by clone, whose flags a filter can inspect.
  ADD(IF_CALL(__NR_clone3), RETURN(SECCOMP_RET_ERRNO | ENOSYS));
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4), LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0), REFUSE, RETURN(SECCOMP_RET_ALLOW));
  // Files may be opened for reading only.
  const unsigned writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 4), LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, writes, 0, 1), REFUSE, RETURN(SECCOMP_RET_ALLOW));
#ifdef __NR_open
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_open, 0, 4), LOAD(args[1]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, writes, 0, 1), REFUSE, RETURN(SECCOMP_RET_ALLOW));
#endif
  ADD(RETURN(SECCOMP_RET_ALLOW));
  struct sock_fprog program = {length, code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? CREADER_SYSTEM_CALLS : 0;
#else
  (void)allow_network;
  return 0;
#endif
}

unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network) {
  unsigned holds = 0;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) holds |= CREADER_DIES_WITH_PARENT;
  prctl(PR_SET_DUMPABLE, 0);
  bound(RLIMIT_AS, address_space);
  bound(RLIMIT_FSIZE, file_size);
  bound(RLIMIT_CORE, 0);
  // Writing beyond the limit returns an error instead of raising a signal.
  signal(SIGXFSZ, SIG_IGN);
  holds |= CREADER_MEMORY;
  if (!allow_network && unshare(CLONE_NEWNET) == 0) holds |= CREADER_NETWORK_NAMESPACE;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return holds;
  return holds | filter_system_calls(allow_network);
}

static void allow(int ruleset, int descriptor, uint64_t access) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
  struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = descriptor};
  syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

unsigned creader_restrict_files(const char *const *folders, const int *descriptors, size_t count) {
  long version = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  // All file rights of the first version; rights of later versions by number, because older headers do not define them.
  uint64_t rights = (1ULL << 13) - 1;
  if (version >= 2) rights |= 1ULL << 13;  // link or rename to elsewhere
  if (version >= 3) rights |= 1ULL << 14;  // truncate
  if (version >= 5) rights |= 1ULL << 15;  // ioctl of devices
  struct landlock_ruleset_attr attributes = {.handled_access_fs = rights};
  int ruleset = (int)syscall(__NR_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (ruleset < 0) return 0;
  for (const char *const *folder = folders; *folder; folder++) {
    int descriptor = open(*folder, O_PATH | O_CLOEXEC);
    if (descriptor < 0) continue;
    allow(ruleset, descriptor, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE);
    close(descriptor);
  }
  for (size_t i = 0; i < count; i++) allow(ruleset, descriptors[i], LANDLOCK_ACCESS_FS_READ_FILE);
  long result = syscall(__NR_landlock_restrict_self, ruleset, 0);
  close(ruleset);
  return result == 0 ? CREADER_FILES : 0;
}

#else

unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network) {
  (void)address_space, (void)allow_network;
  bound(RLIMIT_FSIZE, file_size);
  return 0;
}

unsigned creader_restrict_files(const char *const *folders, const int *descriptors, size_t count) {
  (void)folders, (void)descriptors, (void)count;
  return 0;
}

#endif
