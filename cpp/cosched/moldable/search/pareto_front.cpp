#include "cosched/moldable/search/pareto_front.hpp"

#include "cosched/core/assert.hpp"

namespace cosched::moldable::search {

std::vector<ParetoPoint>::const_iterator ParetoFront::first_longer(double makespan) const {
  return std::upper_bound(
      points_.begin(), points_.end(), makespan,
      [](double length, const ParetoPoint& point) { return length < point.value.makespan; });
}

bool ParetoFront::accepts(const Criteria& value) const {
  // Among the points that are not longer, the last one has the least minsum.
  const auto after = first_longer(value.makespan);
  return after == points_.begin() || std::prev(after)->value.minsum > value.minsum;
}

void ParetoFront::offer(const Criteria& value, Placement placement) {
  if (!accepts(value)) return;
  // The points that it dominates, no shorter and of no less minsum, are neighbours.
  const auto first = std::lower_bound(
      points_.begin(), points_.end(), value.makespan,
      [](const ParetoPoint& point, double length) { return point.value.makespan < length; });
  const auto last = std::find_if(first, points_.end(), [&](const ParetoPoint& point) {
    return point.value.minsum < value.minsum;
  });
  const auto position = points_.erase(first, last);
  points_.insert(position, {value, std::move(placement)});
}

void ParetoFront::offer(const Instance& instance, Placement placement) {
  const Criteria value = evaluate_criteria(instance, placement);
  offer(value, std::move(placement));
}

double scalarize(const Criteria& value, double theta) {
  const double minsum = value.minsum > 0 ? std::log(value.minsum) : 0;
  return minsum + theta * std::log(value.makespan);
}

int choose_point(const ParetoFront& front, double theta, const Criteria& reference) {
  const auto& points = front.points();
  COSCHED_ASSERT(!points.empty());
  int best = -1;
  bool is_best_allowed = false;
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    const Criteria& value = points[k].value;
    const bool is_allowed =
        value.makespan <= reference.makespan && value.minsum <= reference.minsum;
    if (best >= 0 && is_allowed < is_best_allowed) continue;
    if (best >= 0 && is_allowed == is_best_allowed &&
        scalarize(value, theta) >= scalarize(points[best].value, theta))
      continue;
    best = k;
    is_best_allowed = is_allowed;
  }
  return best;
}

}  // namespace cosched::moldable::search
