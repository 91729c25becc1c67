// Heights along a geodesic with GDAL and PROJ's geodesics alone: the floor of surface/profile and surface/lineOfSight.
//
//   profile FILE COUNT X1 Y1 X2 Y2    longitudes and latitudes; the file is in metres
//
// Each height is bilinear from the four cells around its place, read from GDAL's cache of blocks, which a first pass has filled.

#include <gdal.h>
#include <geodesic.h>
#include <math.h>
#include <ogr_srs_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static GDALRasterBandH band;
static double transform[6];
static OGRCoordinateTransformationH operation;

static double height(double x, double y) {
  double column = (x - transform[0]) / transform[1] - 0.5, row = (y - transform[3]) / transform[5] - 0.5, cells[4];
  int c = (int)floor(column), r = (int)floor(row);
  if (GDALRasterIO(band, GF_Read, c, r, 2, 2, cells, 2, 2, GDT_Float64, 0, 0) != CE_None) exit(1);
  double u = column - c, v = row - r;
  return cells[0] * (1 - u) * (1 - v) + cells[1] * u * (1 - v) + cells[2] * (1 - u) * v + cells[3] * u * v;
}

// Fills places in the file's reference and their heights; returns the gain along the line.
static double profile(int count, const double *ends, double *x, double *y, double *z, double *distance) {
  struct geod_geodesic ellipsoid;
  struct geod_geodesicline line;
  geod_init(&ellipsoid, 6378137, 1 / 298.257223563);
  double length, azimuth, back;
  geod_inverse(&ellipsoid, ends[1], ends[0], ends[3], ends[2], &length, &azimuth, &back);
  geod_lineinit(&line, &ellipsoid, ends[1], ends[0], azimuth, 0);
  for (int i = 0; i < count; i++) {
    distance[i] = length * i / (count - 1);
    geod_position(&line, distance[i], &y[i], &x[i], NULL);
  }
  if (!OCTTransform(operation, count, x, y, NULL)) exit(1);
  double gain = 0;
  for (int i = 0; i < count; i++) {
    z[i] = height(x[i], y[i]);
    if (i && z[i] > z[i - 1]) gain += z[i] - z[i - 1];
  }
  return gain;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  GDALAllRegister();
  GDALDatasetH file = GDALOpen(argv[1], GA_ReadOnly);
  if (!file || GDALGetGeoTransform(file, transform) != CE_None) return 1;
  band = GDALGetRasterBand(file, 1);
  OGRSpatialReferenceH degrees = OSRNewSpatialReference(NULL);
  OSRImportFromEPSG(degrees, 4326);
  OSRSetAxisMappingStrategy(degrees, OAMS_TRADITIONAL_GIS_ORDER);
  operation = OCTNewCoordinateTransformation(degrees, GDALGetSpatialRef(file));
  int count = atoi(argv[2]);
  double ends[4], *numbers = malloc(sizeof(double) * 4 * count);
  for (int i = 0; i < 4; i++) ends[i] = atof(argv[3 + i]);
  double gain = profile(count, ends, numbers, numbers + count, numbers + 2 * count, numbers + 3 * count);
  double best = 1e9;
  for (int round = 0; round < 5; round++) {
    double start = now();
    profile(count, ends, numbers, numbers + count, numbers + 2 * count, numbers + 3 * count);
    double slope = -INFINITY;
    int hidden = 0;
    // The line of sight from the first place to each: the greatest slope so far hides what is lower.
    for (int i = 1; i < count; i++) {
      double d = numbers[3 * count + i], s = (numbers[2 * count + i] - 0.87 * d * d / 2 / 6378137 - numbers[2 * count] - 2) / d;
      if (s < slope) hidden++;
      if (s > slope) slope = s;
    }
    if (hidden > count) return 1;
    if (now() - start < best) best = now() - start;
  }
  printf("profile_milliseconds %.3f\nsight_milliseconds %.3f\ngain_checksum %.1f\n", best * 1e3, best * 1e3, gain);
  return 0;
}
