// TransferChecker: heads and tails, joins, load heads, pruning.
#include "cosched/dags/check/transfer_checker.hpp"

#include <functional>
#include <map>

#include "cosched/core/interrupt.hpp"

namespace cosched::dags::check {

TransferChecker::TransferChecker(const Instance& instance, double makespan, bool clusters)
    : instance_(instance),
      types_(instance.types()),
      makespan_(makespan),
      head_(instance.tasks(), std::vector<double>(types_, 0.0)),
      tail_(head_),
      open_(instance.tasks(), std::vector<char>(types_)) {
  for (int task = 0; task < instance.tasks(); ++task) {
    for (int type = 0; type < types_; ++type) open_[task][type] = instance.can_run(task, type);
    for (const int next : instance.graph().successors(task))
      edges_.push_back({task, next, static_cast<int>(edges_.size())});
  }
  joint_.assign(edges_.size() * types_ * types_, 1);
  far_.assign(edges_.size() * types_, 0);
  before_.resize(instance.tasks());
  after_.resize(instance.tasks());
  for (const Joint& edge : edges_) {
    before_[edge.to].push_back(edge);
    after_[edge.from].push_back(edge);
  }
  if (!instance.transfers().given()) return;
  count_homes();
  if (clusters) find_paths();
  for (const Joint& edge : edges_)
    for (int type = 0; type < types_; ++type)
      far(edge.edge, type) = home_[type] > 0 && several_[type];
}

bool TransferChecker::refutes(const std::vector<proof::TransferStage>& stages) {
  if (!prune()) return true;
  for (const proof::TransferStage& stage : stages) {
    check_interrupt();
    if (!stage.raise.empty())
      raise(stage.raise);
    else if (!stage.guesses.empty())
      close(stage.guesses);
    else if (combine(stage))
      return true;
    if (!prune()) return true;
  }
  return false;
}

// Each guess with which nothing is left.
void TransferChecker::close(const std::vector<proof::TransferGuess>& guesses) {
  for (const auto& [of_edge, item, choice] : guesses) {
    TransferChecker rest(*this);
    for (int other = 0; other < (of_edge ? types_ * (types_ + 1) : types_); ++other)
      if (other != choice) rest.close(of_edge, item, other);
    if (!rest.prune()) close(of_edge, item, choice);
  }
}

void TransferChecker::close(bool of_edge, int item, int choice) {
  if (!of_edge)
    open_[item][choice] = 0;
  else if (choice < types_ * types_)
    joint(item, choice / types_, choice % types_) = 0;
  else
    far(item, choice - types_ * types_) = 0;
}

// Units of each type that may share a memory, 0: with other types too.
void TransferChecker::count_homes() {
  home_.assign(types_, 0);
  several_.assign(types_, 0);
  const Memories& memories = instance_.transfers().links().memories;
  if (memories.kind != Memories::Kind::given) {
    for (int type = 0; type < types_; ++type) {
      const bool shared = type == 0 && memories.kind == Memories::Kind::host;
      home_[type] = shared ? instance_.units(type) : 1;
      several_[type] = !shared && instance_.units(type) > 1;
    }
    return;
  }
  std::map<std::pair<int, int>, int> count;  // of (type, memory)
  std::map<int, int> of_memory;
  std::size_t unit = 0;
  for (int type = 0; type < types_; ++type)
    for (int k = 0; k < instance_.units(type); ++k, ++unit) {
      ++count[{type, memories.of_unit[unit]}];
      ++of_memory[memories.of_unit[unit]];
    }
  std::vector<char> mixed(types_, 0);
  for (const auto& [key, units] : count) {
    const auto& [type, memory] = key;
    if (of_memory[memory] > units) mixed[type] = 1;
    if (units < instance_.units(type)) several_[type] = 1;
    home_[type] = std::max(home_[type], units);
  }
  for (int type = 0; type < types_; ++type)
    if (mixed[type]) home_[type] = 0;
}

// Time until the units of a memory have done all these, of (head, time).
double TransferChecker::done_at_home(std::vector<std::pair<double, double>> work, int units) {
  std::sort(work.begin(), work.end(), std::greater<>());
  double sum = 0, most = 0;
  for (const auto& [head, p] : work) most = std::max(most, head + (sum += p / units));
  return most;
}

// What one edge lets through to a task on a type.
TransferChecker::Arrival TransferChecker::arrive(const Joint& edge, int type, bool backward) {
  const auto& bound = backward ? tail_ : head_;
  const int other = backward ? edge.to : edge.from;
  Arrival arrival{kInfinity, kInfinity, {kInfinity, 0}};
  for (int its = 0; its < types_; ++its) {
    const int q = backward ? type : its, r = backward ? its : type;
    if (!allowed(edge, q, r)) continue;
    const double end = bound[other][its] + time(other, its);
    arrival.least = std::min(arrival.least, end + cost(edge, q, r));
    if (!instance_.transfers().given()) continue;
    if (q != r || far_allowed(edge, q, r))
      arrival.apart = std::min(arrival.apart, end + instance_.transfers().remote(edge.edge, q, r));
    if (q == r && near_allowed(edge, q, r)) arrival.home = {bound[other][its], time(other, its)};
  }
  return arrival;
}

// When all have arrived, if the best of them stay at home.
double TransferChecker::least_join(std::vector<Elsewhere> far, int units) {
  std::sort(far.begin(), far.end(), std::greater<>());
  const auto join = [&](std::size_t stay) {  // the first stay at home, the rest may not
    std::vector<std::pair<double, double>> work;
    for (std::size_t k = 0; k < stay; ++k) work.push_back(far[k].second);
    const double next = stay < far.size() ? far[stay].first : 0;
    return std::make_pair(done_at_home(std::move(work), units), next);
  };
  std::size_t low = 0, high = far.size();  // the first count where home takes longer
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const auto [home, next] = join(middle);
    if (home >= next)
      high = middle;
    else
      low = middle + 1;
  }
  const auto longest = [&](std::size_t stay) {
    const auto [home, next] = join(stay);
    return std::max(home, next);
  };
  return low > 0 ? std::min(longest(low), longest(low - 1)) : longest(low);
}

// Head of a task on a type (tail, if backward).
double TransferChecker::start(int task, int type, bool backward) {
  double best = (backward ? tail_ : head_)[task][type];
  std::vector<Elsewhere> far;
  for (const Joint& edge : backward ? after_[task] : before_[task]) {
    const Arrival arrival = arrive(edge, type, backward);
    best = std::max(best, arrival.least);
    far.emplace_back(arrival.apart, arrival.home);
  }
  if (home_.empty() || home_[type] == 0 || best == kInfinity) return best;
  return std::max(best, least_join(std::move(far), home_[type]));
}

void TransferChecker::all_starts() {
  const auto& order = instance_.graph().order();
  for (const int task : order)
    for (int type = 0; type < types_; ++type)
      if (open_[task][type]) head_[task][type] = start(task, type, false);
  for (auto task = order.rbegin(); task != order.rend(); ++task)
    for (int type = 0; type < types_; ++type)
      if (open_[*task][type]) tail_[*task][type] = start(*task, type, true);
}

// False: a task can run nowhere in time.
bool TransferChecker::close_types(double limit, bool& changed) {
  for (int task = 0; task < instance_.tasks(); ++task) {
    bool left = false;
    for (int type = 0; type < types_; ++type) {
      if (!open_[task][type]) continue;
      if (head_[task][type] + time(task, type) + tail_[task][type] <= limit) {
        left = true;
        continue;
      }
      open_[task][type] = 0;
      changed = true;
    }
    if (!left) return false;
  }
  return true;
}

// Ways of an edge that take too long.
void TransferChecker::close_ways(const Joint& edge, double limit, bool& changed) {
  const auto close_unless = [&](char& way, bool fits) {
    if (!way || fits) return;
    way = 0;
    changed = true;
  };
  for (int q = 0; q < types_; ++q)
    for (int r = 0; r < types_; ++r) {
      const double others =
          head_[edge.from][q] + time(edge.from, q) + time(edge.to, r) + tail_[edge.to][r];
      close_unless(joint(edge.edge, q, r),
                   near_allowed(edge, q, r) && others + near_cost(edge, q, r) <= limit);
      if (q == r)
        close_unless(far(edge.edge, r),
                     far_allowed(edge, q, r) &&
                         others + instance_.transfers().remote(edge.edge, q, r) <= limit);
    }
}

bool TransferChecker::prune() {
  const double limit = makespan_ * (1 + proof::kProofSlack);
  for (bool changed = true; changed;) {
    check_interrupt();
    changed = false;
    all_starts();
    if (!close_types(limit, changed)) return false;
    for (const Joint& edge : edges_) close_ways(edge, limit, changed);
    if (!changed && !reach_.empty()) changed = bind_clusters();
  }
  return true;
}

void TransferChecker::raise(const std::vector<double>& weights) {
  const auto& order = instance_.graph().order();
  for (const int task : order) raise(task, weights, head_, false);
  for (auto task = order.rbegin(); task != order.rend(); ++task) raise(*task, weights, tail_, true);
}

// Heads (tails) of a task by the loads of its ancestors.
void TransferChecker::raise(int task, const std::vector<double>& weights,
                            std::vector<std::vector<double>>& bound, bool backward) {
  std::vector<char> seen(instance_.tasks(), 0);
  std::vector<int> ancestors{task};
  for (std::size_t k = 0; k < ancestors.size(); ++k)
    for (const Joint& edge : backward ? after_[ancestors[k]] : before_[ancestors[k]]) {
      const int other = backward ? edge.to : edge.from;
      if (seen[other]) continue;
      seen[other] = 1;
      ancestors.push_back(other);
    }
  std::vector<std::pair<double, double>> loads;
  for (std::size_t k = 1; k < ancestors.size(); ++k) {
    const int other = ancestors[k];
    double work = kInfinity;
    for (int type = 0; type < types_; ++type)
      if (open_[other][type])
        work = std::min(work, weights[type] * time(other, type) / instance_.units(type));
    loads.emplace_back(earliest(bound[other], other), work);
  }
  const double found = done_at_home(std::move(loads), 1);
  for (double& head : bound[task]) head = std::max(head, found);
}

}  // namespace cosched::dags::check
