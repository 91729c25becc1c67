// The floor of feature/nearest in the process: Boost's R-tree (rstar, loaded at once) on the points and places of the benchmark.
//
// Prints microseconds for each place (the best of nine rounds) and the sum of the distances of all neighbours.

#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace bg = boost::geometry;
using Point = bg::model::point<double, 2, bg::cs::cartesian>;
using Entry = std::pair<Point, uint32_t>;

static uint64_t state;

// splitmix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014.
static uint64_t next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static double unit() { return double(next() >> 11) * 0x1p-53; }

static Point place() {
  double x = unit() * 360 - 180;
  return Point(x, unit() * 180 - 90);
}

int main() {
  std::vector<Entry> entries;
  state = 42;
  for (uint32_t row = 0; row < 1000000; row++) entries.push_back({place(), row});
  bg::index::rtree<Entry, bg::index::rstar<16>> tree(entries);
  std::vector<Point> places;
  state = 9;
  for (int i = 0; i < 1000; i++) places.push_back(place());

  double best = 1e9, sum = 0;
  std::vector<Entry> found;
  for (int round = 0; round < 9; round++) {
    sum = 0;
    auto start = std::chrono::steady_clock::now();
    for (const Point &from : places) {
      found.clear();
      tree.query(bg::index::nearest(from, 10), std::back_inserter(found));
      for (const Entry &each : found) sum += bg::distance(from, each.first);
    }
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 1000);
  }
  printf("planar_microseconds %.4f\nnearest_checksum %.6f\n", best, sum);
}
