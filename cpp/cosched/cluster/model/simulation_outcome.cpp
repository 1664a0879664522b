#include "cosched/cluster/model/simulation_outcome.hpp"

#include <algorithm>

#include "cosched/core/numeric.hpp"

namespace cosched::cluster {

std::vector<double> stretches(const Instance& instance, const std::vector<double>& end,
                              double threshold) {
  const Jobs& jobs = instance.jobs();
  std::vector<double> stretch(instance.size());
  for (int j = 0; j < instance.size(); ++j)
    stretch[j] = bounded_stretch(jobs.submit[j], end[j], jobs.runtime[j], threshold);
  return stretch;
}

double underutilisation(const Instance& instance, const SimulationOutcome& outcome) {
  const double unused = std::max(0.0, outcome.demand_area - instance.total_work());
  if (instance.total_work() == 0) return unused == 0 ? 0 : kInfinity;
  return unused / instance.total_work();
}

}  // namespace cosched::cluster
