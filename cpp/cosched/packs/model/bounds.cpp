#include "cosched/packs/model/bounds.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace cosched::packs {
namespace {

// Each term has up to four roundings of its own.
double rounded_down(double sum, int terms) { return sum * (1 - sum_rounding(terms + 4.0)); }

}  // namespace

double least_work(const Times& times, int task) {
  double least = times.work(task, 1);
  for (int q = 2; q <= times.procs(); ++q) least = std::min(least, times.work(task, q));
  return least;
}

int fewest_within(const Times& times, int task, double length) {
  const double *row = times.row(task), *end = row + times.procs();
  const auto longer = [length](double t) { return t > length; };
  return static_cast<int>(std::partition_point(row, end, longer) - row) + 1;
}

double area_bound(const Instance& instance) {
  const Times& times = instance.times();
  double sum = 0;
  for (int i = 0; i < instance.tasks(); ++i) {
    sum += least_work(times, i) / instance.procs();
  }
  return rounded_down(sum, instance.tasks());
}

double longest_bound(const Instance& instance) {
  std::vector<double> least(instance.tasks());
  for (int i = 0; i < instance.tasks(); ++i) least[i] = instance.times().least(i);
  std::sort(least.begin(), least.end(), std::greater<>());
  double sum = 0;
  for (int i = 0; i < instance.tasks(); i += instance.max_tasks()) sum += least[i];
  return rounded_down(sum, instance.tasks());
}

}  // namespace cosched::packs
