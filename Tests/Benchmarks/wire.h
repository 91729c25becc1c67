// The driver's end of the pipes: starts a server, writes and reads without deadlock on full pipes, splits the output into frames.

#ifndef WIRE_H
#define WIRE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "floors/data.h"

extern char **environ;

typedef struct {
  pid_t pid;
  int to, from;
  Buffer in;     // what was read
  size_t at;     // where the next frame starts in it
  int keeps;     // frames stay where they are until the caller resets `in`
} Server;

typedef struct {
  const char *data;
  size_t length;
} Frame;

static Server *current;  // killed when the driver fails

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("drive: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  if (current && current->pid > 0) kill(current->pid, SIGKILL);
  exit(1);
}

static void spawn_server(Server *s, char **command) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  int wrong = posix_spawnp(&s->pid, command[0], &actions, NULL, command, environ);
  if (wrong) fail("%s: %s", command[0], strerror(wrong));
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  fcntl(to[1], F_SETFL, O_NONBLOCK);
  s->to = to[1];
  s->from = from[0];
  s->in.length = s->at = 0;
  s->keeps = 0;
  current = s;
}

// Reads what is available; waits only if there is nothing.
static void receive(Server *s) {
  if (!s->keeps && s->at == s->in.length) s->at = s->in.length = 0;
  if (!s->keeps && s->at && s->in.capacity - s->in.length < 65536) {
    memmove(s->in.data, s->in.data + s->at, s->in.length - s->at);
    s->in.length -= s->at;
    s->at = 0;
  }
  reserve(&s->in, 65536);
  ssize_t n = read(s->from, s->in.data + s->in.length, s->in.capacity - s->in.length);
  if (n == 0) fail("the server has closed its output");
  if (n < 0 && errno != EINTR) fail("read: %s", strerror(errno));
  if (n > 0) s->in.length += (size_t)n;
}

// Writes all of it; reads whenever the pipe is full and there is something to read.
static void transmit(Server *s, const char *bytes, size_t length) {
  while (length) {
    ssize_t n = write(s->to, bytes, length);
    if (n > 0) {
      bytes += n;
      length -= (size_t)n;
    } else if (errno == EAGAIN) {
      struct pollfd fds[2] = {{s->to, POLLOUT, 0}, {s->from, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0 && errno != EINTR) fail("poll: %s", strerror(errno));
      if (fds[1].revents) receive(s);
    } else if (errno != EINTR) {
      fail("write: %s", strerror(errno));
    }
  }
}

// Returns the next frame if all of it has been read.
static int take(Server *s, Frame *frame) {
  const char *start = s->in.data + s->at;
  size_t there = s->in.length - s->at;
  const char *end = there ? memmem(start, there < 256 ? there : 256, "\r\n\r\n", 4) : NULL;
  if (!end) {
    if (there >= 256) fail("no header: %.60s", start);
    return 0;
  }
  if (strncmp(start, "Content-Length: ", 16)) fail("not the header expected: %.60s", start);
  size_t length = strtoul(start + 16, NULL, 10), header = (size_t)(end - start) + 4;
  if (there < header + length) return 0;
  *frame = (Frame){start + header, length};
  s->at += header + length;
  return 1;
}

// Returns the next frame that is an answer; skips notifications.
static int take_answer(Server *s, Frame *frame) {
  while (take(s, frame))
    if (!memmem(frame->data, frame->length < 40 ? frame->length : 40, "\"method\"", 8)) return 1;
  return 0;
}

static Frame next_answer(Server *s) {
  Frame frame;
  while (!take_answer(s, &frame)) receive(s);
  return frame;
}

// Fails unless the frame is a result for this request.
static void expect(Frame frame, uint32_t id) {
  const char *at = memmem(frame.data, frame.length, "\"id\":", 5);
  if (!at || strtoul(at + 5, NULL, 10) != id || !memmem(frame.data, frame.length, "\"result\":", 9))
    fail("request %u was answered by %.*s", id, (int)(frame.length < 500 ? frame.length : 500), frame.data);
}

static void send_request(Server *s, uint32_t id, const char *method, const char *params) {
  Buffer b = {0};
  begin_request(&b, id, method);
  append(&b, params, strlen(params));
  append_literal(&b, "}");
  frame_from(&b, 0);
  transmit(s, b.data, b.length);
  free(b.data);
}

static Frame call(Server *s, uint32_t id, const char *method, const char *params) {
  send_request(s, id, method, params);
  Frame answer = next_answer(s);
  expect(answer, id);
  return answer;
}

static void notify(Server *s, const char *method) {
  Buffer b = {0};
  b.length += (size_t)sprintf(reserve(&b, 128), "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{}}", method);
  frame_from(&b, 0);
  transmit(s, b.data, b.length);
  free(b.data);
}

static const char initialize_params[] = "{\"clientInfo\":{\"name\":\"bench\"},\"protocolVersions\":[\"0.3\"]}";

static void start_session(Server *s, char **command) {
  spawn_server(s, command);
  call(s, 1, "initialize", initialize_params);
  notify(s, "initialized");
}

static void end_session(Server *s) {
  int status;
  call(s, 2, "shutdown", "{}");
  notify(s, "exit");
  close(s->to);
  if (waitpid(s->pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
    fail("the server did not exit with 0");
  s->pid = 0;
  close(s->from);
}

// A line of /proc/PID/status, in kB.
static long memory_of(const Server *s, const char *field) {
  char path[64], line[256];
  long value = -1;
  snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
  FILE *file = fopen(path, "r");
  if (!file) fail("%s: %s", path, strerror(errno));
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) value = strtol(line + strlen(field) + 1, NULL, 10);
  fclose(file);
  return value;
}

#endif
