// Reads and writes all features of a file by OGR, one after the other: geometry, and every field as what it is. `make FILE N` writes a file of N
// points with three fields, GeoJSON by its ending, else a GeoPackage, and prints the seconds from creating to closing it without those that making
// the features takes; `read FILE` prints the seconds from opening it to its last feature.

#if __has_include(<gdal/gdal.h>)
#include <gdal/gdal.h>
#include <gdal/ogr_api.h>
#include <gdal/ogr_srs_api.h>
#else
#include <gdal.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static int fail(const char *what) {
  fprintf(stderr, "features: %s\n", what);
  return 1;
}

static int make(const char *path, long count) {
  static const char *const kinds[] = {"building", "junction", "landmark", "monument", "hospital", "airfield", "woodland", "vineyard"};
  const char *ending = strrchr(path, '.');
  GDALDriverH driver = GDALGetDriverByName(ending && !strcmp(ending, ".geojson") ? "GeoJSON" : "GPKG");
  if (!driver) return fail("no driver");
  remove(path);
  double start = seconds(), making = 0;
  GDALDatasetH dataset = GDALCreate(driver, path, 0, 0, 0, GDT_Unknown, NULL);
  OGRSpatialReferenceH reference = OSRNewSpatialReference(NULL);
  OSRImportFromEPSG(reference, 4326);
  OSRSetAxisMappingStrategy(reference, OAMS_TRADITIONAL_GIS_ORDER);
  OGRLayerH layer = dataset ? GDALDatasetCreateLayer(dataset, "points", reference, wkbPoint, NULL) : NULL;
  if (!layer) return fail("no file");
  const struct { const char *name; OGRFieldType type; } fields[] = {{"name", OFTString}, {"kind", OFTString}, {"rank", OFTInteger64}};
  for (int i = 0; i < 3; i++) {
    OGRFieldDefnH field = OGR_Fld_Create(fields[i].name, fields[i].type);
    OGR_L_CreateField(layer, field, 1);
    OGR_Fld_Destroy(field);
  }
  srandom(42);
  GDALDatasetStartTransaction(dataset, 0);
  for (long i = 0; i < count; i++) {
    double begin = seconds();
    char name[32];
    snprintf(name, sizeof name, "name%016lx", random() * 2654435761UL);
    OGRFeatureH feature = OGR_F_Create(OGR_L_GetLayerDefn(layer));
    OGR_F_SetFieldString(feature, 0, name);
    OGR_F_SetFieldString(feature, 1, kinds[random() % 8]);
    OGR_F_SetFieldInteger64(feature, 2, random() % 10000000);
    OGRGeometryH point = OGR_G_CreateGeometry(wkbPoint);
    OGR_G_SetPoint_2D(point, 0, (random() % 3600000000L) / 1e7 - 180, (random() % 1800000000L) / 1e7 - 90);
    OGR_F_SetGeometryDirectly(feature, point);
    making += seconds() - begin;
    if (OGR_L_CreateFeature(layer, feature) != OGRERR_NONE) return fail("a feature cannot be written");
    OGR_F_Destroy(feature);
  }
  GDALDatasetCommitTransaction(dataset);
  OSRRelease(reference);
  GDALClose(dataset);
  printf("export_seconds %.9f\n", seconds() - start - making);
  return 0;
}

static int read_all(const char *path) {
  double start = seconds();
  GDALDatasetH dataset = GDALOpenEx(path, GDAL_OF_VECTOR | GDAL_OF_READONLY, NULL, NULL, NULL);
  if (!dataset) return fail("the file cannot be opened");
  OGRLayerH layer = GDALDatasetGetLayer(dataset, 0);
  long count = 0;
  size_t length = 0;
  double sum = 0;
  OGRFeatureH feature;
  while ((feature = OGR_L_GetNextFeature(layer))) {
    OGRGeometryH point = OGR_F_GetGeometryRef(feature);
    sum += OGR_G_GetX(point, 0) + OGR_G_GetY(point, 0);
    length += strlen(OGR_F_GetFieldAsString(feature, 0)) + strlen(OGR_F_GetFieldAsString(feature, 1));
    sum += OGR_F_GetFieldAsInteger64(feature, 2);
    OGR_F_Destroy(feature);
    count++;
  }
  GDALClose(dataset);
  printf("features_seconds %.9f\n", seconds() - start);
  fprintf(stderr, "%ld features, %zu bytes of text, sum %g\n", count, length, sum);
  return 0;
}

int main(int argc, char **argv) {
  GDALAllRegister();
  if (argc == 4 && !strcmp(argv[1], "make")) return make(argv[2], atol(argv[3]));
  if (argc == 3 && !strcmp(argv[1], "read")) return read_all(argv[2]);
  return fail("make FILE N, or read FILE");
}
