// Spawning readers, their channel and shared memory, and decoding of texts.
#define _GNU_SOURCE
#include <iconv.h>
#include "CReader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int creader_spawn(const char *executable, char *const *arguments, int channel, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // dup2 of 3 to 3 would keep close-on-exec, so the channel is copied first.
  int copy = channel;
  if (channel == 3) copy = fcntl(channel, F_DUPFD_CLOEXEC, 4);
  posix_spawn_file_actions_adddup2(&actions, copy, 3);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef __APPLE__
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#elif defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
#endif
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, flags);
  int failure = posix_spawn(process, executable, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (copy != channel) close(copy);
  return failure;
}

uint64_t creader_peak_memory(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  return (uint64_t)usage.ru_maxrss;
#else
  return (uint64_t)usage.ru_maxrss << 10;
#endif
}

int creader_await(pid_t process) {
  siginfo_t info;
  while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

int creader_send(int channel, const void *bytes, size_t length, const int *descriptors, size_t count) {
  char control[CMSG_SPACE(sizeof(int) * 253)];
  if (count > 253) return EINVAL;
  const char *next = bytes;
  while (length > 0) {
    struct iovec part = {(void *)next, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
      memset(control, 0, sizeof control);
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
      struct cmsghdr *header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int) * count);
      memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
#ifdef MSG_NOSIGNAL
    ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL);
#else
    ssize_t sent = sendmsg(channel, &message, 0);
#endif
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    count = 0;
    next += sent;
    length -= (size_t)sent;
  }
  return 0;
}

ssize_t creader_receive(int channel, void *bytes, size_t length, int *descriptors, size_t *count, size_t capacity) {
  char control[CMSG_SPACE(sizeof(int) * 253)];
  struct iovec part = {bytes, length};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
#ifdef MSG_CMSG_CLOEXEC
  int flags = MSG_CMSG_CLOEXEC;
#else
  int flags = 0;
#endif
  ssize_t received;
  do received = recvmsg(channel, &message, flags);
  while (received < 0 && errno == EINTR);
  if (received < 0) return received;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t arrived = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < arrived; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      if (*count < capacity)
        descriptors[(*count)++] = descriptor;
      else
        close(descriptor);
    }
  }
  // Files that this process has no descriptors for are dropped by the system.
  if (received > 0 && message.msg_flags & MSG_CTRUNC) {
    errno = EMFILE;
    return -1;
  }
  return received;
}

#ifdef __linux__

int creader_memory_file(void) { return memfd_create("geomodel", MFD_CLOEXEC | MFD_ALLOW_SEALING); }

#define CREADER_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int creader_seal(int descriptor) {
  // EBUSY without a mapping: the kernel briefly holds a page of the file, for example to move it, and on a busy machine for
  // longer than the system call waits.
  for (int attempt = 0; fcntl(descriptor, F_ADD_SEALS, CREADER_SEALS | F_SEAL_SEAL) != 0; attempt++) {
    if (errno != EBUSY || attempt == 50) return errno;
    poll(NULL, 0, 10);
  }
  return 0;
}

int creader_is_sealed(int descriptor) {
  int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & CREADER_SEALS) == CREADER_SEALS;
}

#else

int creader_memory_file(void) {
  // mkstemp writes over the end.
  char name[] = "/tmp/geomodel-XXXXXX";
  int descriptor = mkstemp(name);
  if (descriptor >= 0) {
    unlink(name);
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
}

// The system has no seals; the receiver reads a copy instead.
int creader_seal(int descriptor) {
  (void)descriptor;
  return 0;
}

int creader_is_sealed(int descriptor) {
  (void)descriptor;
  return 0;
}

#endif

void *creader_decoder_open(const char *encoding) {
  iconv_t converter = iconv_open("UTF-8", encoding);
  return converter == (iconv_t)-1 ? NULL : converter;
}

void creader_decoder_close(void *decoder) { iconv_close(decoder); }

size_t creader_decode(void *decoder, const char *text, size_t length, char *utf8) {
  char *in = (char *)text, *out = utf8;
  size_t unread = length, room = 4 * length;
  iconv(decoder, NULL, NULL, NULL, NULL);
  while (unread > 0 && iconv(decoder, &in, &unread, &out, &room) == (size_t)-1) {
    // A byte that is invalid in the encoding, or an incomplete character at the end.
    if ((errno != EILSEQ && errno != EINVAL) || room < 3) break;
    memcpy(out, "\xEF\xBF\xBD", 3);
    out += 3;
    room -= 3;
    in++;
    unread--;
  }
  return out - utf8;
}
