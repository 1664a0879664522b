#include "cosched/dags/hlp/rounding.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::dags::hlp {
namespace {

constexpr double kTie = kExactTolerance;  // shares that differ by less are equal

void require_finite(const Table& x, std::ptrdiff_t task) {
  for (std::ptrdiff_t type = 0; type < x.cols(); ++type)
    if (!std::isfinite(x(task, type)))
      throw InvalidInstance("x[" + std::to_string(task) + ", " + std::to_string(type) +
                            "] = " + to_text(x(task, type)) + ": expected a finite share");
}

// Among the types that can run the task; -1 if there is none.
int type_of_largest_share(const Table& times, const Table& x, std::ptrdiff_t task) {
  double largest_share = -kInfinity;
  for (std::ptrdiff_t type = 0; type < times.cols(); ++type)
    if (times(task, type) != kInfinity) largest_share = std::max(largest_share, x(task, type));
  int best = -1;
  for (int type = 0; type < times.cols(); ++type)
    if (times(task, type) != kInfinity && x(task, type) >= largest_share - kTie &&
        (best < 0 || times(task, type) < times(task, best)))
      best = type;
  return best;
}

int rounded_type(const Table& times, const Table& x, std::ptrdiff_t task, double threshold) {
  if (times.cols() == 2 && times(task, 0) != kInfinity && times(task, 1) != kInfinity)
    return x(task, 0) >= threshold - kTie ? 0 : 1;
  return type_of_largest_share(times, x, task);
}

}  // namespace

Allocation round_allocation(const Table& times, const Table& x, double threshold) {
  if (x.rows() != times.rows() || x.cols() != times.cols())
    throw InvalidInstance("x has shape (" + std::to_string(x.rows()) + ", " +
                          std::to_string(x.cols()) + "): expected that of times, (" +
                          std::to_string(times.rows()) + ", " + std::to_string(times.cols()) + ")");
  Allocation allocation(times.rows());
  for (std::ptrdiff_t task = 0; task < times.rows(); ++task) {
    require_finite(x, task);
    allocation[task] = rounded_type(times, x, task, threshold);
    if (allocation[task] < 0)
      throw InvalidInstance("task " + std::to_string(task) +
                            " can run nowhere: its times are infinite or no numbers");
  }
  return allocation;
}

Allocation cheapest_types(const Instance& instance, const std::vector<double>& weights,
                          double flow) {
  Allocation cheapest(instance.tasks());
  for (int task = 0; task < instance.tasks(); ++task) {
    double least = kInfinity;
    for (int type = 0; type < instance.types(); ++type) {
      if (!instance.can_run(task, type)) continue;
      const double cost = instance.time(task, type) * (weights[type] / instance.units(type) + flow);
      if (cost >= least) continue;
      least = cost;
      cheapest[task] = type;
    }
  }
  return cheapest;
}

}  // namespace cosched::dags::hlp
