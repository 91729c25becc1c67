// The floor of geotriggers: positions against GEOS's prepared polygons behind its tree, and who is inside what.
// Prints microseconds for a position, as motion.py does for the server, with as many fences and entities of the same distribution.

#include <geos_c.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FENCES = 10000, ENTITIES = 100000, FIXES = 300000, CORNERS = 12, MOST = 64 };

static uint64_t state = 1;

static double uniform(double low, double high) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return low + (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 * (high - low);
}

static const GEOSPreparedGeometry *prepared[FENCES];
static const GEOSGeometry *place;
static int found[MOST], found_count;

static void compare(void *item, void *unused) {
  (void)unused;
  intptr_t fence = (intptr_t)item;
  if (found_count < MOST && GEOSPreparedIntersects(prepared[fence], place) == 1) found[found_count++] = (int)fence;
}

static int holds(const int *list, int count, int fence) {
  for (int i = 0; i < count; i++) {
    if (list[i] == fence) return 1;
  }
  return 0;
}

int main(void) {
  initGEOS(NULL, NULL);
  GEOSSTRtree *tree = GEOSSTRtree_create(10);
  for (intptr_t fence = 0; fence < FENCES; fence++) {
    double x = uniform(-1, 1), y = uniform(-1, 1), radius = uniform(0.002, 0.02);
    GEOSCoordSequence *ring = GEOSCoordSeq_create(CORNERS + 1, 2);
    for (unsigned k = 0; k <= CORNERS; k++) {
      double angle = 2 * M_PI * (k % CORNERS) / CORNERS;
      GEOSCoordSeq_setXY(ring, k, x + radius * cos(angle), y + radius * sin(angle));
    }
    GEOSGeometry *polygon = GEOSGeom_createPolygon(GEOSGeom_createLinearRing(ring), NULL, 0);
    prepared[fence] = GEOSPrepare(polygon);
    GEOSSTRtree_insert(tree, polygon, (void *)fence);
  }
  static double places[ENTITIES][2];
  static struct { int count, fences[MOST]; } inside[ENTITIES];
  for (int entity = 0; entity < ENTITIES; entity++) {
    places[entity][0] = uniform(-1, 1);
    places[entity][1] = uniform(-1, 1);
  }
  long entered = 0, left = 0;
  struct timespec start, end;
  // The first round prepares all that GEOS prepares when it is needed.
  for (int round = 0; round < 2; round++) {
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int fix = 0; fix < FIXES; fix++) {
      int entity = (int)uniform(0, ENTITIES);
      GEOSGeometry *point =
          GEOSGeom_createPointFromXY(places[entity][0] += uniform(-1e-3, 1e-3), places[entity][1] += uniform(-1e-3, 1e-3));
      place = point;
      found_count = 0;
      GEOSSTRtree_query(tree, point, compare, NULL);
      for (int i = 0; i < found_count; i++) entered += !holds(inside[entity].fences, inside[entity].count, found[i]);
      for (int i = 0; i < inside[entity].count; i++) left += !holds(found, found_count, inside[entity].fences[i]);
      inside[entity].count = found_count;
      memcpy(inside[entity].fences, found, sizeof(int) * (size_t)found_count);
      GEOSGeom_destroy(point);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
  }
  double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
  printf("fix_microseconds %.3f\n", seconds / FIXES * 1e6);
  return entered > 0 && left > 0 ? 0 : 1;
}
