// System calls around a reader: a process that reads foreign files. Swift cannot call these: control messages with
// descriptors, seccomp filters, Landlock rules, variadic functions.
#ifndef CREADER_H
#define CREADER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What confines this process; bits of creader_confine's and creader_restrict_files's results.
enum {
  /// The process dies with the thread that spawned it.
  CREADER_DIES_WITH_PARENT = 1,
  /// A network namespace of its own, without interfaces.
  CREADER_NETWORK_NAMESPACE = 2,
  /// A seccomp filter: no sockets, no programs, no processes, no writing.
  CREADER_SYSTEM_CALLS = 4,
  /// Bounds of address space and of file size.
  CREADER_MEMORY = 8,
  /// Landlock: no file but those given.
  CREADER_FILES = 16,
};

/// Spawns `arguments[0]` with `channel` as descriptor 3, /dev/null as the standard streams and no other descriptor.
/// Returns 0, or the error number.
int creader_spawn(const char *_Nonnull executable, char *_Nullable const *_Nonnull arguments, int channel,
                  pid_t *_Nonnull process);

/// Waits until the process has ended, without reaping it. Returns 0, or the error number.
int creader_await(pid_t process);

/// Confines the calling process, which has one thread: everything but files. Bounds are in bytes.
unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network);

/// Bars the calling thread, and threads it will start, from every file but these: below `folders` read-only, and the
/// files that `descriptors` are open at. Returns CREADER_FILES where the system can do that, else 0.
unsigned creader_restrict_files(const char *_Nullable const *_Nonnull folders, const int *_Nonnull descriptors,
                                size_t count);

/// Sends all bytes; descriptors, at most 253, travel with the first. Returns 0, or the error number.
int creader_send(int channel, const void *_Nonnull bytes, size_t length, const int *_Nonnull descriptors, size_t count);

/// Receives at most `length` bytes. Returns their number, 0 at the end, -1 with errno set. Descriptors that arrive are
/// appended to `descriptors`, `*count` of `capacity` being used; what does not fit is closed.
ssize_t creader_receive(int channel, void *_Nonnull bytes, size_t length, int *_Nonnull descriptors,
                        size_t *_Nonnull count, size_t capacity);

/// A new file in memory; -1 with errno set on failure.
int creader_memory_file(void);
/// Makes a file in memory immutable. Returns 0, or the error number.
int creader_seal(int descriptor);
/// Whether nobody can change, shrink or grow a file in memory any more.
int creader_is_sealed(int descriptor);

/// Has every SQLite connection of this process refuse new virtual tables, attached databases, and the pragmas and
/// functions that write or reach outside. Returns 0 where SQLite is not there.
int creader_guard_sqlite(void);

/// A converter of texts from an encoding to UTF-8; null where there is no such encoding. For one thread at a time.
void *_Nullable creader_decoder_open(const char *_Nonnull encoding);
void creader_decoder_close(void *_Nonnull decoder);
/// Converts a text, U+FFFD in place of each byte that the encoding does not have. Returns the number of bytes written, at most
/// `4 * length`.
size_t creader_decode(void *_Nonnull decoder, const char *_Nonnull text, size_t length, char *_Nonnull utf8);

#endif
