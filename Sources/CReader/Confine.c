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

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define CREADER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CREADER_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef __NR_close_range
#define __NR_close_range 436
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

// System calls that are allowed whatever their arguments: what reading and computing need. Those that are called most come first.
static const int allowed[] = {
    __NR_read, __NR_pread64, __NR_futex, __NR_write, __NR_pwrite64, __NR_lseek, __NR_mmap, __NR_munmap, __NR_mprotect,
    __NR_madvise, __NR_mremap, __NR_brk, __NR_recvmsg, __NR_sendmsg, __NR_fstat, __NR_newfstatat, __NR_statx, __NR_close,
    // Files.
    __NR_readv, __NR_preadv, __NR_writev, __NR_pwritev, __NR_ftruncate, __NR_fallocate, __NR_fsync, __NR_fdatasync,
    __NR_fadvise64, __NR_flock, __NR_dup, __NR_dup3, __NR_pipe2, __NR_faccessat, __NR_readlinkat, __NR_getdents64, __NR_getcwd,
    __NR_statfs, __NR_fstatfs, __NR_umask,
    // Memory, and files in it.
    __NR_msync, __NR_mincore, __NR_memfd_create, __NR_membarrier,
    // Waiting.
    __NR_ppoll, __NR_pselect6, __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_eventfd2, __NR_timerfd_create,
    __NR_timerfd_settime, __NR_timerfd_gettime, __NR_nanosleep, __NR_clock_nanosleep, __NR_clock_gettime, __NR_clock_getres,
    __NR_gettimeofday, __NR_sched_yield, __NR_restart_syscall,
    // The process itself and its threads.
    __NR_exit, __NR_exit_group, __NR_set_tid_address, __NR_set_robust_list, __NR_getpid, __NR_gettid, __NR_getppid,
    __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid, __NR_getresuid, __NR_getresgid, __NR_getgroups, __NR_getrusage,
    __NR_times, __NR_uname, __NR_sysinfo, __NR_getcpu, __NR_sched_getaffinity, __NR_sched_getparam,
    __NR_sched_getscheduler, __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_getrandom,
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_rt_sigpending, __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait, __NR_sigaltstack,
    // The channel.
    __NR_sendto, __NR_recvfrom, __NR_shutdown, __NR_getsockopt, __NR_getsockname, __NR_getpeername,
    // Restrictions of itself.
    __NR_landlock_create_ruleset, __NR_landlock_add_rule, __NR_landlock_restrict_self,
#ifdef __NR_rseq
    __NR_rseq,
#endif
#ifdef __NR_faccessat2
    __NR_faccessat2,
#endif
#ifdef __NR_getrlimit
    __NR_getrlimit,
#endif
#ifdef __NR_arch_prctl
    __NR_arch_prctl,
#endif
// Older names, which newer machines have no numbers for.
#ifdef __NR_open
    __NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_dup2, __NR_poll, __NR_select, __NR_epoll_wait, __NR_time,
    __NR_pause,
#endif
};

// System calls that a reader of the network needs as well.
static const int network[] = {
    __NR_socketpair, __NR_connect, __NR_bind, __NR_setsockopt, __NR_sendmmsg, __NR_recvmmsg,
};

// Arguments, one of which a system call must have.
static const unsigned file_commands[] = {
    F_DUPFD,  F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,      F_GETFL,       F_SETFL,     F_GETLK,
    F_SETLK,  F_SETLKW,        F_OFD_GETLK,  F_OFD_SETLK,  F_OFD_SETLKW,  F_ADD_SEALS, F_GET_SEALS,
};
// PR_SET_VMA, by which the C library names its memory, is missing in older headers.
static const unsigned process_options[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41};
static const unsigned device_commands[] = {TCGETS, FIONREAD, FIONBIO};
static const unsigned socket_families[] = {AF_INET, AF_INET6, AF_NETLINK};

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define LOAD_HIGH(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member) + 4)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
// Skips `count` instructions unless the system call is `call`.
#define IF_CALL(call, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(call), 0, count)
#define COUNT(list) (sizeof(list) / sizeof *(list))

#ifdef CREADER_ARCHITECTURE
static struct sock_filter code[1024];
static unsigned short length;
#define ADD(...)                                            \
  do {                                                      \
    const struct sock_filter part[] = {__VA_ARGS__};        \
    memcpy(code + length, part, sizeof part);               \
    length += sizeof part / sizeof *part;                   \
  } while (0)

static void allow_calls(const int *calls, size_t count) {
  for (size_t i = 0; i < count; i++) ADD(IF_CALL(calls[i], 1), RETURN(SECCOMP_RET_ALLOW));
}

// Allows a system call whose argument is one of `values`. Arguments of these calls are 32 bits wide.
static void allow_values(int call, int argument, const unsigned *values, size_t count) {
  ADD(IF_CALL(call, 2 * count + 2), LOAD(args[argument]));
  for (size_t i = 0; i < count; i++) ADD(IF_CALL(values[i], 1), RETURN(SECCOMP_RET_ALLOW));
  ADD(REFUSE);
}

// Allows a system call without any of the given bits in the argument, or only with one of them.
static void allow_bits(int call, int argument, unsigned bits, int present) {
  ADD(IF_CALL(call, 4), LOAD(args[argument]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, !present, present), RETURN(SECCOMP_RET_ALLOW),
      REFUSE);
}
#endif

static unsigned filter_system_calls(int allow_network) {
#ifdef CREADER_ARCHITECTURE
  length = 0;
  ADD(LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREADER_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS));
  // The x32 interface of x86-64 has numbers of its own, none of which is listed.
  ADD(LOAD(nr));
  allow_calls(allowed, COUNT(allowed));
  // Files may be opened for reading only.
  const unsigned writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  allow_bits(__NR_openat, 2, writes, 0);
#ifdef __NR_open
  allow_bits(__NR_open, 1, writes, 0);
#endif
  // Threads, no processes. Without clone3 the C library starts threads by clone, whose flags a filter can inspect.
  ADD(IF_CALL(__NR_clone3, 1), RETURN(SECCOMP_RET_ERRNO | ENOSYS));
  allow_bits(__NR_clone, 0, CLONE_THREAD, 1);
  allow_values(__NR_fcntl, 1, file_commands, COUNT(file_commands));
  allow_values(__NR_ioctl, 1, device_commands, COUNT(device_commands));
  allow_values(__NR_prctl, 0, process_options, COUNT(process_options));
  // Signals to itself alone: abort() needs them.
  const unsigned self = (unsigned)getpid();
  allow_values(__NR_tgkill, 0, &self, 1);
  // The process's own limits, which are read and not set.
  ADD(IF_CALL(__NR_prlimit64, 8), LOAD(args[0]), IF_CALL(0, 5), LOAD(args[2]), IF_CALL(0, 3), LOAD_HIGH(args[2]), IF_CALL(0, 1),
      RETURN(SECCOMP_RET_ALLOW), REFUSE);
  if (allow_network) {
    allow_calls(network, COUNT(network));
    allow_values(__NR_socket, 0, socket_families, COUNT(socket_families));
  }
  ADD(REFUSE);
  struct sock_fprog program = {length, code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? CREADER_SYSTEM_CALLS : 0;
#else
  (void)allow_network;
  return 0;
#endif
}

// Gives up the rights that a process of the administrator has.
static unsigned drop_capabilities(void) {
  for (int capability = 0, held; (held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0)) >= 0; capability++)
    if (held) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  return syscall(__NR_capset, &header, none) == 0 ? CREADER_CAPABILITIES : 0;
}

unsigned creader_confine_template(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  bound(RLIMIT_CORE, 0);
  unsigned holds = unshare(CLONE_NEWNET) == 0 ? CREADER_NETWORK_NAMESPACE : 0;
  drop_capabilities();
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return holds;
}

pid_t creader_fork(int channel) {
  // Where the C library keeps its thread's number. fork() renews it as the kernel does here, but makes a child of this process, of
  // which the server could not wait for the end.
  pid_t *number = NULL;
  if (prctl(PR_GET_TID_ADDRESS, &number) != 0) return -1;
  struct stat threads;
  // A folder has a link for itself, for its name and for each folder in it.
  if (!number || *number != getpid() || stat("/proc/self/task", &threads) != 0 || threads.st_nlink != 3) {
    errno = ENOSYS;
    return -1;
  }
  // The last two arguments change places between machines; one of them is not used.
  const unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
  pid_t process = (pid_t)syscall(__NR_clone, flags, NULL, NULL, number, number);
  if (process == 0 && (dup2(channel, 3) != 3 || syscall(__NR_close_range, 4, ~0U, 0) != 0)) _exit(1);
  return process;
}

unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network, unsigned inherited) {
  unsigned holds = inherited & CREADER_NETWORK_NAMESPACE;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) holds |= CREADER_DIES_WITH_PARENT;
  prctl(PR_SET_DUMPABLE, 0);
  bound(RLIMIT_AS, address_space);
  bound(RLIMIT_FSIZE, file_size);
  bound(RLIMIT_CORE, 0);
  // Writing beyond the limit returns an error instead of raising a signal.
  signal(SIGXFSZ, SIG_IGN);
  holds |= CREADER_MEMORY;
  if (!allow_network && !inherited && unshare(CLONE_NEWNET) == 0) holds |= CREADER_NETWORK_NAMESPACE;
  holds |= drop_capabilities();
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

unsigned creader_confine_template(void) { return 0; }

pid_t creader_fork(int channel) {
  (void)channel;
  errno = ENOSYS;
  return -1;
}

unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network, unsigned inherited) {
  (void)address_space, (void)allow_network, (void)inherited;
  bound(RLIMIT_FSIZE, file_size);
  return 0;
}

unsigned creader_restrict_files(const char *const *folders, const int *descriptors, size_t count) {
  (void)folders, (void)descriptors, (void)count;
  return 0;
}

#endif
