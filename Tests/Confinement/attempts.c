// Confines itself as a reader does and tries what a reader taken over by its file might try. Prints one line for each attempt that
// succeeds and is not expected to, and for each that fails and should succeed; then "done".
//   attempts PROCESS network|files|forked
// PROCESS is another process, which has to survive.
#include "../../Sources/CReader/Confine.c"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <threads.h>

static void refused(const char *name, long result) {
  if (result != -1 || (errno != EPERM && errno != ENOSYS && errno != EACCES)) printf("passed: %s (%ld, errno %d)\n", name, result, errno);
}
#define REFUSED(call) (errno = 0, refused(#call, (long)(call)))

static void works(const char *name, int holds) {
  if (!holds) printf("failed: %s (errno %d)\n", name, errno);
}
#define WORKS(condition) works(#condition, condition)

static int nothing(void *unused) {
  (void)unused;
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) return 64;
  pid_t other = atoi(arguments[1]);
  int allow_network = strcmp(arguments[2], "network") == 0;
  char name[] = "/tmp/geomodel-attempts-XXXXXX";
  int file = mkstemp(name);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  unsigned inherited = 0;
  if (strcmp(arguments[2], "forked") == 0) {
    inherited = creader_confine_template();
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return 1;
    pid_t server = getppid();
    pid_t process = creader_fork(channel[1]);
    if (process < 0) printf("failed: fork (errno %d)\n", errno);
    if (process != 0) {
      // The child has the other end alone; the server is the parent of both.
      close(channel[1]);
      return process < 0 || read(channel[0], name, 1) != 0;
    }
    WORKS(getppid() == server);
    WORKS(fcntl(4, F_GETFD) < 0 && fcntl(pair[0], F_GETFD) < 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || (file = open(name, O_RDWR)) < 0) return 1;
  }
  unsigned holds = creader_confine(1ULL << 40, 1 << 20, allow_network, inherited);
  WORKS((inherited & ~holds) == 0);
  unsigned expected = CREADER_DIES_WITH_PARENT | CREADER_SYSTEM_CALLS | CREADER_MEMORY | CREADER_CAPABILITIES;
  if ((holds & expected) != expected) printf("failed: confinement %x\n", holds);

  // Other processes.
  REFUSED(kill(other, SIGKILL));
  REFUSED(kill(getpid(), 0));
  REFUSED(syscall(__NR_tkill, other, SIGKILL));
  REFUSED(syscall(__NR_tgkill, other, other, SIGKILL));
  siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
  REFUSED(syscall(__NR_rt_sigqueueinfo, other, SIGKILL, &info));
  REFUSED(syscall(__NR_rt_tgsigqueueinfo, other, other, SIGKILL, &info));
  REFUSED(syscall(__NR_pidfd_open, other, 0));
  REFUSED(syscall(__NR_pidfd_send_signal, 0, SIGKILL, NULL, 0));
  REFUSED(fcntl(pair[0], F_SETOWN, other));
  REFUSED(fcntl(pair[0], F_SETSIG, SIGKILL));
  REFUSED(ioctl(pair[0], FIOSETOWN, &other));
  struct rlimit limit = {0, 0};
  REFUSED(syscall(__NR_prlimit64, other, RLIMIT_CPU, &limit, NULL));
  REFUSED(syscall(__NR_prlimit64, other, RLIMIT_CPU, NULL, &limit));
  REFUSED(syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL));
  REFUSED(setpriority(PRIO_PROCESS, other, 19));
  REFUSED(syscall(__NR_sched_setscheduler, other, 0, &limit));
  REFUSED(syscall(__NR_sched_setaffinity, other, sizeof limit, &limit));
  REFUSED(syscall(__NR_ioprio_set, 1, other, 0));
  REFUSED(syscall(__NR_ptrace, 16, other, 0, 0));
  REFUSED(syscall(__NR_process_vm_writev, other, NULL, 0, NULL, 0, 0));
  REFUSED(syscall(__NR_process_madvise, 0, NULL, 0, 0, 0));
  REFUSED(syscall(__NR_kcmp, other, other, 0, 0, 0));
  REFUSED(shmget(4711, 4096, IPC_CREAT | 0600));
  REFUSED(syscall(__NR_mq_open, "x", O_CREAT, 0600, NULL));
  REFUSED(syscall(__NR_semget, 4711, 1, IPC_CREAT));
  REFUSED(syscall(__NR_msgget, 4711, IPC_CREAT));
  // Processes and programs.
  REFUSED(fork());
  REFUSED(vfork());
  REFUSED(syscall(__NR_clone3, NULL, 0));
  REFUSED(syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0));
  REFUSED(execl("/bin/true", "true", NULL));
  REFUSED(syscall(__NR_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0));
  // Files.
  REFUSED(open(name, O_WRONLY));
  REFUSED(open(name, O_RDWR));
  REFUSED(open("/tmp/geomodel-attempts-new", O_CREAT | O_RDONLY, 0600));
  REFUSED(open("/tmp", O_TMPFILE | O_RDWR, 0600));
  REFUSED(syscall(__NR_openat2, AT_FDCWD, name, NULL, 0));
  REFUSED(unlink(name));
  REFUSED(rename(name, "/tmp/geomodel-attempts-new"));
  REFUSED(syscall(__NR_renameat2, AT_FDCWD, name, AT_FDCWD, "/tmp/geomodel-attempts-new", 0));
  REFUSED(link(name, "/tmp/geomodel-attempts-new"));
  REFUSED(symlink(name, "/tmp/geomodel-attempts-new"));
  REFUSED(mkdir("/tmp/geomodel-attempts-new", 0700));
  REFUSED(mknod("/tmp/geomodel-attempts-new", S_IFIFO | 0600, 0));
  REFUSED(truncate(name, 0));
  REFUSED(chmod(name, 0777));
  REFUSED(fchmod(file, 0777));
  REFUSED(syscall(452 /* fchmodat2 */, AT_FDCWD, name, 0777, 0));
  REFUSED(chown(name, 0, 0));
  REFUSED(fchown(file, 0, 0));
  REFUSED(setxattr(name, "user.x", "x", 1, 0));
  REFUSED(lsetxattr(name, "user.x", "x", 1, 0));
  REFUSED(fsetxattr(file, "user.x", "x", 1, 0));
  REFUSED(removexattr(name, "user.x"));
  REFUSED(utimes(name, NULL));
#ifdef __NR_futimesat
  REFUSED(syscall(__NR_futimesat, AT_FDCWD, name, NULL));
#endif
  REFUSED(syscall(__NR_utimensat, AT_FDCWD, name, NULL, 0));
  REFUSED(chdir("/"));
  REFUSED(chroot("/"));
  // The system.
  REFUSED(syscall(__NR_fsopen, "ext4", 0));
  REFUSED(syscall(__NR_fsmount, 0, 0, 0));
  REFUSED(syscall(__NR_open_tree, AT_FDCWD, "/", 0));
  REFUSED(syscall(__NR_move_mount, 0, "", 0, "", 0));
  REFUSED(syscall(__NR_mount, "none", "/tmp", "tmpfs", 0, NULL));
  REFUSED(syscall(__NR_umount2, "/tmp", 0));
  REFUSED(unshare(CLONE_NEWUSER));
  REFUSED(syscall(__NR_setns, 0, 0));
  REFUSED(syscall(__NR_bpf, 0, NULL, 0));
  REFUSED(syscall(__NR_perf_event_open, NULL, 0, 0, 0, 0));
  REFUSED(syscall(__NR_io_uring_setup, 1, NULL));
  REFUSED(syscall(__NR_userfaultfd, 0));
  REFUSED(syscall(__NR_keyctl, 0, 0, 0, 0, 0));
  REFUSED(syscall(__NR_inotify_init1, 0));
  REFUSED(syscall(__NR_sethostname, "x", 1));
  REFUSED(syscall(__NR_clock_settime, 0, NULL));
  REFUSED(syscall(__NR_reboot, 0, 0, 0, NULL));
  REFUSED(syscall(__NR_capset, NULL, NULL));
  REFUSED(prctl(PR_SET_PDEATHSIG, 0));
  REFUSED(prctl(PR_SET_DUMPABLE, 1));
  REFUSED(setuid(0));
  REFUSED(ioctl(0, TIOCSTI, "x"));
  // The network.
  REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
  REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
  REFUSED(listen(pair[0], 1));
  REFUSED(accept(pair[0], NULL, NULL));
  if (!allow_network) {
    REFUSED(socket(AF_INET, SOCK_STREAM, 0));
    REFUSED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    REFUSED(connect(pair[0], NULL, 0));
  }
#ifdef __x86_64__
  // The same calls under the numbers of x32.
  REFUSED(syscall(0x40000000 + __NR_getpid));
#endif

  // What readers do.
  int reading = open(name, O_RDONLY | O_CLOEXEC);
  WORKS(reading >= 0 && pwrite(file, "text", 4, 0) == 4 && ftruncate(file, 2) == 0);
  WORKS(fcntl(reading, F_GETFL) >= 0 && fcntl(reading, F_DUPFD_CLOEXEC, 10) >= 10);
  int memory = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  WORKS(memory >= 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) == 0);
  WORKS(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 0);
  WORKS(send(pair[0], "x", 1, MSG_NOSIGNAL) == 1);
  thrd_t thread;
  WORKS(thrd_create(&thread, nothing, NULL) == thrd_success && thrd_join(thread, NULL) == thrd_success);
  WORKS(raise(0) == 0);
  if (allow_network) WORKS(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
  // It stays where it is: nothing here may remove it.
  printf("%s\ndone\n", name);
  return 0;
}
