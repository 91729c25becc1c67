// System calls to start and confine readers, which are processes that read foreign files. They are in C because Swift cannot use
// control messages with descriptors, seccomp filters, Landlock rules and variadic functions.
#ifndef CREADER_H
#define CREADER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Protections of this process: bits of the results of creader_confine and creader_restrict_files.
enum {
  /// The process dies with the thread that spawned it.
  CREADER_DIES_WITH_PARENT = 1,
  /// A network namespace of its own, without interfaces.
  CREADER_NETWORK_NAMESPACE = 2,
  /// A seccomp filter that allows a list of calls: no sockets, programs, processes, signals to others, or opening for writing.
  CREADER_SYSTEM_CALLS = 4,
  /// Limits of address space and file size.
  CREADER_MEMORY = 8,
  /// Landlock: only the given files are accessible.
  CREADER_FILES = 16,
  /// No rights of the administrator.
  CREADER_CAPABILITIES = 32,
};

/// Spawns `arguments[0]` with `channel` as descriptor 3, /dev/null as the standard streams and no other descriptor.
/// Returns 0, or the error number.
int creader_spawn(const char *_Nonnull executable, char *_Nullable const *_Nonnull arguments, int channel,
                  pid_t *_Nonnull process);

/// Waits until the process has ended, without reaping it. Returns 0, or the error number.
int creader_await(pid_t process);

/// Confines the calling process, which has to have a single thread, except for its access to files. Limits are in bytes.
/// `inherited` is the result of creader_confine_template in the process that it was forked from, else 0.
unsigned creader_confine(uint64_t address_space, uint64_t file_size, int allow_network, unsigned inherited);

/// Takes from the calling process what no process needs that is forked from it, but system calls. Returns what holds in them.
unsigned creader_confine_template(void);

/// Forks the calling process, which has to have a single thread, as a child of its parent, with `channel` as descriptor 3 and no
/// other above 2. Returns the child's number, 0 in the child, and -1 with errno set where the system has no way to do this.
pid_t creader_fork(int channel);

/// Denies the calling thread, and threads that it starts later, access to all files except read-only access below `folders` and
/// to the files open at `descriptors`. Returns CREADER_FILES if the system supports this, else 0.
unsigned creader_restrict_files(const char *_Nullable const *_Nonnull folders, const int *_Nonnull descriptors,
                                size_t count);

/// Which kind of private or reserved address a numeric one is, such as "a loopback address"; null for one of the public network.
const char *_Nullable creader_private_kind(const char *_Nonnull text);
/// From now on this process connects to no private address, unless the host has no other, but for the hosts of proxies (to the null).
/// On Linux; elsewhere libraries connect to what they are redirected to.
void creader_guard_network(const char *_Nonnull host, const char *_Nullable const *_Nonnull proxy_hosts);
/// The first private address that was refused, and its kind; null if none was.
const char *_Nullable creader_refused_address(void);
/// Connects and closes. Returns 0, or the error number; 0 as well if the host has no address.
int creader_connection_failure(const char *_Nonnull host, const char *_Nonnull port);

/// Why creader_inflate fails.
enum {
  CREADER_DAMAGED = 1,
  CREADER_CHECKSUM = 2,
  CREADER_NO_ZLIB = 3,
  /// With errno set.
  CREADER_NOT_WRITTEN = 4,
};
/// Unpacks `packed` bytes of raw Deflate, which have to become `size` bytes of this CRC-32, and appends them to a file. Returns 0, or
/// why it fails. One thread at a time.
int creader_inflate(int source, off_t offset, size_t packed, int target, size_t size, uint32_t checksum);

/// The most memory that this process has had at a time, in bytes.
uint64_t creader_peak_memory(void);

/// Sends all bytes; descriptors, at most 253, travel with the first. Returns 0, or the error number.
int creader_send(int channel, const void *_Nonnull bytes, size_t length, const int *_Nonnull descriptors, size_t count);

/// Receives at most `length` bytes. Returns their number, 0 at the end, -1 with errno set. Descriptors that arrive are appended
/// to `descriptors`, whose `*count` of `capacity` entries are used; surplus ones are closed.
ssize_t creader_receive(int channel, void *_Nonnull bytes, size_t length, int *_Nonnull descriptors,
                        size_t *_Nonnull count, size_t capacity);

/// A new file in memory; -1 with errno set on failure.
int creader_memory_file(void);
/// Makes a file in memory immutable. Returns 0, or the error number.
int creader_seal(int descriptor);
/// Whether a file in memory can no longer be changed, shrunk or grown by any process.
int creader_is_sealed(int descriptor);

/// Makes every SQLite connection of this process refuse new virtual tables, attached databases, and the pragmas and functions
/// that write or reach outside. Returns 0 if `gdal`, the library of GDAL, brings no SQLite, within or beside it.
int creader_guard_sqlite(void *_Nullable gdal);

/// A converter of texts from an encoding to UTF-8; null if the encoding is unknown. For one thread at a time.
void *_Nullable creader_decoder_open(const char *_Nonnull encoding);
void creader_decoder_close(void *_Nonnull decoder);
/// Converts a text, with U+FFFD for each byte that is invalid in the encoding. Returns the number of bytes written, at most `4 *
/// length`.
size_t creader_decode(void *_Nonnull decoder, const char *_Nonnull text, size_t length, char *_Nonnull utf8);

#endif
