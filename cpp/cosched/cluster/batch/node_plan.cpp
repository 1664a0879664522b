#include "cosched/cluster/batch/node_plan.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "cosched/core/found.hpp"

namespace cosched::cluster::batch {
namespace {

// A node holds a part from `begin` to `end`.
struct FreeWindow {
  double begin;
  double end;
  bool is_for_larger_part;
};

// Appends the maximal windows of at least `duration` seconds in which the node holds the part and
// that begin before the limit.
void append_windows(const AmountProfile& profile, double now, const ResourceAmounts& part,
                    double duration, double start_limit, bool is_for_larger_part,
                    std::vector<FreeWindow>& windows) {
  for (std::size_t step = profile.step_at(now);
       step < profile.size() && profile[step].time < start_limit; ++step) {
    if (!profile[step].free.can_hold(part)) continue;
    const double begin = std::max(now, profile[step].time);
    while (step + 1 < profile.size() && profile[step + 1].free.can_hold(part)) ++step;
    const double end = profile.end_of(step);
    if (begin < start_limit && begin + duration <= end)
      windows.push_back({begin, end, is_for_larger_part});
  }
}

using EndQueue = std::priority_queue<double, std::vector<double>, std::greater<>>;

void remove_ends_before(EndQueue& ends, double time) {
  while (!ends.empty() && ends.top() < time) ends.pop();
}

// The first start at which enough windows are open for all parts of the need and stay open for
// `duration` seconds, else `start_limit`.
double find_first_common_start(std::vector<FreeWindow>& windows, const Need& need, double duration,
                               double start_limit) {
  std::sort(windows.begin(), windows.end(),
            [](const FreeWindow& a, const FreeWindow& b) { return a.begin < b.begin; });
  EndQueue part_window_ends;
  EndQueue larger_part_window_ends;
  for (const FreeWindow& window : windows) {
    EndQueue& ends = window.is_for_larger_part ? larger_part_window_ends : part_window_ends;
    ends.push(window.end);
    remove_ends_before(part_window_ends, window.begin + duration);
    remove_ends_before(larger_part_window_ends, window.begin + duration);
    if (part_window_ends.size() >= static_cast<std::size_t>(need.part_count) &&
        larger_part_window_ends.size() >= static_cast<std::size_t>(need.larger_part_count))
      return window.begin;
  }
  return start_limit;
}

}  // namespace

NodePlan::NodePlan(const Site& site, const NodePlanParams& params) : params_(params), site_(site) {
  for (int job = 0; job < site.job_count(); ++job) {
    const Need& need = site.need(job);
    if (need.part_count > 0) continue;
    const bool has_aggregate =
        std::any_of(aggregates_.begin(), aggregates_.end(), [&](const AggregateProfile& aggregate) {
          return aggregate.cells == need.cells && aggregate.gpu_types == need.gpu_types;
        });
    if (!has_aggregate)
      aggregates_.push_back({need.cells, need.gpu_types, AmountProfile(0, ResourceAmounts{}), 0});
  }
  reset(0, {});
}

void NodePlan::reset(double now, const std::vector<RunningShare<NodePlacement>>& running_shares) {
  node_profiles_.clear();
  for (const SiteNode& node : site_.nodes()) node_profiles_.emplace_back(now, node.capacity);
  for (const RunningShare<NodePlacement>& running : running_shares)
    for (const Piece& piece : *running.share)
      node_profiles_[piece.node].add(now, running.expected_end, -piece.amounts);
  for (AggregateProfile& aggregate : aggregates_) rebuild(aggregate);
}

void NodePlan::advance(double now) {
  for (AmountProfile& profile : node_profiles_) profile.forget_before(now);
  for (AggregateProfile& aggregate : aggregates_) aggregate.sum.forget_before(now);
}

void NodePlan::reserve(double begin, double end, const NodePlacement& share) {
  change(begin, end, share, -1);
}

void NodePlan::release(double begin, double end, const NodePlacement& share) {
  change(begin, end, share, +1);
}

void NodePlan::change(double begin, double end, const NodePlacement& share, int sign) {
  for (const Piece& piece : share)
    node_profiles_[piece.node].add(begin, end, sign > 0 ? piece.amounts : -piece.amounts);
  for (AggregateProfile& aggregate : aggregates_) {
    ResourceAmounts total;
    for (const Piece& piece : share) total += counted_amounts(aggregate, piece.node, piece.amounts);
    aggregate.sum.add(begin, end, sign > 0 ? total : -total, AmountProfile::EqualSteps::keep);
    if (aggregate.sum.size() >
        params_.max_step_growth * aggregate.rebuilt_size + params_.max_extra_steps)
      rebuild(aggregate);
  }
}

NodePlan::JobSlot NodePlan::find_earliest_slot(double now, const Need& need, double duration,
                                               double start_limit) const {
  if (need.part_count == 0) return find_undistributed_slot(now, need, duration, start_limit);
  if (need.part_count == 1) return find_slot_of_one_part(now, need, duration, start_limit);
  return find_slot_of_parts(now, need, duration, start_limit);
}

double NodePlan::find_earliest_start_on(int node, double now, const Need& need, double duration,
                                        double start_limit) const {
  if (!site_.is_open_to(need, node)) return start_limit;
  return node_profiles_[node].find_earliest_start(now, need.part_amounts, duration, start_limit);
}

NodePlan::JobSlot NodePlan::find_slot_of_one_part(double now, const Need& need, double duration,
                                                  double start_limit) const {
  JobSlot slot{start_limit, {}};
  for (std::size_t k = 0; k < node_profiles_.size() && slot.start > now; ++k) {
    const int node = static_cast<int>(k);
    const double start = find_earliest_start_on(node, now, need, duration, slot.start);
    if (start < slot.start) slot = {start, {{node, need.part_amounts}}};
  }
  return slot;
}

NodePlan::JobSlot NodePlan::find_slot_of_parts(double now, const Need& need, double duration,
                                               double start_limit) const {
  const ResourceAmounts larger_part = need.larger_part_amounts();
  std::vector<FreeWindow> windows;
  for (std::size_t node = 0; node < node_profiles_.size(); ++node) {
    if (!site_.is_open_to(need, static_cast<int>(node))) continue;
    append_windows(node_profiles_[node], now, need.part_amounts, duration, start_limit, false,
                   windows);
    if (need.larger_part_count > 0)
      append_windows(node_profiles_[node], now, larger_part, duration, start_limit, true, windows);
  }
  JobSlot slot{find_first_common_start(windows, need, duration, start_limit), {}};
  if (slot.start < start_limit)
    site_.find_placement(need, minimum_between(slot.start, slot.start + duration), need.cells,
                         kEmptyBitSet, &slot.share);
  return slot;
}

NodePlan::JobSlot NodePlan::find_undistributed_slot(double now, const Need& need, double duration,
                                                    double start_limit) const {
  const AmountProfile& sum = aggregate_of(need).sum;
  JobSlot slot{start_limit, {}};
  for (std::size_t step = sum.step_at(now); step < sum.size(); ++step) {
    const double start = std::max(now, sum[step].time);
    if (!(start < start_limit)) break;
    // The first step during the run at which the sum is too small, if there is one.
    std::size_t full_step = step;
    while (full_step < sum.size() && sum[full_step].time < start + duration &&
           sum[full_step].free.can_hold(need.part_amounts))
      ++full_step;
    if (full_step < sum.size() && sum[full_step].time < start + duration) {
      step = full_step;  // no start before this step can work: its run contains the step
      continue;
    }
    if (site_.find_placement(need, minimum_between(start, start + duration), need.cells,
                             kEmptyBitSet, &slot.share)) {
      slot.start = start;
      return slot;
    }
  }
  slot.share.clear();
  return slot;
}

FreeAmounts NodePlan::minimum_between(double begin, double end) const {
  FreeAmounts minimum;
  for (const AmountProfile& profile : node_profiles_)
    minimum.push_back(profile.minimum_between(begin, end));
  return minimum;
}

const NodePlan::AggregateProfile& NodePlan::aggregate_of(const Need& need) const {
  const auto place =
      std::find_if(aggregates_.begin(), aggregates_.end(), [&](const AggregateProfile& aggregate) {
        return aggregate.cells == need.cells && aggregate.gpu_types == need.gpu_types;
      });
  return *require_found(place, aggregates_.end(), "the aggregate of a need");
}

ResourceAmounts NodePlan::counted_amounts(const AggregateProfile& aggregate, int node,
                                          const ResourceAmounts& amounts) const {
  const SiteNode& properties = site_.nodes()[node];
  if (!has_bit(aggregate.cells, properties.cell)) return {};
  ResourceAmounts counted = amounts;
  if (!has_bit(aggregate.gpu_types, properties.gpu_type)) counted.gpus = 0;
  return counted;
}

void NodePlan::rebuild(AggregateProfile& aggregate) const {
  std::vector<AmountStep> changes;  // at `time`, a node has `free` more than before, or less
  for (std::size_t node = 0; node < node_profiles_.size(); ++node) {
    ResourceAmounts before;
    for (const AmountStep& step : node_profiles_[node].steps()) {
      const ResourceAmounts after = counted_amounts(aggregate, static_cast<int>(node), step.free);
      ResourceAmounts change = after;
      change -= before;
      changes.push_back({step.time, change});
      before = after;
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const AmountStep& a, const AmountStep& b) { return a.time < b.time; });
  std::vector<AmountStep> steps;
  ResourceAmounts sum;
  for (const AmountStep& change : changes) {
    sum += change.free;
    if (steps.empty() || steps.back().time < change.time) steps.push_back(change);
    steps.back().free = sum;
  }
  aggregate.sum = AmountProfile(std::move(steps));
  aggregate.rebuilt_size = aggregate.sum.size();
}

}  // namespace cosched::cluster::batch
