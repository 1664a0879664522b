#include "cosched/dags/proof/transfer_windows.hpp"

#include <algorithm>

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

TransferWindows::TransferWindows(const TypeCosts& costs, double makespan)
    : OpenTypes(costs.instance(), makespan),
      costs_(&costs),
      types_(costs.types()),
      head_(costs.instance().times().size(), 0.0),
      tail_(head_),
      way_(static_cast<std::size_t>(costs.edges()) * costs.ways()),
      ways_apart_(costs.edges(), 0),
      stale_head_(costs.instance().tasks(), 1),
      stale_tail_(stale_head_),
      stale_types_(stale_head_),
      stale_edge_(costs.edges(), 1),
      touched_(stale_head_),
      load_heads_(costs.instance().graph()) {
  for (int edge = 0; edge < costs.edges(); ++edge)
    for (int way = 0; way < costs.ways(); ++way) {
      const bool there = costs.cost(edge, way) < kInfinity;
      way_[at(edge, way)] = there;
      ways_apart_[edge] += there && !costs.at_home(way);
    }
}

// A head (tail) of the task has risen: what follows (precedes) it may, too.
void TransferWindows::moved(int task, bool backward) {
  stale_types_[task] = touched_[task] = 1;
  std::vector<char>& stale = backward ? stale_tail_ : stale_head_;
  for (const int edge : costs_->at(task, !backward)) {
    stale[costs_->other(edge, !backward)] = 1;
    stale_edge_[edge] = 1;
  }
}

bool TransferWindows::close(int task, int type) {
  if (!close_type(task, type)) return false;
  changed_ = true;
  moved(task, false);
  moved(task, true);
  return true;
}

void TransferWindows::close_way(EdgeWay of) {
  char& open = way_[at(of.edge, of.way)];
  if (!open) return;
  open = 0;
  ways_apart_[of.edge] -= !costs_->at_home(of.way);
  const int i = costs_->from(of.edge), j = costs_->to(of.edge);
  stale_tail_[i] = stale_head_[j] = touched_[i] = touched_[j] = 1;
}

bool TransferWindows::lift(int task, int type, double bound, bool backward) {
  constexpr double kRise = 1e-9;  // less (relative to T) is not worth another round
  double& now = (backward ? tail_ : head_)[pair(task, type)];
  const bool rises = bound > now + kRise * makespan();
  if (rises) changed_ = true;
  if (bound > now) {
    now = bound;
    moved(task, backward);
  }
  return rises;
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
    at_home_.clear();
    for (int k = 0; k < stay; ++k)
      at_home_.push_back({arrivals_[k].at_home, arrivals_[k].work / units});
    steps_ += 20LL * stay;
    return all_done(at_home_);
  };
  const auto next = [&](int stay) { return stay < count ? arrivals_[stay].apart : path; };
  return std::max(path, least_longer(count, at_home, next));
}

// In the order of the graph, so that one pass settles it.
void TransferWindows::relax(bool backward) {
  const std::vector<int>& order = instance().graph().order();
  std::vector<double>& bound = backward ? tail_ : head_;
  std::vector<char>& stale = backward ? stale_tail_ : stale_head_;
  Poll poll;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int task = order[backward ? order.size() - 1 - k : k];
    if (!stale[task]) continue;
    stale[task] = 0;
    bool rises = false;
    const std::int64_t edges = costs_->at(task, backward).size();
    poll.count(20 * edges);
    steps_ += 4LL * types_ * (1 + types_ * edges);
    for (int type = 0; type < types_; ++type) {
      if (!open(task, type)) continue;
      double found = by_paths(task, type, backward);
      if (costs_->any() && found < kInfinity) found = by_join(task, type, found, backward);
      rises = rises || found > bound[pair(task, type)];
      bound[pair(task, type)] = found;
    }
    if (rises) moved(task, backward);
  }
  steps_ += static_cast<std::int64_t>(order.size());
}

// False: a task has no type left.
bool TransferWindows::close_pairs(double limit) {
  for (int task = 0; task < instance().tasks(); ++task) {
    if (!stale_types_[task]) continue;
    bool left = false;
    for (int type = 0; type < types_; ++type) {
      if (!open(task, type)) continue;
      if (head(task, type) + instance().time(task, type) + tail(task, type) > limit)
        close(task, type);
      else
        left = true;
    }
    if (!left) return false;
    stale_types_[task] = 0;
  }
  return true;
}

void TransferWindows::close_ways(double limit) {
  for (int edge = 0; edge < costs_->edges(); ++edge) {
    if (!stale_edge_[edge]) continue;
    stale_edge_[edge] = 0;
    steps_ += 3LL * costs_->ways();
    const int i = costs_->from(edge), j = costs_->to(edge);
    for (int way = 0; way < costs_->ways(); ++way) {
      if (!way_open(edge, way)) continue;
      const int q = costs_->first_type(way), r = costs_->second_type(way);
      const bool fits = open(i, q) && open(j, r) &&
                        head(i, q) + instance().time(i, q) + costs_->cost(edge, way) +
                                instance().time(j, r) + tail(j, r) <=
                            limit;
      if (fits) continue;
      close_way({edge, way});
      changed_ = true;
    }
  }
}

void TransferWindows::keep_only(int task, int type) {
  for (int other = 0; other < types_; ++other)
    if (other != type) close(task, other);
}

void TransferWindows::keep_only_way(EdgeWay of) {
  for (int other = 0; other < costs_->ways(); ++other)
    if (other != of.way) close_way({of.edge, other});
}

bool TransferWindows::prune(double slack) {
  const double limit = makespan() * (1 + slack);
  for (changed_ = true; changed_;) {
    check_interrupt();
    relax(false);
    relax(true);
    changed_ = false;
    if (!close_pairs(limit)) return false;
    close_ways(limit);
  }
  return true;
}

double TransferWindows::earliest(int task, bool backward) const {
  double least = kInfinity;
  for (int type = 0; type < types_; ++type)
    if (open(task, type)) least = std::min(least, side(backward)[pair(task, type)]);
  return least;
}

bool TransferWindows::raise(const std::vector<double>& weights, bool backward) {
  const int n = instance().tasks();
  const std::vector<double> work = least_work(*this, weights);
  std::vector<double> first(n);
  for (int task = 0; task < n; ++task) first[task] = earliest(task, backward);
  std::vector<double>& bound = backward ? tail_ : head_;
  const std::vector<int>& order = instance().graph().order();
  bool any = false;
  Poll poll;
  for (int k = 0; k < n; ++k) {
    const int task = order[backward ? n - 1 - k : k];
    if (costs_->at(task, backward).size() == 0) continue;
    const std::int64_t before = load_heads_.steps();
    const double found = load_heads_.of(task, work, first, backward);
    const std::int64_t taken = load_heads_.steps() - before;
    count(taken);
    poll.count(taken);
    bool rises = false;
    for (int type = 0; type < types_; ++type) {
      double& now = bound[pair(task, type)];
      any = any || (open(task, type) && found > now + 1e-9 * makespan());
      rises = rises || found > now;
      now = std::max(now, found);
    }
    if (rises) moved(task, backward);
    first[task] = earliest(task, backward);
  }
  return any;
}

}  // namespace cosched::dags::proof
