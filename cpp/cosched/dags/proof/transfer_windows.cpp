#include "cosched/dags/proof/transfer_windows.hpp"

#include <algorithm>
#include <functional>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::dags::proof {
namespace {

// The earliest that the other end's data can come from another memory than that of a unit of `type`.
double from_apart(const TransferWindows& windows, int edge, int type, bool backward) {
  const TypeCosts& costs = windows.costs();
  const int other = costs.other(edge, backward);
  double least = kInfinity;
  for (int its = 0; its < costs.types(); ++its) {
    if (!windows.open(other, its)) continue;
    const int across = backward ? costs.way(type, its) : costs.way(its, type);
    const int way = its == type ? costs.far_way(type) : across;
    if (!windows.way_open(edge, way)) continue;
    const double bound = backward ? windows.tail(other, its) : windows.head(other, its);
    const double end = bound + windows.instance().time(other, its);
    least = std::min(least, end + costs.cost(edge, way));
  }
  return least;
}

// Time until all (head, work) are done one after the other; sorts them by falling heads.
double all_done(std::vector<std::pair<double, double>>& loads) {
  std::sort(loads.begin(), loads.end(), std::greater<>());
  double sum = 0, most = 0;
  for (const auto& [head, work] : loads) most = std::max(most, head + (sum += work));
  return most;
}

// Least over k <= count of the longer of rising(k) and falling(k).
template <class Rising, class Falling>
double least_longer(int count, const Rising& rising, const Falling& falling) {
  int low = 0, high = count;  // the least k with rising(k) >= falling(k)
  while (low < high) {
    const int middle = (low + high) / 2;
    if (rising(middle) >= falling(middle))
      high = middle;
    else
      low = middle + 1;
  }
  const double best = std::max(rising(low), falling(low));
  return low > 0 ? std::min(best, std::max(rising(low - 1), falling(low - 1))) : best;
}

}  // namespace

TransferWindows::TransferWindows(const TypeCosts& costs, double makespan, bool clusters)
    : costs_(&costs),
      types_(costs.types()),
      makespan_(makespan),
      head_(costs.instance().times().size(), 0.0),
      tail_(head_),
      open_(head_.size()),
      way_(static_cast<std::size_t>(costs.edges()) * costs.ways()),
      only_type_(costs.instance().tasks()),
      clusters_(clusters && costs.any()) {
  for (int task = 0; task < instance().tasks(); ++task) {
    for (int type = 0; type < types_; ++type)
      open_[pair(task, type)] = instance().can_run(task, type);
    refresh(task);
    undecided_ += only_type_[task] < 0;
  }
  for (int edge = 0; edge < costs.edges(); ++edge)
    for (int way = 0; way < costs.ways(); ++way)
      way_[at(edge, way)] = costs.cost(edge, way) < kInfinity;
}

void TransferWindows::refresh(int task) {
  int count = 0;
  for (int type = 0; type < types_; ++type)
    if (open(task, type)) {
      only_type_[task] = type;
      ++count;
    }
  if (count != 1) only_type_[task] = -1;
}

void TransferWindows::close(int task, int type) {
  if (!open(task, type)) return;
  const bool undecided = only_type_[task] < 0;
  open_[pair(task, type)] = 0;
  changed_ = true;
  refresh(task);
  undecided_ -= undecided && only_type_[task] >= 0;
}

// Head (tail) by the paths over each edge; infinite where one has no pair left.
double TransferWindows::by_paths(int task, int type, bool backward) {
  const std::vector<double>& bound = side(backward);
  double best = bound[pair(task, type)];
  for (const int edge : costs_->at(task, backward)) {
    const int other = costs_->other(edge, backward);
    double least = kInfinity;
    for (int its = 0; its < types_; ++its) {
      if (!open(other, its)) continue;
      const double costs = backward ? cost(edge, type, its) : cost(edge, its, type);
      least = std::min(least, bound[pair(other, its)] + instance().time(other, its) + costs);
    }
    best = std::max(best, least);
  }
  return best;
}

// Head (tail) by the join argument, at least `path`.
double TransferWindows::by_join(int task, int type, double path, bool backward) {
  const auto edges = costs_->at(task, backward);
  const int units = costs_->together(type);
  if (units == 0 || edges.size() == 0) return path;
  arrivals_.clear();
  for (const int edge : edges) {
    const double apart = from_apart(*this, edge, type, backward);
    if (!(apart > path)) continue;
    const int other = costs_->other(edge, backward);
    if (open(other, type) && way_open(edge, between(type, type, backward)))
      arrivals_.push_back({apart, side(backward)[pair(other, type)], instance().time(other, type)});
    else
      arrivals_.push_back({apart, kInfinity, 0});
  }
  if (arrivals_.empty()) return path;
  // The first k stay at home; what they need rises with k, and what the rest waits for falls.
  std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
    return a.apart != b.apart ? a.apart > b.apart : a.at_home < b.at_home;
  });
  const int count = static_cast<int>(arrivals_.size());
  const auto at_home = [&](int stay) {
    ancestors_.clear();
    for (int k = 0; k < stay; ++k)
      ancestors_.emplace_back(arrivals_[k].at_home, arrivals_[k].work / units);
    steps_ += 20LL * stay;
    return all_done(ancestors_);
  };
  const auto next = [&](int stay) { return stay < count ? arrivals_[stay].apart : path; };
  return std::max(path, least_longer(count, at_home, next));
}

// True: a head (tail) has risen.
bool TransferWindows::relax(bool backward) {
  const std::vector<int>& order = instance().graph().order();
  std::vector<double>& bound = backward ? tail_ : head_;
  bool any = false;
  Poll poll;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int task = order[backward ? order.size() - 1 - k : k];
    poll.count(20LL * costs_->at(task, backward).size());
    for (int type = 0; type < types_; ++type) {
      if (!open(task, type)) continue;
      double found = by_paths(task, type, backward);
      if (costs_->any() && found < kInfinity) found = by_join(task, type, found, backward);
      any = any || found > bound[pair(task, type)];
      bound[pair(task, type)] = found;
    }
  }
  steps_ += 4LL * types_ * (instance().tasks() + types_ * costs_->edges());
  return any;
}

// False: a task has no type left.
bool TransferWindows::close_pairs(double limit) {
  for (int task = 0; task < instance().tasks(); ++task) {
    bool left = false;
    for (int type = 0; type < types_; ++type) {
      if (!open(task, type)) continue;
      if (head(task, type) + instance().time(task, type) + tail(task, type) > limit)
        close(task, type);
      else
        left = true;
    }
    if (!left) return false;
  }
  return true;
}

void TransferWindows::close_ways(double limit) {
  for (int edge = 0; edge < costs_->edges(); ++edge) {
    const int i = costs_->from(edge), j = costs_->to(edge);
    for (int way = 0; way < costs_->ways(); ++way) {
      if (!way_open(edge, way)) continue;
      const int q = costs_->first_type(way), r = costs_->second_type(way);
      const bool fits = open(i, q) && open(j, r) &&
                        head(i, q) + instance().time(i, q) + costs_->cost(edge, way) +
                                instance().time(j, r) + tail(j, r) <=
                            limit;
      if (fits) continue;
      close_way(edge, way);
      changed_ = true;
    }
  }
  steps_ += 3LL * costs_->ways() * costs_->edges();
}

void TransferWindows::keep_only(int task, int type) {
  for (int other = 0; other < types_; ++other)
    if (other != type) close(task, other);
}

void TransferWindows::keep_only_way(int edge, int way) {
  for (int other = 0; other < costs_->ways(); ++other)
    if (other != way) close_way(edge, other);
}

bool TransferWindows::prune(double slack) {
  const double limit = makespan_ * (1 + slack);
  for (changed_ = true; changed_;) {
    check_interrupt();
    relax(false);
    relax(true);
    changed_ = false;
    if (!close_pairs(limit)) return false;
    close_ways(limit);
    if (clusters_ && !changed_) bind_clusters(slack);
  }
  return true;
}

double TransferWindows::earliest(int task, bool backward) const {
  double least = kInfinity;
  for (int type = 0; type < types_; ++type)
    if (open(task, type)) least = std::min(least, side(backward)[pair(task, type)]);
  return least;
}

// The best load head (tail) of one task.
double TransferWindows::raised(int task, const std::vector<double>& work,
                               const std::vector<double>& first, bool backward) {
  ancestors_.clear();
  stack_.assign(1, task);
  ++stamp_;
  std::int64_t scanned = 0;
  while (!stack_.empty()) {
    const auto next = costs_->at(stack_.back(), backward);
    stack_.pop_back();
    scanned += next.size();
    for (const int edge : next) {
      const int other = costs_->other(edge, backward);
      if (seen_[other] == stamp_) continue;
      seen_[other] = stamp_;
      stack_.push_back(other);
      if (work[other] > 0) ancestors_.emplace_back(first[other], work[other]);
    }
  }
  steps_ += 2 * scanned + 40 * static_cast<std::int64_t>(ancestors_.size());
  return all_done(ancestors_);
}

bool TransferWindows::raise(const std::vector<double>& weights, bool backward) {
  const int n = instance().tasks();
  std::vector<double> work(n), first(n);
  for (int task = 0; task < n; ++task) {
    work[task] = kInfinity;
    for (int type = 0; type < types_; ++type)
      if (open(task, type))
        work[task] = std::min(work[task],
                              weights[type] * instance().time(task, type) / instance().units(type));
    first[task] = earliest(task, backward);
  }
  seen_.assign(n, 0);
  stamp_ = 0;
  std::vector<double>& bound = backward ? tail_ : head_;
  const std::vector<int>& order = instance().graph().order();
  bool any = false;
  Poll poll;
  for (int k = 0; k < n; ++k) {
    const int task = order[backward ? n - 1 - k : k];
    if (costs_->at(task, backward).size() == 0) continue;
    const std::int64_t at = steps_;
    const double found = raised(task, work, first, backward);
    poll.count(steps_ - at);
    for (int type = 0; type < types_; ++type) {
      any = any || (open(task, type) && found > bound[pair(task, type)] + 1e-9 * makespan_);
      bound[pair(task, type)] = std::max(bound[pair(task, type)], found);
    }
    first[task] = earliest(task, backward);
  }
  return any;
}

}  // namespace cosched::dags::proof
