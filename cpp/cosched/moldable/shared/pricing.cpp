#include "cosched/moldable/shared/pricing.hpp"

namespace cosched::moldable::shared {

ConfigurationPricing::PricingResult ConfigurationPricing::find_best(
    const std::vector<double>& prices, double threshold, std::int64_t max_steps,
    std::int64_t& steps_used) {
  prices_ = prices;
  extension_bound_.set_prices(prices);
  PricingResult result;
  result.value_bound = threshold;
  value_threshold_ = threshold;
  const std::int64_t first_step = steps(), last_step = first_step + max_steps;
  consider_singles(result);
  open_roots();
  dive_greedily(result);
  while (!open_nodes_.empty()) {
    const SearchNode node = open_nodes_.top();
    // No open node is worth more than the best configuration, but for a tolerance.
    const bool is_solved = node.bound <= result.value_bound * (1 + kPricingGap / 4);
    if (is_solved || steps() > last_step || !expand_node(node, result, last_step)) {
      result.value_bound = std::max(result.value_bound, node.bound);
      result.is_complete = is_solved;
      break;
    }
  }
  steps_used += steps() - first_step;
  return result;
}

void ConfigurationPricing::open_roots() {
  open_nodes_ = {};
  const auto open = [&](ExtensionBound::LoadInterval loads) {
    extension_bound_.find_candidates({}, 0, loads);
    open_nodes_.push({extension_bound_.bound_extensions({}, {}, loads, 0), 0, {}, loads});
  };
  if (!sharing_.has_bandwidth()) return open({});
  double from = 0;
  for (double to = 1; to <= params_.max_load; to *= params_.load_ratio) {
    open({from, to});
    from = to;
  }
  open({from, kInfinity});
}

void ConfigurationPricing::consider_singles(PricingResult& result) {
  for (const int i : extension_bound_.order()) {
    PricedConfiguration best{0, {}};
    for (int c = 0; c < static_cast<int>(rows_.choices(i).size()); ++c) {
      const double value = prices_[i] / rows_.choices(i)[c].time;
      if (value > best.value) best = {value, {{i, c}}};
    }
    if (best.value > value_threshold_) keep_configuration(std::move(best), result);
  }
}

bool ConfigurationPricing::expand_node(const SearchNode& node, PricingResult& result,
                                       std::int64_t last_step) {
  open_nodes_.pop();
  std::vector<SetMember> set = node.set;
  const std::vector<double> set_factors = extension_bound_.slowdown_factors(set);
  extension_bound_.find_candidates(set, node.next_index, node.load_interval);
  extension_bound_.bound_each_candidate(set, set_factors, node.load_interval);
  const std::vector<ExtensionBound::JoinCandidate> candidates = extension_bound_.candidates();
  for (const ExtensionBound::JoinCandidate& candidate : candidates) {
    ++steps_;
    if (candidate.extension_bound <= result.value_bound) continue;
    const int i = extension_bound_.order()[candidate.order_index];
    for (int g = 0; g < static_cast<int>(extension_bound_.count_groups(i).size()); ++g) {
      set.push_back({candidate.order_index, g});
      if (extension_bound_.has_room_for(set)) {
        const std::vector<double> factors = extension_bound_.slowdown_factors(set);
        consider(set, factors, result);
        extension_bound_.find_candidates(set, candidate.order_index + 1, node.load_interval);
        if (!extension_bound_.candidates().empty()) {
          const double bound =
              std::min({node.bound, candidate.extension_bound,
                        extension_bound_.bound_extensions(set, factors, node.load_interval,
                                                          result.value_bound)});
          if (bound > result.value_bound)
            open_nodes_.push({bound, candidate.order_index + 1, set, node.load_interval});
        }
      }
      set.pop_back();
      if (steps() > last_step) return false;
    }
  }
  return true;
}

void ConfigurationPricing::dive_greedily(PricingResult& result) {
  const int dives =
      std::min<int>(params_.greedy_dives, static_cast<int>(extension_bound_.order().size()));
  for (int first = 0; first < dives; ++first) {
    std::vector<SetMember> set;
    double value = 0;
    bool has_grown = true;
    while (has_grown) has_grown = add_best_job(set, value, first);
    consider(set, extension_bound_.slowdown_factors(set), result);
  }
}

bool ConfigurationPricing::add_best_job(std::vector<SetMember>& set, double& value, int first) {
  extension_bound_.find_candidates(set, 0, {});
  std::vector<int> indices;
  for (const ExtensionBound::JoinCandidate& candidate : extension_bound_.candidates())
    indices.push_back(candidate.order_index);
  if (set.empty()) indices = {first};
  bool has_grown = false;
  SetMember best{};
  for (const int index : indices) {
    if (std::any_of(set.begin(), set.end(),
                    [&](const SetMember& member) { return member.order_index == index; }))
      continue;
    const int i = extension_bound_.order()[index];
    for (int g = 0; g < static_cast<int>(extension_bound_.count_groups(i).size()); ++g) {
      set.push_back({index, g});
      if (extension_bound_.has_room_for(set)) {
        const double extended_value =
            extension_bound_.bound_set(set, extension_bound_.slowdown_factors(set));
        if (extended_value > value) {
          value = extended_value;
          best = {index, g};
          has_grown = true;
        }
      }
      set.pop_back();
    }
  }
  if (has_grown) set.push_back(best);
  return has_grown;
}

void ConfigurationPricing::keep_configuration(PricedConfiguration configuration,
                                              PricingResult& result) {
  result.value_bound = std::max(result.value_bound, configuration.value);
  result.configurations.push_back(std::move(configuration));
  if (result.configurations.size() < 2 * params_.max_configurations) return;
  std::sort(
      result.configurations.begin(), result.configurations.end(),
      [](const PricedConfiguration& a, const PricedConfiguration& b) { return a.value > b.value; });
  result.configurations.resize(params_.max_configurations);
  value_threshold_ = result.configurations.back().value;
}

ConfigurationPricing::PricedConfiguration ConfigurationPricing::choose_counts(
    const std::vector<SetMember>& set, const std::vector<double>& factors) {
  const int m = instance_.machines();
  std::vector<std::vector<int>> choice_at(  // of each member, by processors up to it
      set.size(), std::vector<int>(m + 1, -1));
  std::vector<double> worth_by_procs(m + 1, 0), next_worth;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const int i = extension_bound_.order()[set[k].order_index];
    const ExtensionBound::CountGroup& group = extension_bound_.count_groups(i)[set[k].group_index];
    next_worth.assign(m + 1, -kInfinity);
    for (int c = group.first_choice; c <= group.last_choice; ++c) {
      const Choice& choice = rows_.choices(i)[c];
      const double value = prices_[i] / (choice.time * factors[k]);
      for (int free_procs = choice.procs; free_procs <= m; ++free_procs)
        if (worth_by_procs[free_procs - choice.procs] + value > next_worth[free_procs]) {
          next_worth[free_procs] = worth_by_procs[free_procs - choice.procs] + value;
          choice_at[k][free_procs] = c;
        }
    }
    worth_by_procs = next_worth;
    steps_ += static_cast<std::int64_t>(m) * (group.last_choice - group.first_choice + 1) / 8;
    poll_.count(static_cast<std::int64_t>(m) * (group.last_choice - group.first_choice + 1));
  }
  PricedConfiguration configuration{worth_by_procs[m], {}};
  int free_procs = m;
  for (int k = static_cast<int>(set.size()) - 1; k >= 0; --k) {
    const int i = extension_bound_.order()[set[k].order_index], c = choice_at[k][free_procs];
    configuration.members.push_back({i, c});
    free_procs -= rows_.choices(i)[c].procs;
  }
  return configuration;
}

}  // namespace cosched::moldable::shared
