#include "cosched/bags/search/annealing.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {
namespace {

constexpr int kMostPartners = 720;  // machines that one scan looks at

constexpr double kHot = 0.05, kCold = 2e-5;  // temperatures, in profit rates of the start
constexpr double kExchanges = 0.5;           // share of moves that exchange two tasks
constexpr double kFromLongest = 0.5;      // share of moves that take a task off the longest machine
constexpr std::int64_t kMoveSteps = 200;  // nanoseconds of a move, for the clock

// Tasks one by one, each on a machine.
class State {
 public:
  State(const Instance& instance, const std::vector<Run>& runs) : instance_(&instance) {
    const std::vector<int> first = list_machines(instance, kind_, number_);
    load_.assign(kind_.size(), 0);
    on_.resize(kind_.size());
    for (const auto& [i, j, k, n] : runs)
      for (std::int64_t copy = 0; copy < n; ++copy) {
        task_type_.push_back(i);
        machine_.push_back(-1);
        place_.push_back(-1);
        put(static_cast<int>(task_type_.size()) - 1, first[j] + k);
      }
  }

  int tasks() const { return static_cast<int>(task_type_.size()); }
  int machines() const { return static_cast<int>(kind_.size()); }
  int machine_of(int task) const { return machine_[task]; }
  bool same_type(int a, int b) const { return task_type_[a] == task_type_[b]; }
  bool may_run(int task, int machine) const {
    return instance_->allowed(task_type_[task], kind_[machine]);
  }
  int longest() const {
    return static_cast<int>(std::max_element(load_.begin(), load_.end()) - load_.begin());
  }
  const std::vector<int>& tasks_on(int machine) const { return on_[machine]; }

  double profit_rate() const {
    return instance_->profit_rate(joules_,
                                  std::max(load_[longest()], instance_->least_period(joules_)));
  }

  void move(int task, int machine) {
    take(task);
    put(task, machine);
  }

  std::vector<Run> runs() const {
    std::vector<Run> all;
    for (int m = 0; m < machines(); ++m) {
      std::vector<std::int64_t> count(instance_->types(), 0);
      for (const int task : on_[m]) ++count[task_type_[task]];
      const std::size_t begin = all.size();
      for (int i = 0; i < instance_->types(); ++i)
        if (count[i] > 0) all.push_back({i, kind_[m], number_[m], count[i]});
      std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                       [&](const Run& a, const Run& b) {
                         return instance_->etc(a.task_type, a.machine_type) >
                                instance_->etc(b.task_type, b.machine_type);
                       });
    }
    return all;
  }

 private:
  void put(int task, int machine) {
    machine_[task] = machine;
    place_[task] = static_cast<int>(on_[machine].size());
    on_[machine].push_back(task);
    account(task, +1);
  }

  void take(int task) {
    account(task, -1);
    std::vector<int>& tasks = on_[machine_[task]];
    place_[tasks.back()] = place_[task];
    tasks[place_[task]] = tasks.back();
    tasks.pop_back();
    // Sums that go up and down drift; those of an empty machine begin anew.
    if (tasks.empty()) load_[machine_[task]] = 0;
  }

  void account(int task, int sign) {
    const int i = task_type_[task], j = kind_[machine_[task]];
    load_[machine_[task]] += sign * instance_->etc(i, j);
    joules_ += sign * instance_->joules(i, j);
  }

  const Instance* instance_;
  std::vector<int> kind_, number_;                // of a machine: its type, and which of that type
  std::vector<double> load_;                      // of a machine
  std::vector<std::vector<int>> on_;              // of a machine: its tasks
  std::vector<int> task_type_, machine_, place_;  // of a task; place in on_
  double joules_ = 0;
};

// One move: `task` goes to `machine`, and `back` (-1: none) from there to where `task` was.
struct Move {
  int task = -1, machine = -1, back = -1;
};

Move draw(const State& state, Rng& rng) {
  Move move;
  const std::vector<int>& critical = state.tasks_on(state.longest());
  const bool from_longest = rng.uniform() < kFromLongest && !critical.empty();
  move.task = from_longest ? critical[rng.below(critical.size())]
                           : static_cast<int>(rng.below(state.tasks()));
  if (rng.uniform() < kExchanges) {
    move.back = static_cast<int>(rng.below(state.tasks()));
    move.machine = state.machine_of(move.back);
    if (state.same_type(move.task, move.back)) return {};
    if (!state.may_run(move.back, state.machine_of(move.task))) return {};
  } else {
    move.machine = static_cast<int>(rng.below(state.machines()));
  }
  if (move.machine == state.machine_of(move.task)) return {};
  return state.may_run(move.task, move.machine) ? move : Move{};
}

void apply(State& state, const Move& move) {
  const int from = state.machine_of(move.task);
  state.move(move.task, move.machine);
  if (move.back >= 0) state.move(move.back, from);
}

Move reversed(const State& state, const Move& move) {
  return {move.task, state.machine_of(move.task), move.back};
}

}  // namespace

// What makes an exchange good: loads up to `limit`, and a low score.
struct Shop::Goal {
  double limit;
  const std::vector<double>& price;  // joules a second on each machine type
  double penalty;                    // joules a second above the limit on `from`
};

Shop::Shop(const Instance& instance, const std::vector<Run>& runs) : instance_(&instance) {
  const std::vector<int> first = list_machines(instance, kind_, number_);
  load_.assign(kind_.size(), 0);
  held_.resize(kind_.size());
  for (const Run& run : runs) {
    add(first[run.machine_type] + run.machine, run.task_type, run.count);
    joules_ += static_cast<double>(run.count) * instance.joules(run.task_type, run.machine_type);
  }
  for (int m = 0; m < machines(); ++m)
    for (const Holding& held : held_[m])
      load_[m] += static_cast<double>(held.count) * instance.etc(held.task_type, kind_[m]);
}

double Shop::makespan() const { return *std::max_element(load_.begin(), load_.end()); }

std::vector<Run> Shop::runs() const {
  std::vector<Run> all;
  for (int m = 0; m < machines(); ++m) {
    const std::size_t begin = all.size();
    for (const Holding& held : held_[m])
      all.push_back({held.task_type, kind_[m], number_[m], held.count});
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
              [&](const Run& a, const Run& b) {
                const double x = instance_->etc(a.task_type, kind_[m]);
                const double y = instance_->etc(b.task_type, kind_[m]);
                return x != y ? x > y : a.task_type < b.task_type;
              });
  }
  return all;
}

void Shop::add(int machine, int task_type, std::int64_t count) {
  std::vector<Holding>& held = held_[machine];
  const auto place = std::find_if(held.begin(), held.end(), [&](const Holding& holding) {
    return holding.task_type == task_type;
  });
  if (place == held.end()) {
    held.push_back({task_type, count});
  } else {
    place->count += count;
    if (place->count == 0) held.erase(place);
  }
}

double Shop::seconds_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->etc(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->etc(bundle.second, j);
  return sum;
}

double Shop::joules_on(const Bundle& bundle, int j) const {
  double sum = 0;
  if (bundle.first >= 0) sum += instance_->joules(bundle.first, j);
  if (bundle.second >= 0) sum += instance_->joules(bundle.second, j);
  return sum;
}

// Nothing, each task type, and with `most` = 2 each pair of tasks.
std::vector<Shop::Bundle> Shop::bundles(int machine, int most) const {
  std::vector<Bundle> all{{}};
  const std::vector<Holding>& held = held_[machine];
  for (const Holding& a : held) all.push_back({a.task_type, -1, 0, 0});
  if (most > 1)
    for (std::size_t a = 0; a < held.size(); ++a)
      for (std::size_t b = a; b < held.size(); ++b)
        if (a != b || held[a].count > 1)
          all.push_back({held[a].task_type, held[b].task_type, 0, 0});
  for (Bundle& bundle : all) {
    bundle.seconds = seconds_on(bundle, kind_[machine]);
    bundle.joules = joules_on(bundle, kind_[machine]);
  }
  return all;
}

// Improves `best` with the exchanges of `given` against what machine `to` holds.
void Shop::consider(int from, int to, const std::vector<Bundle>& given, int most, const Goal& goal,
                    Exchange& best) const {
  const int j = kind_[from], k = kind_[to];
  Poll poll;
  for (const Bundle& in : bundles(to, most)) {
    poll.count(8 * static_cast<std::int64_t>(given.size()));
    const double in_seconds = seconds_on(in, j);
    if (!(in_seconds < kInfinity)) continue;
    const double in_joules = joules_on(in, j) - in.joules;
    for (const Bundle& out : given) {
      const double new_from = load_[from] - out.seconds + in_seconds;
      if (new_from >= load_[from]) continue;
      const double new_to = load_[to] - in.seconds + seconds_on(out, k);
      if (!(new_to <= goal.limit)) continue;
      const double joules = in_joules + joules_on(out, k) - out.joules;
      const double over = std::max(new_from - goal.limit, 0.0);
      const double score = joules + goal.price[j] * (new_from - load_[from]) +
                           goal.price[k] * (new_to - load_[to]) + goal.penalty * over;
      // Ties (all exchanges within a machine type): move no more load than is needed.
      if (score < best.score || (score == best.score && new_from > best.new_from))
        best = {from, to, out, in, score, new_from, new_to};
    }
  }
}

Shop::Exchange Shop::best_exchange(int from, int most, const Goal& goal, std::int64_t& work) {
  const std::vector<Bundle> given = bundles(from, most);
  Exchange best;
  const int partners = std::min(machines(), kMostPartners);
  for (int n = 0; n < partners && work > 0; ++n) {
    const int to = (cursor_ + n) % machines();
    if (to == from) continue;
    consider(from, to, given, most, goal, best);
    work -= static_cast<std::int64_t>(given.size() * (held_[to].size() + 1));
  }
  if (partners < machines()) cursor_ = (cursor_ + partners) % machines();
  check_interrupt();
  return best;
}

void Shop::apply(const Exchange& exchange) {
  const auto move = [&](const Bundle& bundle, int source, int target) {
    for (const int i : {bundle.first, bundle.second}) {
      if (i < 0) continue;
      add(source, i, -1);
      add(target, i, 1);
      joules_ += instance_->joules(i, kind_[target]) - instance_->joules(i, kind_[source]);
    }
  };
  move(exchange.given, exchange.from, exchange.to);
  move(exchange.taken, exchange.to, exchange.from);
  load_[exchange.from] = exchange.new_from;
  load_[exchange.to] = exchange.new_to;
}

bool Shop::squeeze(double limit, const std::vector<double>& price, double penalty,
                   std::int64_t& work) {
  limit *= 1 + kFit;
  const Goal goal{limit, price, penalty};
  std::priority_queue<std::pair<double, int>> over;
  for (int m = 0; m < machines(); ++m)
    if (load_[m] > limit) over.emplace(load_[m], -m);
  while (!over.empty()) {
    if (work <= 0) return false;
    const int m = -over.top().second;
    over.pop();
    Exchange best = best_exchange(m, 1, goal, work);
    if (best.from < 0 || best.new_from > limit) best = best_exchange(m, 2, goal, work);
    if (best.from < 0 || best.score >= penalty * (load_[m] - limit)) return false;
    apply(best);
    if (load_[m] > limit) over.emplace(load_[m], -m);
  }
  return true;
}

Annealed annealed(const Instance& instance, const Plan& start, std::int64_t moves,
                  std::uint64_t seed) {
  const double idle_cost = instance.energy_cost() * instance.idle_power();
  State state(instance, start.runs);
  Rng rng(seed);
  Poll poll;
  std::vector<Run> found;
  double now = start.profit_rate, top = now;
  double temperature = kHot * std::abs(now + idle_cost);  // idling costs every plan the same
  const double cooling = std::pow(kCold / kHot, 1.0 / static_cast<double>(moves));
  const bool complete = finishes_within(std::nullopt, [&] {
    for (std::int64_t step = 0; step < moves; ++step, temperature *= cooling) {
      poll.count(kMoveSteps);
      const Move move = draw(state, rng);
      if (move.task < 0) continue;
      const Move back = reversed(state, move);
      apply(state, move);
      const double then = state.profit_rate();
      if (then < now && rng.uniform() >= std::exp((then - now) / temperature)) {
        apply(state, back);
        continue;
      }
      now = then;
      if (leq(now, top, kFit)) continue;
      top = now;
      found = state.runs();
    }
  });
  if (found.empty()) return {start, complete};
  Plan best = without_deadline([&] { return plan_of_runs(instance, std::move(found)); });
  return {best.profit_rate > start.profit_rate ? best : start, complete};
}

}  // namespace cosched::bags::search
