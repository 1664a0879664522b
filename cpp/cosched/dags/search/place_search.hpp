// A local search over orders and units, with restarts, where data costs time.
#pragma once

#include <numeric>

#include "cosched/dags/search/reinsertion.hpp"

namespace cosched::dags::search {

/// As OrderSearch, but a task is given a unit, not a type: which of two alike units it is decides
/// what has to move.  A move takes up to eight tasks out and puts each where it fits best
/// (reinsertion.hpp), or those that data joins in one memory into another, and such ones from there
/// back, or, where data is cheap, one into the place of those that its new unit runs then.  Every
/// schedule in which nothing can start earlier can be reached.  After a restart slightly longer
/// schedules are taken as well, less and less so.
class PlaceSearch {
 public:
  PlaceSearch(const Instance& instance, const Plan& plan, std::uint64_t seed)
      : instance_(instance),
        decoder_(instance),
        reinsertion_(instance, decoder_),
        rng_(seed),
        costs_(list::optimistic_costs(instance)),
        mean_(list::mean_times(instance)),
        current_makespan_(plan.makespan()),
        best_makespan_(current_makespan_),
        position_(instance.tasks()) {
    double data = 0;
    for (int edge = 0; edge < instance.graph().edges(); ++edge)
      data += instance.transfers().mean_cost(edge);
    const double time = std::accumulate(mean_.begin(), mean_.end(), 0.0);
    if (data * instance.tasks() < 0.5 * time * instance.graph().edges()) displaced_ = kDisplaced;
    current_ = candidate_of(plan);
    best_ = current_;
    const double decoded = decoder_.decode(current_.order, current_.units, false);
    if (instance.transfers().limited()) best_makespan_ = current_makespan_ = decoded;
    chain_ = decoder_.deciding_chain(current_.units);
  }

  /// Builds up to `evaluations` schedules, those of the calls before counted, and calls
  /// `better(plan)` with each that is the best so far; it says whether to go on.  May be left by an
  /// exception of check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& better) {
    Candidate next;
    const std::int64_t patience = 50 + 5LL * std::min(instance_.tasks(), 300);
    if (std::exchange(anew_, false)) begin_anew();
    while (built_ < evaluations) {
      check_interrupt();
      if (idle_ > patience) {
        restart();
        begin_anew();
      } else {
        const double limit = current_makespan_ * (1 + heat_ * rng_.uniform());
        const double makespan = move(next, limit);
        idle_ = makespan < lowest_ ? 0 : idle_ + 1;
        lowest_ = std::min(lowest_, makespan);
        heat_ *= kCooling;
        if (makespan > limit) continue;
        take_over(next, makespan);
      }
      if (current_makespan_ >= best_makespan_) continue;
      best_ = current_;
      best_makespan_ = current_makespan_;
      if (!better(decoder_.plan(current_.units))) return;
    }
  }

  /// As of OrderSearch.
  void cool(std::int64_t evaluations, std::int64_t most, double heat,
            const std::function<bool(const Plan&)>& better) {
    anew_ = true;
    take_over(best_, decode(best_));
    Candidate next;
    const std::int64_t begin = built_;
    while (built_ < begin + std::min(evaluations, most)) {
      check_interrupt();
      const double left =
          1 - static_cast<double>(built_ - begin) / static_cast<double>(evaluations);
      const double limit = current_makespan_ * (1 + heat * std::max(0.0, left) * rng_.uniform());
      const double makespan = move(next, limit);
      if (makespan > limit) continue;
      take_over(next, makespan);
      if (makespan >= best_makespan_) continue;
      best_ = current_;
      best_makespan_ = makespan;
      if (!better(decoder_.plan(current_.units))) return;
    }
  }

  std::int64_t built() const { return built_; }

 private:
  static constexpr double kJustified = 0.1;
  static constexpr double kHeat = 0.05;
  static constexpr double kCooling = 0.99;
  static constexpr int kGroup = 8;   // tasks that are taken out together, at most
  static constexpr int kNearby = 4;  // places in the order between two of them that no data joins
  static constexpr double kJoined = 0.6;
  static constexpr double kExchanged = 0.2;
  static constexpr double kDisplaced = 0.05;  // where data costs less than half of a task
  static constexpr int kMostDisplaced = 16;
  static constexpr double kBack = 0.6;    // of the exchanges, in which others come back
  static constexpr double kBlink = 0.05;  // of Reinsertion

  struct Candidate {
    std::vector<int> order, units;
  };

  // What comes out, and a unit in whose memory it goes back; -1: any.
  struct Moved {
    int task, unit;
  };

  // A neighbour of the current schedule, built if it may be within the limit.
  double move(Candidate& next, double limit) {
    next = current_;
    if (change(next, limit)) return decode(next);
    ++built_;
    return kInfinity;
  }

  double decode(const Candidate& candidate) {
    const bool justify = rng_.uniform() < kJustified;
    built_ += justify ? 3 : 1;
    return decoder_.decode(candidate.order, candidate.units, justify);
  }

  // The decoded candidate becomes the current one, in the order of its starts.
  void take_over(const Candidate& candidate, double makespan) {
    current_ = {decoder_.order_by_start(), candidate.units};
    current_makespan_ = makespan;
    chain_ = decoder_.deciding_chain(current_.units);
  }

  // Half of the restarts from the best and some from one unit, with a few moves; the others from a
  // heuristic with noise.
  void restart() {
    const double share = rng_.uniform();
    Candidate candidate = share < 0.5 ? best_ : share < 0.6 ? gathered() : rebuilt();
    if (share < 0.6)
      for (int k = 0; k < 4; ++k) change(candidate, kInfinity);
    take_over(candidate, decode(candidate));
  }

  void begin_anew() {
    idle_ = 0;
    heat_ = kHeat;
    lowest_ = current_makespan_;
  }

  // HEFT or PEFT by ranks in which times and transfers vary.
  Candidate rebuilt() {
    const TaskGraph& graph = instance_.graph();
    const double noise = rng_.uniform(), moved = 2 * rng_.uniform();
    const double ahead = rng_.uniform() < 0.5 ? 0 : rng_.uniform();
    std::vector<double> rank(graph.tasks());
    for (auto it = graph.order().rbegin(); it != graph.order().rend(); ++it) {
      double after = 0;
      int edge = instance_.transfers().first_out(*it);
      for (const int next : graph.successors(*it))
        after = std::max(after, moved * instance_.transfers().mean_cost(edge++) + rank[next]);
      rank[*it] = mean_[*it] * (1 + noise * (2 * rng_.uniform() - 1)) + after;
    }
    Candidate made{graph.order(), std::vector<int>(graph.tasks())};
    std::stable_sort(made.order.begin(), made.order.end(),
                     [&](int a, int b) { return rank[a] > rank[b]; });
    list::Insertion insertion(instance_);
    for (const int task : made.order) {
      list::Choice best;
      double least = kInfinity;
      for (int type = 0; type < instance_.types(); ++type) {
        if (!instance_.can_run(task, type)) continue;
        const list::Choice choice = insertion.best_on(task, type);
        if (choice.end + ahead * costs_(task, type) >= least) continue;
        least = choice.end + ahead * costs_(task, type);
        best = choice;
      }
      insertion.place(task, best);
      made.units[task] = decoder_.numbers().number({best.type, best.unit});
    }
    return made;
  }

  // All on one unit, as far as they can run there.
  Candidate gathered() {
    const Plan plan = list::together(instance_, static_cast<int>(rng_.below(instance_.types())));
    return candidate_of(plan);
  }

  Candidate candidate_of(const Plan& plan) {
    Candidate candidate{instance_.graph().order(), {}};
    for (int k = 0; k < instance_.tasks(); ++k) position_[candidate.order[k]] = k;
    std::sort(candidate.order.begin(), candidate.order.end(), [&](int a, int b) {
      return std::tuple(plan.start[a], plan.end[a], position_[a]) <
             std::tuple(plan.start[b], plan.end[b], position_[b]);
    });
    for (int task = 0; task < instance_.tasks(); ++task)
      candidate.units.push_back(decoder_.numbers().number({plan.kind[task], plan.unit[task]}));
    return candidate;
  }

  // Some tasks come out and go back one by one, from the first on or from the last.  False: a path
  // is longer than the limit.
  bool change(Candidate& candidate, double limit) {
    for (int k = 0; k < instance_.tasks(); ++k) position_[candidate.order[k]] = k;
    group_.assign(1, {some_task(), -1});
    const int other = static_cast<int>(rng_.below(decoder_.numbers().count()));
    const double kind = rng_.uniform();
    if (kind < kExchanged && !near(candidate.units[group_.front().task], other))
      exchange(candidate, other);
    else if (kind <= 1 - displaced_ || !displaces(candidate, other))
      take_out(candidate.order);
    // One that displaces others goes back before them.
    const auto first = group_.begin() + (group_.front().unit >= 0 && kind > 1 - displaced_ ? 1 : 0);
    std::sort(first, group_.end(), [&](const Moved& a, const Moved& b) {
      return position_[a.task] < position_[b.task];
    });
    if (rng_.uniform() < 0.5) std::reverse(first, group_.end());
    for (const Moved& moved : group_) candidate.units[moved.task] = -1;
    for (const Moved& moved : group_)
      if (reinsertion_.insert(moved.task, moved.unit, kBlink, rng_, candidate.order,
                              candidate.units) > limit)
        return false;
    return true;
  }

  // Tasks that data joins, or that are near in the order, to wherever is best.
  void take_out(const std::vector<int>& order) {
    const int n = instance_.tasks();
    const int most = 1 + static_cast<int>(rng_.below(kGroup));
    for (int tries = 0; static_cast<int>(group_.size()) < most && tries < 2 * kGroup; ++tries) {
      const int from = group_[rng_.below(group_.size())].task;
      const int place = position_[from] + static_cast<int>(rng_.below(2 * kNearby + 1)) - kNearby;
      const int next = rng_.uniform() < kJoined  ? random_neighbour(from)
                       : place >= 0 && place < n ? order[place]
                                                 : -1;
      if (next >= 0) add(next, -1);
    }
  }

  // The task takes the place of those that the other unit runs behind it, for as long as it takes
  // there; false: it cannot run there, or does.
  bool displaces(const Candidate& candidate, int other) {
    const int task = group_.front().task, type = decoder_.numbers().place(other).type;
    if (candidate.units[task] == other || !instance_.can_run(task, type)) return false;
    group_.front().unit = other;
    double room = 0;
    for (int k = position_[task] + 1; k < instance_.tasks() && room < instance_.time(task, type) &&
                                      static_cast<int>(group_.size()) <= kMostDisplaced;
         ++k) {
      const int next = candidate.order[k];
      if (candidate.units[next] != other) continue;
      room += instance_.time(next, type);
      group_.push_back({next, -1});
    }
    return true;
  }

  // Tasks that data joins in one memory go to another; mostly such ones from there come back.
  void exchange(const Candidate& candidate, int other) {
    const int home = candidate.units[group_.front().task], n = instance_.tasks();
    const int most = 1 + static_cast<int>(rng_.below(kGroup));
    gather(candidate, home, other, most);
    if (rng_.uniform() >= kBack) return;
    const int from = static_cast<int>(rng_.below(n));
    for (int k = 0; k < n; ++k)
      if (const int task = candidate.order[(from + k) % n]; near(candidate.units[task], other)) {
        group_.push_back({task, home});
        return gather(candidate, other, home, most);
      }
  }

  // Whether two units share a memory.
  bool near(int one, int other) const {
    return decoder_.numbers().memory(one) == decoder_.numbers().memory(other);
  }

  // Grows from the last task of the group.
  void gather(const Candidate& candidate, int from, int to, int most) {
    const std::size_t begin = group_.size() - 1;
    group_.back().unit = to;
    for (int tries = 1; tries < 2 * most; ++tries) {
      const Moved& one = group_[begin + rng_.below(group_.size() - begin)];
      const int next = random_neighbour(one.task);
      if (next >= 0 && near(candidate.units[next], from) &&
          static_cast<int>(group_.size() - begin) < most)
        add(next, to);
    }
  }

  void add(int task, int unit) {
    if (std::none_of(group_.begin(), group_.end(),
                     [&](const Moved& other) { return other.task == task; }))
      group_.push_back({task, unit});
  }

  int some_task() {
    return rng_.uniform() < 0.6 ? chain_[rng_.below(chain_.size())]
                                : static_cast<int>(rng_.below(instance_.tasks()));
  }

  int random_neighbour(int task) {
    const TaskGraph::Range before = instance_.graph().predecessors(task);
    const TaskGraph::Range after = instance_.graph().successors(task);
    if (before.size() + after.size() == 0) return -1;
    const int k = static_cast<int>(rng_.below(before.size() + after.size()));
    return k < before.size() ? before.first[k] : after.first[k - before.size()];
  }

  const Instance& instance_;
  PlaceDecoder decoder_;
  Reinsertion reinsertion_;
  Rng rng_;
  Table costs_;  // optimistic_costs()
  std::vector<double> mean_;
  Candidate current_, best_;
  double current_makespan_, best_makespan_, displaced_ = 0;
  // Of run(), which goes on where it was: more work is never worse than less.
  bool anew_ = true;
  std::int64_t idle_ = 0;
  double heat_ = 0, lowest_ = 0;
  std::vector<int> chain_, position_;
  std::vector<Moved> group_;
  std::int64_t built_ = 0;
};

}  // namespace cosched::dags::search
