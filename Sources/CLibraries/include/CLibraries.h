// How the libraries that are opened on first use are found: one rule for GEOS, PROJ and GDAL.
#ifndef CLIBRARIES_H
#define CLIBRARIES_H

#include <stddef.h>

/// The folder of bundled libraries beside the running program, absolute; NULL where none are bundled.
const char *_Nullable clibraries_folder(void);

/// Removes variables that configure the machine's PROJ, if another is bundled. To be called before there are other threads.
void clibraries_isolate(void);

/// Opens a library: the bundled one by its absolute path, and no other; where none are bundled, the first name that opens.
///
/// Returns NULL if none opens; `failure` then says why: the bundled one did not, or the first name.
void *_Nullable clibraries_open(const char *_Nonnull title, const char *_Nonnull bundled, const char *_Nonnull const *_Nonnull names,
                                size_t count, char *_Nonnull failure, size_t size);

#endif
