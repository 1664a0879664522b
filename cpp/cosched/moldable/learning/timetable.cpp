#include "cosched/moldable/learning/timetable.hpp"

#include <algorithm>

namespace cosched::moldable::learning {
namespace {

// Sums of shares up to this fit.  Wider than kExactTolerance, by which validators let schedules
// exceed capacities.
constexpr double kFullShare = 1 + 1e-8;

}  // namespace

Timetable::Timetable(std::vector<ResourceUser> users) : users_(std::move(users)) {
  std::stable_sort(users_.begin(), users_.end(),
                   [](const ResourceUser& a, const ResourceUser& b) { return a.share > b.share; });
  compulsory_parts_.resize(users_.size());
}

bool Timetable::propagate(Trail& trail) {
  find_compulsory_parts(trail);
  make_profile();
  operations_ += static_cast<std::int64_t>(users_.size() + 4 * changes_.size());
  if (highest_share_ > kFullShare) {
    const auto overloaded = std::find_if(profile_.begin(), profile_.end(),
                                         [](const Step& step) { return step.share > kFullShare; });
    return raise_overload_conflict(trail, *overloaded);
  }
  for (int user = 0; user < static_cast<int>(users_.size()); ++user) {
    if (highest_share_ + users_[user].share <= kFullShare) return true;  // the others need less
    if (trail.is_fixed(users_[user].start_variable)) continue;
    operations_ += static_cast<std::int64_t>(2 * profile_.size());
    if (!raise_earliest_start(trail, user) || !lower_latest_start(trail, user)) return false;
  }
  return true;
}

void Timetable::find_compulsory_parts(const Trail& trail) {
  changes_.clear();
  for (std::size_t k = 0; k < users_.size(); ++k) {
    const ResourceUser& user = users_[k];
    CompulsoryPart& part = compulsory_parts_[k];
    part = {trail.high(user.start_variable), trail.low(user.start_variable) + user.seconds};
    if (part.begin >= part.end) continue;
    changes_.emplace_back(part.begin, user.share);
    changes_.emplace_back(part.end, -user.share);
  }
}

void Timetable::make_profile() {
  std::sort(changes_.begin(), changes_.end());
  profile_.clear();
  highest_share_ = 0;
  double share = 0;
  for (std::size_t k = 0; k + 1 < changes_.size(); ++k) {
    share += changes_[k].second;
    if (changes_[k + 1].first == changes_[k].first) continue;
    profile_.push_back({changes_[k].first, changes_[k + 1].first, share});
    highest_share_ = std::max(highest_share_, share);
  }
}

bool Timetable::has_room(const Step& step, int user) const {
  const CompulsoryPart& part = compulsory_parts_[user];
  const bool is_in_part = part.begin <= step.begin && step.end <= part.end;
  return is_in_part || step.share + users_[user].share <= kFullShare;
}

bool Timetable::raise_earliest_start(Trail& trail, int k) const {
  const auto& [variable, seconds, share] = users_[k];
  int start = trail.low(variable);
  for (const Step& step : profile_) {
    if (step.begin >= start + seconds) break;
    if (step.end <= start || has_room(step, k)) continue;
    while (start < step.end) {
      const int time = std::min(step.end, start + seconds) - 1;
      trail.begin_explanation();
      trail.add_to_explanation(at_least(variable, time - seconds + 1));
      explain_by_users_at(trail, time, kFullShare - share, k);
      start = time + 1;
      if (!trail.raise(at_least(variable, start), trail.explanation_reason())) return false;
    }
  }
  return true;
}

bool Timetable::lower_latest_start(Trail& trail, int k) const {
  const auto& [variable, seconds, share] = users_[k];
  int start = trail.high(variable);
  for (auto step = profile_.rbegin(); step != profile_.rend(); ++step) {
    if (step->end <= start) break;
    if (step->begin >= start + seconds || has_room(*step, k)) continue;
    while (start + seconds > step->begin) {
      const int time = std::max(step->begin, start);
      trail.begin_explanation();
      trail.add_to_explanation(at_most(variable, time));
      explain_by_users_at(trail, time, kFullShare - share, k);
      start = time - seconds;
      if (!trail.raise(at_most(variable, start), trail.explanation_reason())) return false;
    }
  }
  return true;
}

void Timetable::explain_by_users_at(Trail& trail, int time, double share, int without) const {
  double sum = 0;
  for (int k = 0; k < static_cast<int>(users_.size()) && sum <= share; ++k) {
    if (k == without || !compulsory_parts_[k].covers(time)) continue;
    const auto& [variable, seconds, user_share] = users_[k];
    trail.add_to_explanation(at_most(variable, time));
    trail.add_to_explanation(at_least(variable, time - seconds + 1));
    sum += user_share;
  }
}

bool Timetable::raise_overload_conflict(Trail& trail, const Step& step) const {
  const int time = step.begin + (step.end - 1 - step.begin) / 2;
  // Asserting a start after `time` must fail; its explanation is the conflict.
  int largest = 0;
  while (!compulsory_parts_[largest].covers(time)) ++largest;
  const auto& [variable, seconds, share] = users_[largest];
  trail.begin_explanation();
  trail.add_to_explanation(at_least(variable, time - seconds + 1));
  explain_by_users_at(trail, time, kFullShare - share, largest);
  return trail.raise(at_least(variable, time + 1), trail.explanation_reason());
}

}  // namespace cosched::moldable::learning
