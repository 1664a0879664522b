#include "cosched/dags/check/transfer_open.hpp"

namespace cosched::dags::check {

TransferOpen::TransferOpen(const Instance& instance, double makespan)
    : instance_(instance),
      types_(instance.types()),
      makespan_(makespan),
      head_(instance.tasks(), std::vector<double>(types_, 0.0)),
      tail_(head_),
      is_open_(instance.tasks(), std::vector<char>(types_)) {
  for (int task = 0; task < instance.tasks(); ++task) {
    for (int type = 0; type < types_; ++type) is_open_[task][type] = instance.can_run(task, type);
    for (const int next : instance.graph().successors(task))
      edges_.push_back({task, next, static_cast<int>(edges_.size())});
  }
  placement_open_.assign(edges_.size() * types_ * types_, 1);
  cross_memory_open_.assign(edges_.size() * types_, 0);
  before_.resize(instance.tasks());
  after_.resize(instance.tasks());
  for (const NumberedEdge& edge : edges_) {
    before_[edge.to].push_back(edge);
    after_[edge.from].push_back(edge);
  }
  if (!instance.transfers().has_data()) return;
  count_units_per_memory();
  for (const NumberedEdge& edge : edges_)
    for (int type = 0; type < types_; ++type)
      cross_memory_open_[edge.edge * 1UL * types_ + type] =
          units_per_memory_[type] > 0 && has_several_memories_[type];
}

bool TransferOpen::can_be_far(const NumberedEdge& edge, int q, int r) const {
  return q == r && is_cross_memory_open(edge.edge, r) && is_open_[edge.from][r] &&
         is_open_[edge.to][r];
}

double TransferOpen::near_cost(const NumberedEdge& edge, int q, int r) const {
  const Transfers& transfers = instance_.transfers();
  return transfers.has_data() ? transfers.least_cost(edge.edge, q, r) : 0;
}

void TransferOpen::close(const proof::TransferGuess& closed_choice) {
  const auto& [of_edge, item, choice] = closed_choice;
  if (!of_edge)
    is_open_[item][choice] = 0;
  else if (choice < types_ * types_)
    placement_open_[item * 1UL * types_ * types_ + choice] = 0;
  else
    cross_memory_open_[item * 1UL * types_ + choice - types_ * types_] = 0;
}

void TransferOpen::keep_only(const proof::TransferGuess& kept_choice) {
  const int choices = kept_choice.is_edge ? types_ * (types_ + 1) : types_;
  for (int other = 0; other < choices; ++other)
    if (other != kept_choice.choice) close({kept_choice.is_edge, kept_choice.item, other});
}

bool TransferOpen::tighten(int task, int type, double bound, bool backward) {
  double& current_bound = (backward ? tail_ : head_)[task][type];
  const bool is_tightened = bound > current_bound + proof::kProofSlack * makespan_;
  current_bound = std::max(current_bound, bound);
  return is_tightened;
}

bool TransferOpen::prune() {
  for (bool needs_another_round = true; needs_another_round;) {
    check_interrupt();
    needs_another_round = false;
    propagate_bounds();
    if (!close_unfit_types(needs_another_round)) return false;
    for (const NumberedEdge& edge : edges_)
      needs_another_round = close_unfit_placements(edge) || needs_another_round;
  }
  return true;
}

void TransferOpen::tighten_by_load(const std::vector<double>& weights) {
  const int n = instance_.tasks();
  LeastOfTypes least{std::vector<double>(n, kInfinity), std::vector<double>(n, kInfinity), {}};
  for (int task = 0; task < n; ++task)
    for (int type = 0; type < types_; ++type)
      if (is_open_[task][type]) {
        const double p = time(task, type);
        least.time[task] = std::min(least.time[task], p);
        least.work[task] = std::min(least.work[task], weights[type] * p / instance_.units(type));
      }
  for (const bool backward : {false, true}) {
    least.head.clear();
    for (int task = 0; task < n; ++task) least.head.push_back(earliest(task, backward));
    std::vector<int> order = instance_.graph().order();
    if (backward) std::reverse(order.begin(), order.end());
    for (const int task : order) {
      const double bound = bound_by_load(task, least, backward);
      for (double& head : (backward ? tail_ : head_)[task]) head = std::max(head, bound);
      least.head[task] = earliest(task, backward);
    }
  }
}

// Units of each type that may share a memory, 0: with other types too.
void TransferOpen::count_units_per_memory() {
  units_per_memory_.assign(types_, 0);
  has_several_memories_.assign(types_, 0);
  const Memories& memories = instance_.transfers().links().memories;
  if (memories.kind != Memories::MemoryKind::listed) {
    for (int type = 0; type < types_; ++type) {
      const bool is_host = type == 0 && memories.kind == Memories::MemoryKind::host;
      units_per_memory_[type] = is_host ? instance_.units(type) : 1;
      has_several_memories_[type] = !is_host && instance_.units(type) > 1;
    }
    return;
  }
  std::map<std::pair<int, int>, int> count;  // of (type, memory)
  std::map<int, int> of_memory;
  std::size_t unit = 0;
  for (int type = 0; type < types_; ++type)
    for (int k = 0; k < instance_.units(type); ++k, ++unit) {
      ++count[{type, memories.memory_of_unit[unit]}];
      ++of_memory[memories.memory_of_unit[unit]];
    }
  std::vector<char> shares_with_others(types_, 0);
  for (const auto& [key, units] : count) {
    const auto& [type, memory] = key;
    if (of_memory[memory] > units) shares_with_others[type] = 1;
    if (units < instance_.units(type)) has_several_memories_[type] = 1;
    units_per_memory_[type] = std::max(units_per_memory_[type], units);
  }
  for (int type = 0; type < types_; ++type)
    if (shares_with_others[type]) units_per_memory_[type] = 0;
}

TransferOpen::JoinArrival TransferOpen::arrival_over(const NumberedEdge& edge, int type,
                                                     bool backward) const {
  const auto& bounds = backward ? tail_ : head_;
  const int neighbour = backward ? edge.to : edge.from;
  JoinArrival arrival{kInfinity, kInfinity, {kInfinity, 0}};
  for (int neighbour_type = 0; neighbour_type < types_; ++neighbour_type) {
    const int q = backward ? type : neighbour_type, r = backward ? neighbour_type : type;
    if (!can_be(edge, q, r)) continue;
    const double end = bounds[neighbour][neighbour_type] + time(neighbour, neighbour_type);
    arrival.anywhere = std::min(arrival.anywhere, end + cost(edge, q, r));
    if (!instance_.transfers().has_data()) continue;
    if (q != r || can_be_far(edge, q, r))
      arrival.cross_memory = std::min(arrival.cross_memory, end + far_cost(edge, q, r));
    if (q == r && can_be_near(edge, q, r))
      arrival.same_memory = {bounds[neighbour][neighbour_type], time(neighbour, neighbour_type)};
  }
  return arrival;
}

// When the data of all has arrived if the predecessors that run in the memory of the task are
// chosen best: the first so many by falling cross-memory arrivals.
double TransferOpen::least_join(std::vector<JoinArrival> arrivals, int units) {
  std::sort(arrivals.begin(), arrivals.end(), [](const JoinArrival& a, const JoinArrival& b) {
    return std::tie(a.cross_memory, a.same_memory.head, a.same_memory.time) >
           std::tie(b.cross_memory, b.same_memory.head, b.same_memory.time);
  });
  struct JoinTimes {
    double same_memory, next;  // all that stay are done; the first of the others is there
  };
  const auto join = [&](std::size_t stay) {
    std::vector<HeadWork> work;
    for (std::size_t k = 0; k < stay; ++k) work.push_back(arrivals[k].same_memory);
    const double next = stay < arrivals.size() ? arrivals[stay].cross_memory : 0;
    return JoinTimes{completion_time(std::move(work), units), next};
  };
  std::size_t low = 0, high = arrivals.size();  // the first count where home takes longer
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const JoinTimes join_times = join(middle);
    if (join_times.same_memory >= join_times.next)
      high = middle;
    else
      low = middle + 1;
  }
  const auto longest = [&](std::size_t stay) {
    const JoinTimes join_times = join(stay);
    return std::max(join_times.same_memory, join_times.next);
  };
  return low > 0 ? std::min(longest(low), longest(low - 1)) : longest(low);
}

// Head of a task on a type (tail, if backward).
double TransferOpen::bound_by_paths(int task, int type, bool backward) const {
  double bound = (backward ? tail_ : head_)[task][type];
  const bool has_join = units_per_memory(type) > 0;
  std::vector<JoinArrival> arrivals;
  for (const NumberedEdge& edge : backward ? after_[task] : before_[task]) {
    const JoinArrival arrival = arrival_over(edge, type, backward);
    bound = std::max(bound, arrival.anywhere);
    if (has_join) arrivals.push_back(arrival);
  }
  if (!has_join || bound == kInfinity) return bound;
  return std::max(bound, least_join(std::move(arrivals), units_per_memory(type)));
}

void TransferOpen::propagate_bounds() {
  const auto& order = instance_.graph().order();
  for (const int task : order)
    for (int type = 0; type < types_; ++type)
      if (is_open_[task][type]) head_[task][type] = bound_by_paths(task, type, false);
  for (auto task = order.rbegin(); task != order.rend(); ++task)
    for (int type = 0; type < types_; ++type)
      if (is_open_[*task][type]) tail_[*task][type] = bound_by_paths(*task, type, true);
}

// False: a task can run nowhere in time.
bool TransferOpen::close_unfit_types(bool& needs_another_round) {
  for (int task = 0; task < instance_.tasks(); ++task) {
    bool has_open_type = false;
    for (int type = 0; type < types_; ++type) {
      if (!is_open_[task][type]) continue;
      if (head_[task][type] + time(task, type) + tail_[task][type] <= limit()) {
        has_open_type = true;
        continue;
      }
      is_open_[task][type] = 0;
      needs_another_round = true;
    }
    if (!has_open_type) return false;
  }
  return true;
}

// Placements of an edge that take too long.  True: one was open.
bool TransferOpen::close_unfit_placements(const NumberedEdge& edge) {
  bool any_closed = false;
  const auto close_unless = [&](char& placement, bool fits) {
    any_closed = any_closed || (placement && !fits);
    placement = placement && fits;
  };
  for (int q = 0; q < types_; ++q)
    for (int r = 0; r < types_; ++r) {
      const double other_placements =
          head_[edge.from][q] + time(edge.from, q) + time(edge.to, r) + tail_[edge.to][r];
      close_unless(placement_open_[(edge.edge * 1UL * types_ + q) * types_ + r],
                   can_be_near(edge, q, r) && other_placements + near_cost(edge, q, r) <= limit());
      if (q == r)
        close_unless(cross_memory_open_[edge.edge * 1UL * types_ + r],
                     can_be_far(edge, q, r) && other_placements + far_cost(edge, q, r) <= limit());
    }
  return any_closed;
}

double TransferOpen::earliest(int task, bool backward) const {
  double least = kInfinity;
  for (int type = 0; type < types_; ++type)
    if (is_open_[task][type]) least = std::min(least, (backward ? tail_ : head_)[task][type]);
  return least;
}

// Head (tail) of a task by its predecessors, and by the loads of its ancestors.
double TransferOpen::bound_by_load(int task, const LeastOfTypes& least, bool backward) const {
  const auto preceding_tasks = [&](int successor) {
    return backward ? instance_.graph().successors(successor)
                    : instance_.graph().predecessors(successor);
  };
  double path = 0;
  for (const int other : preceding_tasks(task))
    path = std::max(path, least.head[other] + least.time[other]);
  std::vector<char> is_visited(instance_.tasks(), 0);
  std::vector<int> reached_tasks{task};
  std::vector<HeadWork> loads;
  for (std::size_t k = 0; k < reached_tasks.size(); ++k)
    for (const int other : preceding_tasks(reached_tasks[k])) {
      if (is_visited[other]) continue;
      is_visited[other] = 1;
      reached_tasks.push_back(other);
      loads.push_back({least.head[other], least.work[other]});
    }
  return std::max(path, completion_time(std::move(loads), 1));
}

}  // namespace cosched::dags::check
