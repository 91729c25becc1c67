// Unpacks entries of zip archives by the zlib that GDAL has loaded.
#include "CReader.h"

#include "CLibraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int creader_inflate(int source, off_t offset, size_t packed, int target, size_t size, uint32_t checksum) {
  void *library = clibraries_zlib();
  if (!library) return CREADER_NO_ZLIB;
  int (*begin)(struct clibraries_zstream *, int, const char *, int) = (int (*)(struct clibraries_zstream *, int, const char *, int))dlsym(library, "inflateInit2_");
  int (*step)(struct clibraries_zstream *, int) = (int (*)(struct clibraries_zstream *, int))dlsym(library, "inflate");
  int (*end)(struct clibraries_zstream *) = (int (*)(struct clibraries_zstream *))dlsym(library, "inflateEnd");
  unsigned long (*crc32)(unsigned long, const unsigned char *, unsigned) =
      (unsigned long (*)(unsigned long, const unsigned char *, unsigned))dlsym(library, "crc32");
  struct clibraries_zstream stream;
  memset(&stream, 0, sizeof stream);
  // -15: raw Deflate, with the largest window.
  if (!begin || !step || !end || !crc32 || begin(&stream, -15, "1.2.11", (int)sizeof stream) != 0) return CREADER_NO_ZLIB;
  static unsigned char input[1 << 16], output[1 << 16];
  unsigned long found = crc32(0, NULL, 0);
  size_t made = 0;
  int status = 0, result = CREADER_DAMAGED;
  while (status == 0) {
    if (stream.avail_in == 0 && packed > 0) {
      ssize_t got = pread(source, input, packed < sizeof input ? packed : sizeof input, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      offset += got;
      packed -= (size_t)got;
      stream.next_in = input;
      stream.avail_in = (unsigned)got;
    }
    stream.next_out = output;
    stream.avail_out = sizeof output;
    status = step(&stream, 0);
    size_t count = sizeof output - stream.avail_out;
    // Neither input nor output: the end is missing.
    if (status != 0 && status != 1) break;
    if (count > size - made) break;
    found = crc32(found, output, (unsigned)count);
    for (size_t done = 0; done < count;) {
      ssize_t wrote = write(target, output + done, count - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        end(&stream);
        return CREADER_NOT_WRITTEN;
      }
      done += (size_t)wrote;
    }
    made += count;
    if (status == 1) result = made != size || packed > 0 || stream.avail_in > 0 ? CREADER_DAMAGED : found != checksum ? CREADER_CHECKSUM : 0;
  }
  end(&stream);
  return result;
}
