#include "cosched/packs/exact/branching.hpp"

namespace cosched::packs::exact {
namespace {

// Sums closer to an integer are integral: the values of a master are right up to 1e-9, and sums of
// up to 10^4 of them up to this.
constexpr double kIntegralityTolerance = 1e-5;
// A count of packs that is further from an integer is branched on, before any task: it concerns all
// tasks.  Any number below 0.5 keeps the search complete.
constexpr double kCountFirstFractionality = 0.1;
// A length replaces a longer one where its sum is more fractional by more than rounding.
constexpr double kLeastGain = 1e-6;

constexpr int kAnyTask = -1;

// Pairs (length, value) of packs, longest first.
using ValuesByLength = std::vector<std::pair<double, double>>;

// Of the packs that hold `task`.
ValuesByLength values_by_length(const std::vector<columns::FractionalPack>& packs, int task) {
  ValuesByLength values;
  for (const columns::FractionalPack& f : packs)
    if (task == kAnyTask || std::binary_search(f.pack.tasks.begin(), f.pack.tasks.end(), task))
      values.emplace_back(f.pack.length, f.value);
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

// A length to branch on: the sum of the values of the packs of at least that length, which hold the
// task, is an integer in each co-schedule.
struct BranchingDecision {
  double fractionality = kIntegralityTolerance;  // distance of the sum from the next integer
  double length = 0;
  double sum = 0;
  int task = kAnyTask;
};

// The length D for which the sum of the values of packs of length >= D is most fractional.
BranchingDecision most_fractional_length(const ValuesByLength& values) {
  BranchingDecision decision;
  double sum = 0;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const auto& [length, value] = values[c];
    sum += value;
    const bool is_last_of_length = c + 1 == values.size() || values[c + 1].first != length;
    if (!is_last_of_length) continue;
    const double fractionality = std::abs(sum - std::round(sum));
    if (fractionality > decision.fractionality + kLeastGain)
      decision = {.fractionality = fractionality, .length = length, .sum = sum};
  }
  return decision;
}

// Adds the restriction that at most, or at least, `packs` packs have a length >= `length`.
columns::Restrictions with_count(columns::Restrictions restrictions, double length, int packs,
                                 bool at_least) {
  restrictions.counts.push_back({length, packs, at_least});
  return restrictions;
}

// The pack of `task` has a length in [least, below).
columns::Restrictions with_interval(columns::Restrictions restrictions, int task, double least,
                                    double below) {
  restrictions.least_length[task] = std::max(restrictions.least_length[task], least);
  restrictions.below_length[task] = std::min(restrictions.below_length[task], below);
  return restrictions;
}

Alternatives branch_on(const columns::Restrictions& restrictions,
                       const BranchingDecision& decision) {
  if (decision.task == kAnyTask) {
    const int packs = static_cast<int>(std::floor(decision.sum));
    return {with_count(restrictions, decision.length, packs, false),
            with_count(restrictions, decision.length, packs + 1, true)};
  }
  return {with_interval(restrictions, decision.task, decision.length, kInfinity),
          with_interval(restrictions, decision.task, 0, decision.length)};
}

double just_above(double length) { return std::nextafter(length, kInfinity); }

// True where the restrictions leave just this number of packs of at least this length.
bool is_count_pinned(const columns::Restrictions& restrictions, double length, int packs) {
  bool has_lower_limit = packs == 0, has_upper_limit = false;
  for (const columns::CountRow& row : restrictions.counts) {
    if (row.length >= length && row.at_least && row.packs >= packs) has_lower_limit = true;
    if (row.length <= length && !row.at_least && row.packs <= packs) has_upper_limit = true;
  }
  return has_lower_limit && has_upper_limit;
}

// Just this number of packs of at least this length; more; or less.
Alternatives pin_count(const columns::Restrictions& restrictions, double length, int packs) {
  Alternatives result{
      with_count(with_count(restrictions, length, packs, true), length, packs, false),
      with_count(restrictions, length, packs + 1, true)};
  if (packs > 0) result.push_back(with_count(restrictions, length, packs - 1, false));
  return result;
}

}  // namespace

std::optional<Alternatives> most_fractional_branching(
    const columns::Restrictions& restrictions, const std::vector<columns::FractionalPack>& packs) {
  const BranchingDecision count = most_fractional_length(values_by_length(packs, kAnyTask));
  if (count.fractionality > kCountFirstFractionality) return branch_on(restrictions, count);
  BranchingDecision best = count;
  for (std::size_t i = 0; i < restrictions.least_length.size(); ++i) {
    BranchingDecision decision =
        most_fractional_length(values_by_length(packs, static_cast<int>(i)));
    decision.task = static_cast<int>(i);
    if (decision.fractionality > best.fractionality) best = decision;
  }
  if (best.fractionality <= kIntegralityTolerance) return std::nullopt;
  return branch_on(restrictions, best);
}

std::vector<LengthLevel> length_levels(const std::vector<columns::FractionalPack>& packs,
                                       int tasks) {
  std::vector<LengthLevel> result;
  double sum = 0;
  for (const auto& [length, value] : values_by_length(packs, kAnyTask)) {
    if (result.empty() || result.back().length != length) {
      result.push_back({length, 0, {}});
      sum = 0;
    }
    sum += value;
    result.back().packs = static_cast<int>(std::lround(sum));
  }
  for (int i = 0; i < tasks; ++i) {
    const ValuesByLength values = values_by_length(packs, i);
    const auto greatest_value =
        std::max_element(values.begin(), values.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (greatest_value == values.end()) continue;
    for (LengthLevel& level : result)
      if (level.length == greatest_value->first) level.tasks.push_back(i);
  }
  std::erase_if(result,
                [](const LengthLevel& level) { return level.packs == 0 && level.tasks.empty(); });
  return result;
}

std::optional<Alternatives> pinning_branching(const columns::Restrictions& restrictions,
                                              const std::vector<LengthLevel>& all_levels,
                                              const LengthLevel& level) {
  const double above = just_above(level.length);
  for (const int i : level.tasks) {
    if (restrictions.least_length[i] == level.length && restrictions.below_length[i] == above)
      continue;
    Alternatives result{with_interval(restrictions, i, level.length, above)};
    if (restrictions.least_length[i] < level.length)
      result.push_back(with_interval(restrictions, i, 0, level.length));
    if (restrictions.below_length[i] > above)
      result.push_back(with_interval(restrictions, i, above, kInfinity));
    return result;
  }
  int longer = 0;
  for (const LengthLevel& other : all_levels)
    if (other.length > level.length) longer += other.packs;
  if (!is_count_pinned(restrictions, above, longer)) return pin_count(restrictions, above, longer);
  if (!is_count_pinned(restrictions, level.length, longer + level.packs))
    return pin_count(restrictions, level.length, longer + level.packs);
  return std::nullopt;
}

}  // namespace cosched::packs::exact
