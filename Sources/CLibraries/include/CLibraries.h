// How the libraries that are opened on first use are found: one rule for GEOS, PROJ and GDAL.
#ifndef CLIBRARIES_H
#define CLIBRARIES_H

#include <stddef.h>
#include <stdint.h>

/// The folder of bundled libraries beside the running program, absolute; NULL where none are bundled.
const char *_Nullable clibraries_folder(void);

/// Removes variables that configure the machine's PROJ, if another is bundled. To be called before there are other threads.
void clibraries_isolate(void);

/// Opens a library: the bundled one by its absolute path, and no other; where none are bundled, the first name that opens.
///
/// Returns NULL if none opens; `failure` then says why: the bundled one did not, or the first name.
void *_Nullable clibraries_open(const char *_Nonnull title, const char *_Nonnull bundled, const char *_Nonnull const *_Nonnull names,
                                size_t count, char *_Nonnull failure, size_t size);

/// zlib's interface, which has been the same since 1.2 (https://zlib.net/manual.html): its header is not needed to build.
struct clibraries_zstream {
  const unsigned char *_Nullable next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *_Nullable next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *_Nullable msg;
  void *_Nullable state, *_Nullable zalloc, *_Nullable zfree, *_Nullable opaque;
  int data_type;
  unsigned long adler, reserved;
};

/// zlib, the one that is loaded already if there is one; NULL without one.
void *_Nullable clibraries_zlib(void);

/// Packs bytes in the form of gzip, with no time in it.
///
/// Returns the number of bytes written; 0 without zlib, and where there is no room for them.
size_t clibraries_gzip(const uint8_t *_Nullable source, size_t size, uint8_t *_Nonnull target, size_t capacity);

#endif
