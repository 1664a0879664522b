#include "cosched/packs/exact/branching.hpp"

namespace cosched::packs::exact {
namespace {

constexpr double kIntegralityTolerance = 1e-5;    // sums closer to an integer are integral
constexpr double kCountFirstFractionality = 0.1;  // counts with more come before all tasks

// (length, value), longest first.
using Masses = std::vector<std::pair<double, double>>;

Masses packs_by_length(const std::vector<columns::FractionalPack>& packs, int task = -1) {
  Masses masses;
  for (const columns::FractionalPack& f : packs)
    if (task < 0 || std::binary_search(f.pack.tasks.begin(), f.pack.tasks.end(), task))
      masses.emplace_back(f.pack.length, f.value);
  std::sort(masses.begin(), masses.end(), std::greater<>());
  return masses;
}

struct BranchingDecision {
  double fractionality = kIntegralityTolerance;  // distance of the sum from the next integer
  double length = 0;
  double sum = 0;  // value of the packs of at least this length
  int task = -1;
};

// The length D for which the sum of the values of packs of length >= D is most fractional.
BranchingDecision most_fractional_length(const Masses& masses) {
  BranchingDecision question;
  double sum = 0;
  for (std::size_t c = 0; c < masses.size(); ++c) {
    sum += masses[c].second;
    if (c + 1 < masses.size() && masses[c + 1].first == masses[c].first) continue;
    const double openness = std::abs(sum - std::round(sum));
    if (openness > question.fractionality + 1e-6) question = {openness, masses[c].first, sum, -1};
  }
  return question;
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
                       const BranchingDecision& question) {
  if (question.task < 0) {
    const int packs = static_cast<int>(std::floor(question.sum));
    return {with_count(restrictions, question.length, packs, false),
            with_count(restrictions, question.length, packs + 1, true)};
  }
  return {with_interval(restrictions, question.task, question.length, kInfinity),
          with_interval(restrictions, question.task, 0, question.length)};
}

double just_above(double length) { return std::nextafter(length, kInfinity); }

bool is_count_pinned(const columns::Restrictions& restrictions, double length, int packs) {
  bool has_lower_limit = packs == 0, has_upper_limit = false;
  for (const columns::CountRow& row : restrictions.counts) {
    if (row.length >= length && row.at_least && row.packs >= packs) has_lower_limit = true;
    if (row.length <= length && !row.at_least && row.packs <= packs) has_upper_limit = true;
  }
  return has_lower_limit && has_upper_limit;
}

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
  const BranchingDecision count = most_fractional_length(packs_by_length(packs));
  if (count.fractionality > kCountFirstFractionality) return branch_on(restrictions, count);
  BranchingDecision best = count;
  for (std::size_t i = 0; i < restrictions.least_length.size(); ++i) {
    BranchingDecision question =
        most_fractional_length(packs_by_length(packs, static_cast<int>(i)));
    question.task = static_cast<int>(i);
    if (question.fractionality > best.fractionality) best = question;
  }
  if (best.fractionality <= kIntegralityTolerance) return std::nullopt;
  return branch_on(restrictions, best);
}

std::vector<LengthLevel> length_levels(const std::vector<columns::FractionalPack>& packs,
                                       int tasks) {
  std::vector<LengthLevel> result;
  double sum = 0;
  for (const auto& [length, value] : packs_by_length(packs)) {
    if (result.empty() || result.back().length != length) {
      result.push_back({length, 0, {}});
      sum = 0;
    }
    sum += value;
    result.back().packs = static_cast<int>(std::lround(sum));
  }
  for (int i = 0; i < tasks; ++i) {
    const Masses of_task = packs_by_length(packs, i);
    const auto largest =
        std::max_element(of_task.begin(), of_task.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (LengthLevel& level : result)
      if (largest != of_task.end() && level.length == largest->first) level.tasks.push_back(i);
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
