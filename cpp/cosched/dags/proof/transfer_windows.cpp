#include "cosched/dags/proof/transfer_windows.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::dags::proof {
namespace {

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
      way_cost_(static_cast<std::size_t>(costs.edges()) * costs.ways()),
      ways_apart_(costs.edges(), 0),
      limit_(makespan),
      ends_(types_),
      path_(types_),
      load_heads_(costs.instance().graph()) {
  look_at_all();
  for (int edge = 0; edge < costs.edges(); ++edge)
    for (int way = 0; way < costs.ways(); ++way) {
      const bool can_run = open(costs.from(edge), costs.first_type(way)) &&
                           open(costs.to(edge), costs.second_type(way));
      const double cost = can_run ? costs.cost(edge, way) : kInfinity;
      way_cost_[slot(edge, way)] = cost;
      ways_apart_[edge] += cost < kInfinity && !costs.at_home(way);
    }
}

TransferWindows::TransferWindows(const TransferWindows& longer, double makespan)
    : TransferWindows(longer) {
  change_makespan(makespan);
  look_at_all();
}

void TransferWindows::look_at_all() {
  const std::vector<char> tasks(instance().tasks(), 1);
  stale_ = {tasks, tasks, tasks, std::vector<char>(costs_->edges(), 1), tasks};
}

void TransferWindows::mark() {
  marking_ = true;
  marked_ = stale_;
  marked_ways_apart_ = ways_apart_;
}

void TransferWindows::undo() {
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change)
    if (change->trail == Trail::open_type)
      open_type(static_cast<int>(change->at) / types_, static_cast<int>(change->at) % types_);
    else
      numbers(change->trail)[change->at] = change->old;
  changes_.clear();
  std::swap(stale_, marked_);
  std::swap(ways_apart_, marked_ways_apart_);
  marking_ = false;
}

std::vector<double>& TransferWindows::numbers(Trail trail) {
  if (trail == Trail::head) return head_;
  return trail == Trail::tail ? tail_ : way_cost_;
}

void TransferWindows::set(Trail trail, std::size_t at, double value) {
  double& now = numbers(trail)[at];
  if (marking_) changes_.push_back({trail, at, now});
  now = value;
}

// A head (tail) of the task has risen: what follows (precedes) it may, too.
void TransferWindows::moved(int task, bool backward) {
  stale_.types[task] = stale_.touched[task] = 1;
  std::vector<char>& stale = backward ? stale_.tail : stale_.head;
  for (const int edge : costs_->at(task, !backward)) {
    stale[costs_->other(edge, !backward)] = 1;
    stale_.edge[edge] = 1;
  }
}

bool TransferWindows::close(int task, int type) {
  if (!close_type(task, type)) return false;
  if (marking_) changes_.push_back({Trail::open_type, pair(task, type), 0});
  changed_ = true;
  moved(task, false);
  moved(task, true);
  for (const bool backward : {false, true})
    for (const int edge : costs_->at(task, backward)) close_ways_of(edge, type, !backward);
  return true;
}

// The ways of an edge on which its first task (second, if `second`) is on a type.
void TransferWindows::close_ways_of(int edge, int type, bool second) {
  const auto close_if_open = [&](std::size_t at) {
    if (way_cost_[at] == kInfinity) return 0;
    set(Trail::way_cost, at, kInfinity);
    return 1;
  };
  int closed = 0;  // between memories or types
  for (int other = 0; other < types_; ++other)
    closed += close_if_open(second ? slot(edge, other, type) : slot(edge, type, other));
  ways_apart_[edge] -= closed;
  closed += close_if_open(slot(edge, types_, type));
  if (closed > 0) way_has_closed(edge);
  steps_ += types_ + 8 * closed;
}

// What follows, and what precedes, has to be looked at again.
void TransferWindows::way_has_closed(int edge) {
  const int i = costs_->from(edge), j = costs_->to(edge);
  stale_.tail[i] = stale_.head[j] = stale_.touched[i] = stale_.touched[j] = 1;
}

void TransferWindows::close_way(EdgeWay of) {
  if (!way_open(of.edge, of.way)) return;
  steps_ += 8;
  set(Trail::way_cost, slot(of.edge, of.way), kInfinity);
  ways_apart_[of.edge] -= !costs_->at_home(of.way);
  way_has_closed(of.edge);
}

bool TransferWindows::lift(int task, int type, double bound, bool backward) {
  constexpr double kRise = 1e-9;  // less (relative to T) is not worth another round
  const double now = side(backward)[pair(task, type)];
  const bool rises = bound > now + kRise * makespan();
  if (rises) changed_ = true;
  if (bound > now) {
    set(backward ? Trail::tail : Trail::head, pair(task, type), bound);
    moved(task, backward);
  }
  return rises;
}

// The open types of a task.
void TransferWindows::list_open(int task, std::vector<int>& types) const {
  types.clear();
  const char* row = open_row(task);
  for (int type = 0; type < types_; ++type)
    if (row[type]) types.push_back(type);
}

// Fills path_, the head (tail) of each open type by the paths over each edge, infinite where one
// has no pair left, and looked_back_.  O(Q^2) an edge.
void TransferWindows::look_back(int task, bool backward) {
  const std::vector<double>& bound = side(backward);
  list_open(task, own_types_);
  for (const int type : own_types_) path_[type] = bound[pair(task, type)];
  const TypeCosts::Edges edges = costs_->at(task, backward);
  looked_back_.resize(static_cast<std::size_t>(edges.size()) * types_);
  Arrival* back = looked_back_.data();
  const int along = backward ? types_ : 1, across = backward ? 1 : types_;
  for (const int edge : edges) {
    const int other = costs_->other(edge, backward);
    list_open(other, its_types_);
    const double* its_bound = bound.data() + pair(other, 0);
    const double* its_time = instance().row(other);
    for (const int its : its_types_) ends_[its] = its_bound[its] + its_time[its];
    const double* cost = way_cost_.data() + slot(edge, 0, 0);
    const double* home = way_cost_.data() + slot(edge, types_, 0);
    for (const int type : own_types_) {
      double least = kInfinity;
      for (const int its : its_types_)
        least = std::min(least, ends_[its] + cost[type * along + its * across]);
      const bool stays = home[type] < kInfinity;  // so the other's type is open, too
      const double all = stays ? std::min(least, ends_[type] + home[type]) : least;
      path_[type] = std::max(path_[type], all);
      back[type] = {least, stays ? its_bound[type] : kInfinity, stays ? its_time[type] : 0};
    }
    steps_ += 20 + 2 * static_cast<std::int64_t>(own_types_.size() * (its_types_.size() + 3));
    back += types_;
  }
}

// Head (tail) by the join argument, at least `path`; after look_back().
double TransferWindows::by_join(int type, double path, std::size_t edges) {
  const int units = costs_->together(type);
  if (units == 0 || edges < 2) return path;
  arrivals_.clear();
  double last = 0, sum = 0;
  for (std::size_t k = 0; k < edges; ++k) {
    const Arrival& arrival = looked_back_[k * types_ + type];
    if (!(arrival.apart > path)) continue;
    arrivals_.push_back(arrival);
    last = std::max(last, arrival.at_home);
    sum += arrival.work / units;
  }
  // Alone, or all of them at home by the end of the path: nothing keeps them apart.
  if (arrivals_.size() < 2 || last + sum <= path) return path;
  // The first k stay at home; what they need rises with k, and what the rest waits for falls.
  std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
    return a.apart != b.apart ? a.apart > b.apart : a.at_home < b.at_home;
  });
  const int count = static_cast<int>(arrivals_.size());
  const auto at_home = [&](int stay) {
    at_home_.clear();
    for (int k = 0; k < stay; ++k)
      at_home_.push_back({arrivals_[k].at_home, arrivals_[k].work / units});
    steps_ += 10LL * stay;
    return all_done(at_home_);
  };
  const auto next = [&](int stay) { return stay < count ? arrivals_[stay].apart : path; };
  return std::max(path, least_longer(count, at_home, next));
}

// False: the task has no type left.
bool TransferWindows::relax(int task, bool backward) {
  look_back(task, backward);
  const auto edges = static_cast<std::size_t>(costs_->at(task, backward).size());
  steps_ += 20 + 10 * types_;
  const Trail bound = backward ? Trail::tail : Trail::head;
  bool rises = false, left = false;
  for (int type = 0; type < types_; ++type) {
    if (!open(task, type)) continue;
    double found = path_[type];
    if (costs_->any() && found < kInfinity) found = by_join(type, found, edges);
    if (found > side(backward)[pair(task, type)]) {
      rises = true;
      set(bound, pair(task, type), found);
      if (!fits(task, type)) {
        close(task, type);
        continue;
      }
    }
    left = true;
  }
  if (rises) moved(task, backward);
  return left;
}

// In the order of the graph, so that one pass settles it.  False: a task has no type left.
bool TransferWindows::relax(bool backward) {
  const std::vector<int>& order = instance().graph().order();
  std::vector<char>& stale = backward ? stale_.tail : stale_.head;
  Poll poll;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int task = order[backward ? order.size() - 1 - k : k];
    if (!stale[task]) continue;
    stale[task] = 0;
    poll.count(std::int64_t{20} * costs_->at(task, backward).size());
    if (!relax(task, backward)) return false;
  }
  steps_ += 2 * static_cast<std::int64_t>(order.size());
  return true;
}

// False: a task has no type left.
bool TransferWindows::close_pairs() {
  for (int task = 0; task < instance().tasks(); ++task) {
    if (!stale_.types[task]) continue;
    bool left = false;
    for (int type = 0; type < types_; ++type) {
      if (!open(task, type)) continue;
      if (fits(task, type))
        left = true;
      else
        close(task, type);
    }
    if (!left) return false;
    stale_.types[task] = 0;
  }
  return true;
}

void TransferWindows::close_ways() {
  for (int edge = 0; edge < costs_->edges(); ++edge) {
    if (!stale_.edge[edge]) continue;
    stale_.edge[edge] = 0;
    const int i = costs_->from(edge), j = costs_->to(edge);
    list_open(i, own_types_);
    list_open(j, its_types_);
    for (const int r : its_types_) path_[r] = instance().time(j, r) + tail(j, r);
    const double* cost = way_cost_.data() + slot(edge, 0, 0);
    const auto look = [&](int way, double end, double way_cost, double rest) {
      if (way_cost == kInfinity || end + way_cost + rest <= limit_) return;
      close_way({edge, way});
      changed_ = true;
    };
    for (const int q : own_types_) {
      const double end = head(i, q) + instance().time(i, q);
      for (const int r : its_types_)
        if (q != r) look(costs_->way(q, r), end, cost[q * types_ + r], path_[r]);
      if (!open(j, q)) continue;
      double near = cost[q * types_ + q], far = cost[types_ * types_ + q];
      if (costs_->together(q) > 0) std::swap(near, far);  // see slot()
      look(costs_->way(q, q), end, near, path_[q]);
      look(costs_->far_way(q), end, far, path_[q]);
    }
    steps_ += 20 + 2 * static_cast<std::int64_t>(own_types_.size() * (its_types_.size() + 4));
  }
}

double TransferWindows::spare(EdgeWay of) const {
  const int i = costs_->from(of.edge), q = costs_->first_type(of.way);
  const int j = costs_->to(of.edge), r = costs_->second_type(of.way);
  return makespan() - head(i, q) - instance().time(i, q) - way_cost_[slot(of.edge, of.way)] -
         instance().time(j, r) - tail(j, r);
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
  limit_ = makespan() * (1 + slack);
  for (changed_ = true; changed_;) {
    check_interrupt();
    changed_ = false;
    if (!relax(false) || !relax(true)) return false;
    if (!close_pairs()) return false;
    close_ways();
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
  const Trail bound = backward ? Trail::tail : Trail::head;
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
      const double now = side(backward)[pair(task, type)];
      if (found <= now) continue;
      any = any || (open(task, type) && found > now + 1e-9 * makespan());
      rises = true;
      set(bound, pair(task, type), found);
    }
    if (rises) moved(task, backward);
    first[task] = earliest(task, backward);
  }
  return any;
}

}  // namespace cosched::dags::proof
