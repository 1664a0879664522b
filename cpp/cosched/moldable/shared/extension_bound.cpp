#include "cosched/moldable/shared/extension_bound.hpp"

namespace cosched::moldable::shared {

ExtensionBound::ExtensionBound(const Instance& instance, const bounds::ResourceRows& rows,
                               const std::vector<double>& surrogate)
    : instance_(instance), sharing_(*instance.sharing()), rows_(rows) {
  for (int row = 0; row <= sharing_.resources(); ++row) {
    row_mixes_.emplace_back(sharing_.resources() + 1, 0.0);
    row_mixes_.back()[row] = 1;
  }
  row_mixes_.emplace_back(surrogate.begin(), surrogate.begin() + sharing_.resources() + 1);
  for (int i = 0; i < instance.jobs(); ++i) count_groups_.push_back(make_count_groups(i));
}

void ExtensionBound::set_prices(const std::vector<double>& prices) {
  prices_ = prices;
  order_.clear();
  constexpr double kLeastLoad = 1e-12;  // of a job that needs next to nothing: it comes first
  std::vector<double> density(instance_.jobs(), 0);
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (!(prices[i] > 0)) continue;
    order_.push_back(i);
    for (const Choice& c : rows_.choices(i))
      density[i] =
          std::max(density[i], prices[i] / c.time /
                                   std::max(row_weight(row_mixes_.size() - 1, i, c), kLeastLoad));
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int a, int b) { return density[a] > density[b]; });
  const std::size_t n = order_.size();
  const std::size_t all = row_mixes_.size() + (sharing_.has_bandwidth() ? 1 : 0);
  candidate_hulls_.assign(all, std::vector<DensityHull>(n));
  member_hulls_.assign(all, std::vector<std::vector<DensityHull>>(n));
  multipliers_.assign(all, 0);
  for (std::size_t w = 0; w < all; ++w)
    for (std::size_t index = 0; index < n; ++index) {
      const int i = order_[index], counts = static_cast<int>(rows_.choices(i).size());
      candidate_hulls_[w][index] = make_hull(w, i, {0, counts - 1}, true);
      for (const CountGroup& group : count_groups_[i])
        member_hulls_[w][index].push_back(make_hull(w, i, group, false));
    }
}

bool ExtensionBound::has_room_for(const std::vector<SetMember>& set) const {
  std::vector<RunningTask> runs;
  long long used_procs = 0;
  for (const SetMember& member : set) {
    const int i = order_[member.order_index];
    runs.push_back(
        {i, rows_.choices(i)[count_groups_[i][member.group_index].first_choice].procs, 0});
    used_procs += runs.back().procs;
  }
  return used_procs <= instance_.machines() && sharing_.fits(runs);
}

std::vector<double> ExtensionBound::slowdown_factors(const std::vector<SetMember>& set) {
  poll_.count(kPairStep * static_cast<std::int64_t>(set.size() * set.size() + 1));
  std::vector<RunningTask> runs;
  for (const SetMember& member : set) {
    const int i = order_[member.order_index];
    const Choice& c = rows_.choices(i)[count_groups_[i][member.group_index].first_choice];
    runs.push_back({i, c.procs, c.time});
  }
  return sharing_.factors(runs);
}

void ExtensionBound::find_candidates(const std::vector<SetMember>& set, int from,
                                     LoadInterval loads) {
  candidates_.clear();
  double load = 0;
  int procs = 0;
  used_resources_.assign(sharing_.resources(), 0);
  for (const SetMember& member : set) {
    const int i = order_[member.order_index];
    const int q = rows_.choices(i)[count_groups_[i][member.group_index].first_choice].procs;
    load += sharing_.load(i, q);
    procs += q;
    for (int r = 0; r < sharing_.resources(); ++r) used_resources_[r] += sharing_.need(r, i, q);
  }
  const double max_load = loads.high + kSlack;
  for (int index = from; index < static_cast<int>(order_.size()); ++index) {
    const int i = order_[index];
    double least_load = kInfinity;  // of the job, on a count that fits
    for (const CountGroup& group : count_groups_[i])
      if (has_room_for(i, group, procs))
        least_load =
            std::min(least_load, sharing_.load(i, rows_.choices(i)[group.first_choice].procs));
    if (least_load == kInfinity || load + least_load > max_load) continue;
    double f = factor_in_set(set, i);
    if (!set.empty()) f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, load + least_load - 1));
    f = std::max(f, 1 + sharing_.stall(i) * std::max(0.0, loads.low - 1));
    candidates_.push_back({index, f, kInfinity});
  }
  steps_ += static_cast<std::int64_t>(order_.size()) - from;
}

double ExtensionBound::bound_extensions(const std::vector<SetMember>& set,
                                        const std::vector<double>& factors, LoadInterval loads,
                                        double cutoff) {
  double least = kInfinity;
  for (std::size_t w = 0; w < knapsack_count(loads); ++w) {
    fill_knapsack(w, set, factors, loads, true);
    if (lagrangian_at(multipliers_[w]) <= cutoff) return cutoff;
    least = std::min(least, solve_fractional());
    if (least <= cutoff) return cutoff;
  }
  return least;
}

double ExtensionBound::bound_each_candidate(const std::vector<SetMember>& set,
                                            const std::vector<double>& factors,
                                            LoadInterval loads) {
  double least = kInfinity;
  for (std::size_t w = 0; w < knapsack_count(loads); ++w) {
    fill_knapsack(w, set, factors, loads, true);
    least = std::min(least, solve_fractional(&multipliers_[w]));
    const double multiplier = multipliers_[w];
    const auto gain = [&](int step) {
      return std::max(0.0, knapsack_.steps[step].value - multiplier * knapsack_.steps[step].weight);
    };
    double sum = knapsack_.fixed_value + multiplier * knapsack_.free_weight;
    const std::vector<int>& begins = knapsack_.candidate_begins;
    const int member_steps = candidates_.empty() ? 0 : begins[0];
    for (int step = 0; step < member_steps; ++step) sum += gain(step);
    for (int k = static_cast<int>(candidates_.size()) - 1; k >= 0; --k) {
      for (int step = begins[k]; step < begins[k + 1]; ++step) sum += gain(step);
      candidates_[k].extension_bound = std::min(candidates_[k].extension_bound, sum);
    }
  }
  return least;
}

std::vector<ExtensionBound::CountGroup> ExtensionBound::make_count_groups(int i) const {
  std::vector<CountGroup> groups;
  const std::vector<Choice>& counts = rows_.choices(i);
  for (int c = 0; c < static_cast<int>(counts.size()); ++c) {
    const auto has_same_needs = [&](int q, int candidate) {
      for (int r = 0; r < sharing_.resources(); ++r)
        if (sharing_.need(r, i, q) != sharing_.need(r, i, candidate)) return false;
      return sharing_.load(i, q) == sharing_.load(i, candidate);
    };
    if (c > 0 && has_same_needs(counts[c].procs, counts[c - 1].procs))
      groups.back().last_choice = c;
    else
      groups.push_back({c, c});
  }
  return groups;
}

double ExtensionBound::row_weight(std::size_t w, int i, const Choice& c) const {
  if (is_load_row(w)) return sharing_.load(i, c.procs);
  double sum = 0;
  for (std::size_t row = 0; row < row_mixes_[w].size(); ++row)
    if (row_mixes_[w][row] > 0)
      sum += row_mixes_[w][row] * rows_.share(static_cast<int>(row), i, c.procs);
  return sum;
}

ExtensionBound::DensityHull ExtensionBound::make_hull(std::size_t w, int i, CountGroup group,
                                                      bool from_nothing) const {
  std::vector<std::pair<double, double>> points;
  for (int c = group.first_choice; c <= group.last_choice; ++c) {
    const Choice& choice = rows_.choices(i)[c];
    points.emplace_back(row_weight(w, i, choice), -prices_[i] / choice.time);
  }
  std::sort(points.begin(), points.end());  // the greatest value of a weight first
  std::vector<std::pair<double, double>> hull_points;
  if (from_nothing) hull_points.emplace_back(0, 0);
  for (auto [x, negative] : points) {
    const double y = -negative;
    if (!hull_points.empty() && y <= hull_points.back().second) continue;
    while (hull_points.size() > 1) {
      const auto& [x1, y1] = hull_points[hull_points.size() - 2];
      const auto& [x2, y2] = hull_points.back();
      if ((y2 - y1) * (x - x1) > (y - y1) * (x2 - x1)) break;
      hull_points.pop_back();
    }
    hull_points.emplace_back(x, y);
  }
  DensityHull hull{hull_points.front().second, hull_points.front().first, {}};
  for (std::size_t k = 1; k < hull_points.size(); ++k)
    hull.steps.push_back({hull_points[k].second - hull_points[k - 1].second,
                          hull_points[k].first - hull_points[k - 1].first});
  return hull;
}

void ExtensionBound::fill_knapsack(std::size_t w, const std::vector<SetMember>& set,
                                   const std::vector<double>& factors, LoadInterval loads,
                                   bool with_candidates) {
  std::vector<HullStep>& steps = knapsack_.steps;
  steps.clear();
  knapsack_.candidate_begins.clear();
  double sum = 0, free_weight = kSlack;
  if (is_load_row(w))
    free_weight += loads.high;
  else
    for (const double share : row_mixes_[w]) free_weight += share;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const DensityHull& member_hull = member_hulls_[w][set[k].order_index][set[k].group_index];
    const double stall = sharing_.stall(order_[set[k].order_index]);
    const double f = std::max(factors[k], 1 + stall * std::max(0.0, loads.low - 1));
    sum += member_hull.base_value / f;
    free_weight -= member_hull.base_weight;
    for (const HullStep& step : member_hull.steps) steps.push_back({step.value / f, step.weight});
  }
  knapsack_.fixed_value = sum;
  knapsack_.free_weight = std::max(free_weight, 0.0);
  if (!with_candidates) return;
  for (const JoinCandidate& candidate : candidates_) {
    knapsack_.candidate_begins.push_back(static_cast<int>(steps.size()));
    for (const HullStep& step : candidate_hulls_[w][candidate.order_index].steps)
      steps.push_back({step.value / candidate.factor_bound, step.weight});
  }
  knapsack_.candidate_begins.push_back(static_cast<int>(steps.size()));
}

double ExtensionBound::solve_fractional(double* multiplier) {
  sorted_steps_ = knapsack_.steps;
  std::sort(sorted_steps_.begin(), sorted_steps_.end(), [](const HullStep& a, const HullStep& b) {
    return a.value * b.weight > b.value * a.weight;
  });
  steps_ += static_cast<std::int64_t>(sorted_steps_.size());
  poll_.count(kSortedStep * static_cast<std::int64_t>(sorted_steps_.size() + 1));
  double sum = knapsack_.fixed_value, free_weight = knapsack_.free_weight;
  if (multiplier != nullptr) *multiplier = 0;
  for (const HullStep& step : sorted_steps_) {
    if (step.weight > free_weight) {
      if (multiplier != nullptr) *multiplier = step.value / step.weight;
      return sum + step.value * free_weight / step.weight;
    }
    sum += step.value;
    free_weight -= step.weight;
  }
  return sum;
}

}  // namespace cosched::moldable::shared
