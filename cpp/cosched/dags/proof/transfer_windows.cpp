#include "cosched/dags/proof/transfer_windows.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::dags::proof {
namespace {

// Poll steps (a nanosecond each) of an edge whose placements are looked at.
constexpr std::int64_t kPollStepsPerEdge = 20;

// min over k in 0..count of max(rising(k), falling(k)), where the first never falls and the second
// never rises: by bisection.  O(log count) calls of each.
template <class Rising, class Falling>
double least_maximum(int count, const Rising& rising, const Falling& falling) {
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
      placement_cost_(static_cast<std::size_t>(costs.edges()) * costs.placements()),
      open_cross_placements_(costs.edges(), 0),
      limit_(makespan),
      neighbour_end_(types_),
      path_head_(types_),
      time_to_end_(types_),
      load_heads_(costs.instance().graph()) {
  mark_all_stale();
  for (int edge = 0; edge < costs.edges(); ++edge)
    for (int placement = 0; placement < costs.placements(); ++placement) {
      const bool can_run = is_open(costs.from(edge), costs.first_type(placement)) &&
                           is_open(costs.to(edge), costs.second_type(placement));
      const double cost = can_run ? costs.cost(edge, placement) : kInfinity;
      placement_cost_[cost_index(edge, placement)] = cost;
      if (cost < kInfinity && !costs.is_same_memory(placement)) ++open_cross_placements_[edge];
    }
}

TransferWindows::TransferWindows(const TransferWindows& longer, double makespan)
    : TransferWindows(longer) {
  set_makespan(makespan);
  mark_all_stale();
}

void TransferWindows::mark_all_stale() {
  const std::vector<char> tasks(instance().tasks(), 1);
  stale_flags_ = {tasks, tasks, tasks, std::vector<char>(costs_->edges(), 1), tasks};
}

void TransferWindows::set_checkpoint() {
  is_recording_ = true;
  checkpoint_flags_ = stale_flags_;
  checkpoint_cross_placements_ = open_cross_placements_;
}

void TransferWindows::restore_checkpoint() {
  for (auto change = trail_.rbegin(); change != trail_.rend(); ++change)
    if (change->kind == BoundKind::open_type)
      mark_open(static_cast<int>(change->index) / types_, static_cast<int>(change->index) % types_);
    else
      values(change->kind)[change->index] = change->old_value;
  trail_.clear();
  std::swap(stale_flags_, checkpoint_flags_);
  std::swap(open_cross_placements_, checkpoint_cross_placements_);
  is_recording_ = false;
}

std::vector<double>& TransferWindows::values(BoundKind kind) {
  if (kind == BoundKind::head) return head_;
  return kind == BoundKind::tail ? tail_ : placement_cost_;
}

void TransferWindows::set_value(BoundKind kind, std::size_t index, double value) {
  double& current_value = values(kind)[index];
  if (is_recording_) trail_.push_back({kind, index, current_value});
  current_value = value;
}

// A head (tail) of the task has risen, so those of its successors (predecessors) may rise, too.
void TransferWindows::mark_stale_neighbours(int task, bool backward) {
  stale_flags_.types[task] = 1;
  stale_flags_.changed[task] = 1;
  std::vector<char>& stale_bounds = backward ? stale_flags_.tail : stale_flags_.head;
  for (const int edge : costs_->preceding_edges(task, !backward)) {
    stale_bounds[costs_->preceding_task(edge, !backward)] = 1;
    stale_flags_.edge[edge] = 1;
  }
}

bool TransferWindows::close_type(int task, int type) {
  if (!mark_closed(task, type)) return false;
  if (is_recording_) trail_.push_back({BoundKind::open_type, pair_index(task, type), 0});
  needs_another_round_ = true;
  mark_stale_neighbours(task, false);
  mark_stale_neighbours(task, true);
  for (const bool backward : {false, true})
    for (const int edge : costs_->preceding_edges(task, backward))
      close_placements_of(edge, type, !backward);
  return true;
}

// Closes the placements of an edge that have its first task (its second task if `is_second`) on a
// type.
void TransferWindows::close_placements_of(int edge, int type, bool is_second) {
  int closed_count = 0;
  const auto close_if_open = [&](std::size_t index) {
    if (placement_cost_[index] == kInfinity) return;
    set_value(BoundKind::placement_cost, index, kInfinity);
    ++closed_count;
  };
  for (int other = 0; other < types_; ++other)
    close_if_open(is_second ? cost_index(edge, other, type) : cost_index(edge, type, other));
  open_cross_placements_[edge] -= closed_count;
  close_if_open(cost_index(edge, types_, type));
  if (closed_count > 0) mark_stale_ends(edge);
  steps_ += types_ + 8 * closed_count;
}

// A placement of the edge has closed: the head of its second task and the tail of its first may
// rise.
void TransferWindows::mark_stale_ends(int edge) {
  const int i = costs_->from(edge), j = costs_->to(edge);
  stale_flags_.tail[i] = 1;
  stale_flags_.head[j] = 1;
  stale_flags_.changed[i] = 1;
  stale_flags_.changed[j] = 1;
}

void TransferWindows::close_placement(EdgePlacement target) {
  if (!is_placement_open(target.edge, target.placement)) return;
  steps_ += 8;
  set_value(BoundKind::placement_cost, cost_index(target.edge, target.placement), kInfinity);
  if (!costs_->is_same_memory(target.placement)) --open_cross_placements_[target.edge];
  mark_stale_ends(target.edge);
}

bool TransferWindows::tighten(int task, int type, double bound, bool backward) {
  const double bound_before = bounds(backward)[pair_index(task, type)];
  const bool rises = bound > bound_before + kLeastRise * makespan();
  if (rises) needs_another_round_ = true;
  if (bound > bound_before) {
    set_value(backward ? BoundKind::tail : BoundKind::head, pair_index(task, type), bound);
    mark_stale_neighbours(task, backward);
  }
  return rises;
}

// Fills `types` with the open types of a task.
void TransferWindows::list_open_types(int task, std::vector<int>& types) const {
  types.clear();
  const char* row = open_flags(task);
  for (int type = 0; type < types_; ++type)
    if (row[type]) types.push_back(type);
}

// Computes for each open type of the task
//   path_head_    its head (tail) by paths over every preceding edge; infinite where all placements
//                 of an edge with the task on this type are closed;
//   path_bounds_  what each preceding edge says of it, for the join argument.
// O(Q^2) an edge.
void TransferWindows::propagate_paths(int task, bool backward) {
  const std::vector<double>& bound = bounds(backward);
  list_open_types(task, task_types_);
  for (const int type : task_types_) path_head_[type] = bound[pair_index(task, type)];
  const TypeCosts::Edges edges = costs_->preceding_edges(task, backward);
  path_bounds_.resize(static_cast<std::size_t>(edges.size()) * types_);
  PredecessorBound* path_bound = path_bounds_.data();
  // Strides of the cost matrix (first type, second type) along the types of the task and of its
  // neighbour, which is the first end of an edge unless `backward`.
  const int own_stride = backward ? types_ : 1, neighbour_stride = backward ? 1 : types_;
  for (const int edge : edges) {
    const int neighbour = costs_->preceding_task(edge, backward);
    list_open_types(neighbour, neighbour_types_);
    const double* neighbour_bound = bound.data() + pair_index(neighbour, 0);
    const double* neighbour_time = instance().row(neighbour);
    for (const int neighbour_type : neighbour_types_)
      neighbour_end_[neighbour_type] =
          neighbour_bound[neighbour_type] + neighbour_time[neighbour_type];
    const double* cost = placement_cost_.data() + cost_index(edge, 0, 0);
    const double* same_memory_cost = placement_cost_.data() + cost_index(edge, types_, 0);
    for (const int type : task_types_) {
      double least_cross = kInfinity;
      for (const int neighbour_type : neighbour_types_)
        least_cross =
            std::min(least_cross, neighbour_end_[neighbour_type] +
                                      cost[type * own_stride + neighbour_type * neighbour_stride]);
      const bool can_share_memory =
          same_memory_cost[type] < kInfinity;  // then the neighbour's type is open, too
      const double least_end =
          can_share_memory ? std::min(least_cross, neighbour_end_[type] + same_memory_cost[type])
                           : least_cross;
      path_head_[type] = std::max(path_head_[type], least_end);
      path_bound[type] = {least_cross, can_share_memory ? neighbour_bound[type] : kInfinity,
                          can_share_memory ? neighbour_time[type] : 0};
    }
    steps_ +=
        20 + 2 * static_cast<std::int64_t>(task_types_.size() * (neighbour_types_.size() + 3));
    path_bound += types_;
  }
}

// The head (tail) of a type by the join argument, at least `path`, the one by paths.  Requires that
// propagate_paths() has filled path_bounds_ for `edges` edges.
double TransferWindows::join_head(int type, double path, std::size_t edges) {
  const int units = costs_->units_per_memory(type);
  if (units == 0 || edges < 2) return path;
  join_bounds_.clear();
  double last_head = 0, work_sum = 0;
  for (std::size_t k = 0; k < edges; ++k) {
    const PredecessorBound& bound = path_bounds_[k * types_ + type];
    if (bound.cross_memory <= path) continue;
    join_bounds_.push_back(bound);
    last_head = std::max(last_head, bound.same_memory);
    work_sum += bound.work / units;
  }
  // One predecessor alone can run in the memory of the task, and so can all where their work fits
  // between the last of their heads and the head by paths: then the join says nothing more.
  if (join_bounds_.size() < 2 || last_head + work_sum <= path) return path;
  // The first `staying_count` predecessors by falling cross-memory bounds run in the memory of the
  // task: the more they are, the later they end, and the earlier the data of the others arrives.
  std::sort(join_bounds_.begin(), join_bounds_.end(),
            [](const PredecessorBound& a, const PredecessorBound& b) {
              return a.cross_memory != b.cross_memory ? a.cross_memory > b.cross_memory
                                                      : a.same_memory < b.same_memory;
            });
  const int count = static_cast<int>(join_bounds_.size());
  const auto end_of_staying = [&](int staying_count) {
    same_memory_loads_.clear();
    for (int k = 0; k < staying_count; ++k)
      same_memory_loads_.push_back({join_bounds_[k].same_memory, join_bounds_[k].work / units});
    steps_ += 10LL * staying_count;
    return completion_time(same_memory_loads_);
  };
  const auto arrival_of_others = [&](int staying_count) {
    return staying_count < count ? join_bounds_[staying_count].cross_memory : path;
  };
  return std::max(path, least_maximum(count, end_of_staying, arrival_of_others));
}

// Tightens the heads (tails) of one task by paths and joins, and closes its types that no longer
// fit.  Returns false where no type is left open.
bool TransferWindows::tighten_by_paths(int task, bool backward) {
  propagate_paths(task, backward);
  const auto edges = static_cast<std::size_t>(costs_->preceding_edges(task, backward).size());
  steps_ += 20 + 10 * types_;
  const BoundKind bound_kind = backward ? BoundKind::tail : BoundKind::head;
  bool is_tightened = false, has_open_type = false;
  for (int type = 0; type < types_; ++type) {
    if (!is_open(task, type)) continue;
    double new_bound = path_head_[type];
    if (costs_->has_costs() && new_bound < kInfinity) new_bound = join_head(type, new_bound, edges);
    if (new_bound > bounds(backward)[pair_index(task, type)]) {
      is_tightened = true;
      set_value(bound_kind, pair_index(task, type), new_bound);
      if (!can_fit(task, type)) {
        close_type(task, type);
        continue;
      }
    }
    has_open_type = true;
  }
  if (is_tightened) mark_stale_neighbours(task, backward);
  return has_open_type;
}

// Tightens all stale tasks in topological order (reversed for tails), so that one pass is enough.
// Returns false where a task has no type left.
bool TransferWindows::tighten_by_paths(bool backward) {
  const std::vector<int>& order = instance().graph().order();
  std::vector<char>& is_stale = backward ? stale_flags_.tail : stale_flags_.head;
  Poll poll;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int task = order[backward ? order.size() - 1 - k : k];
    if (!is_stale[task]) continue;
    is_stale[task] = 0;
    poll.count(kPollStepsPerEdge * costs_->preceding_edges(task, backward).size());
    if (!tighten_by_paths(task, backward)) return false;
  }
  steps_ += 2 * static_cast<std::int64_t>(order.size());
  return true;
}

// Closes the types of stale tasks that do not fit.  Returns false where a task has no type left.
bool TransferWindows::close_unfit_types() {
  for (int task = 0; task < instance().tasks(); ++task) {
    if (!stale_flags_.types[task]) continue;
    bool has_open_type = false;
    for (int type = 0; type < types_; ++type) {
      if (!is_open(task, type)) continue;
      if (can_fit(task, type))
        has_open_type = true;
      else
        close_type(task, type);
    }
    if (!has_open_type) return false;
    stale_flags_.types[task] = 0;
  }
  return true;
}

// Closes the placements of stale edges that do not fit.
void TransferWindows::close_unfit_placements() {
  for (int edge = 0; edge < costs_->edges(); ++edge) {
    if (!stale_flags_.edge[edge]) continue;
    stale_flags_.edge[edge] = 0;
    const int i = costs_->from(edge), j = costs_->to(edge);
    list_open_types(i, task_types_);
    list_open_types(j, neighbour_types_);
    for (const int r : neighbour_types_) time_to_end_[r] = instance().time(j, r) + tail(j, r);
    const double* cost = placement_cost_.data() + cost_index(edge, 0, 0);
    const auto close_if_unfit = [&](int placement, double end, double open_cost,
                                    double time_to_end) {
      if (open_cost == kInfinity || end + open_cost + time_to_end <= limit_) return;
      close_placement({edge, placement});
      needs_another_round_ = true;
    };
    for (const int q : task_types_) {
      const double end = head(i, q) + instance().time(i, q);
      for (const int r : neighbour_types_)
        if (q != r)
          close_if_unfit(costs_->placement(q, r), end, cost[q * types_ + r], time_to_end_[r]);
      if (!is_open(j, q)) continue;
      const double diagonal_cost = cost[q * types_ + q], last_row_cost = cost[types_ * types_ + q];
      // The layout of cost_index().
      const bool is_cross_memory_on_diagonal = costs_->units_per_memory(q) > 0;
      const double same_memory_cost = is_cross_memory_on_diagonal ? last_row_cost : diagonal_cost;
      const double cross_memory_cost = is_cross_memory_on_diagonal ? diagonal_cost : last_row_cost;
      close_if_unfit(costs_->placement(q, q), end, same_memory_cost, time_to_end_[q]);
      close_if_unfit(costs_->cross_memory_placement(q), end, cross_memory_cost, time_to_end_[q]);
    }
    steps_ +=
        20 + 2 * static_cast<std::int64_t>(task_types_.size() * (neighbour_types_.size() + 4));
  }
}

double TransferWindows::slack(EdgePlacement target) const {
  const int i = costs_->from(target.edge), q = costs_->first_type(target.placement);
  const int j = costs_->to(target.edge), r = costs_->second_type(target.placement);
  return makespan() - head(i, q) - instance().time(i, q) -
         placement_cost_[cost_index(target.edge, target.placement)] - instance().time(j, r) -
         tail(j, r);
}

void TransferWindows::keep_only_type(int task, int type) {
  for (int other = 0; other < types_; ++other)
    if (other != type) close_type(task, other);
}

void TransferWindows::keep_only_placement(EdgePlacement target) {
  for (int other = 0; other < costs_->placements(); ++other)
    if (other != target.placement) close_placement({target.edge, other});
}

bool TransferWindows::prune(double tolerance) {
  limit_ = makespan() * (1 + tolerance);
  do {
    check_interrupt();
    needs_another_round_ = false;
    const bool have_types = tighten_by_paths(false) && tighten_by_paths(true);
    if (!have_types || !close_unfit_types()) return false;
    close_unfit_placements();
  } while (needs_another_round_);
  return true;
}

// The least head (tail) of a task over its open types.
double TransferWindows::earliest_bound(int task, bool backward) const {
  double least = kInfinity;
  for (int type = 0; type < types_; ++type)
    if (is_open(task, type)) least = std::min(least, bounds(backward)[pair_index(task, type)]);
  return least;
}

bool TransferWindows::tighten_by_load(const std::vector<double>& weights, bool backward) {
  const int n = instance().tasks();
  const std::vector<double> work = least_work(*this, weights);
  std::vector<double> earliest_bounds(n);
  for (int task = 0; task < n; ++task) earliest_bounds[task] = earliest_bound(task, backward);
  const BoundKind bound_kind = backward ? BoundKind::tail : BoundKind::head;
  const std::vector<int>& order = instance().graph().order();
  bool has_tightened = false;
  Poll poll;
  for (int k = 0; k < n; ++k) {
    const int task = order[backward ? n - 1 - k : k];
    if (costs_->preceding_edges(task, backward).size() == 0) continue;
    const std::int64_t steps_before = load_heads_.steps();
    const double load_head = load_heads_.load_head(task, work, earliest_bounds, backward);
    const std::int64_t steps = load_heads_.steps() - steps_before;
    add_steps(steps);
    poll.count(steps);
    bool is_raised = false;
    for (int type = 0; type < types_; ++type) {
      const double bound_before = bounds(backward)[pair_index(task, type)];
      if (load_head <= bound_before) continue;
      has_tightened = has_tightened ||
                      (is_open(task, type) && load_head > bound_before + kLeastRise * makespan());
      is_raised = true;
      set_value(bound_kind, pair_index(task, type), load_head);
    }
    if (is_raised) mark_stale_neighbours(task, backward);
    earliest_bounds[task] = earliest_bound(task, backward);
  }
  return has_tightened;
}

}  // namespace cosched::dags::proof
