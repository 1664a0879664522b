#include "cosched/packs/bounds.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/packs/relaxation.hpp"

namespace cosched::packs {
namespace {

constexpr int kMostCountRows = 64;
constexpr std::int64_t kMostWork = 20'000'000'000;  // operations: some twenty seconds

// A sum of n positive terms, each with a few roundings, is off by at most (n + 4) rounding units:
// twice that is taken off.
double rounded_down(double sum, int terms) {
  return sum * (1 - 2 * (terms + 4.0) * std::numeric_limits<double>::epsilon());
}

}  // namespace

double area_bound(const Instance& instance) {
  const Times& times = instance.times();
  double sum = 0;
  for (int i = 0; i < instance.tasks(); ++i) {
    double least = times.work(i, 1);
    for (int q = 2; q <= instance.procs(); ++q) least = std::min(least, times.work(i, q));
    sum += least / instance.procs();
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

LowerBound column_bound(const Instance& instance, std::optional<double> time_limit) {
  LowerBound bound;
  bound.value = std::max(area_bound(instance), longest_bound(instance));
  if (instance.max_tasks() == 1) return bound;  // exact: every task alone
  std::vector<std::vector<char>> dominates;
  std::optional<Relaxation> relaxation;
  bound.complete = finishes_within(time_limit, [&] {
    dominates = dominance(instance.times());
    Restrictions restrictions;
    restrictions.counts = least_counts(instance, kMostCountRows);
    relaxation.emplace(instance, dominates, restrictions, first_columns(instance));
    Relaxation::Options options;
    options.most_work = kMostWork;
    relaxation->solve(options);
  });
  if (relaxation) bound.value = std::max(bound.value, relaxation->bound());
  return bound;
}

}  // namespace cosched::packs
