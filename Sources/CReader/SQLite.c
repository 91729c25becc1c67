// An authorizer for every SQLite connection in a reader, because the views and triggers of a GeoPackage are foreign code.
#include "CReader.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

// The part of SQLite's interface that is used, so that no header is needed. The numbers are part of SQLite's stable interface.
enum { ok = 0, deny = 1 };
enum {
  attach = 24, detach = 25, alter = 26, pragma = 19, create_vtable = 29, drop_vtable = 30, function = 31,
};
typedef struct sqlite3 sqlite3;
typedef int (*authorizer)(void *, int, const char *, const char *, const char *, const char *);
typedef int (*set_authorizer)(sqlite3 *, authorizer, void *);
typedef int (*auto_extension)(void (*)(void));
typedef int (*drop_modules)(sqlite3 *, const char **);

static set_authorizer sqlite_set_authorizer;
static drop_modules sqlite_drop_modules;

static int is_any(const char *name, const char *const *list) {
  for (; *list; list++)
    if (strcasecmp(name, *list) == 0) return 1;
  return 0;
}

// Functions that reach outside, or change the connection. The standard functions and GDAL's own ones only compute.
static const char *const refused_functions[] = {
    "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "ogr_geocode", "ogr_geocode_reverse",
    "gdal_get_pixel_value", "ogr_datasource_load_layers", "ogr_getconfigoption", "ogr_setconfigoption",
    "ImportSHP", "ExportSHP", "ImportDBF", "ExportDBF", "BlobFromFile", "BlobToFile", "XB_LoadXML", NULL};
// Pragmas that write, or that permit statements to write.
static const char *const refused_pragmas[] = {
    "writable_schema", "temp_store_directory", "data_store_directory", "wal_checkpoint", "incremental_vacuum",
    "optimize", NULL};
static const char *const kept_modules[] = {"rtree", "rtree_i32", "fts3", "fts4", "fts5", "json_each", "json_tree", NULL};

static int authorize(void *none, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
  (void)none, (void)database, (void)trigger;
  switch (action) {
    case attach: case detach: case create_vtable: case drop_vtable: case alter: return deny;
    case function: return second && is_any(second, refused_functions) ? deny : ok;
    case pragma: return first && is_any(first, refused_pragmas) ? deny : ok;
    default: return ok;
  }
}

static int guard(sqlite3 *database, char **message, const void *routines) {
  (void)message, (void)routines;
  if (sqlite_drop_modules) sqlite_drop_modules(database, (const char **)kept_modules);
  return sqlite_set_authorizer(database, authorize, NULL);
}

int creader_guard_sqlite(void *library) {
  if (!library) return 0;
  sqlite_set_authorizer = (set_authorizer)dlsym(library, "sqlite3_set_authorizer");
  sqlite_drop_modules = (drop_modules)dlsym(library, "sqlite3_drop_modules");
  auto_extension add = (auto_extension)dlsym(library, "sqlite3_auto_extension");
  return sqlite_set_authorizer && add && add((void (*)(void))guard) == ok;
}
