#include "cosched/packs/heuristic/pack_by_pack.hpp"

#include "cosched/packs/heuristic/best_cuts.hpp"
#include "cosched/packs/heuristic/candidate_costs.hpp"
#include "cosched/packs/heuristic/least_idle.hpp"

namespace cosched::packs::heuristic {
namespace {

struct TimedTask {
  double time;
  int task;
};

// Order of the paper's list L: decreasing time, ties by number.
bool precedes(const TimedTask& a, const TimedTask& b) {
  return a.time > b.time || (a.time == b.time && a.task < b.task);
}

std::vector<TimedTask> list_by_time(const Times& times) {
  std::vector<TimedTask> entries(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) entries[i] = {times(i, times.fewest(i)), i};
  std::sort(entries.begin(), entries.end(), precedes);
  return entries;
}

// One run of the heuristic.  The list L of the paper has two parts: V, the tasks close to the
// longest, sorted; and the others, as a heap.  A task gets a processor only while V requests fewer
// than p, so that V is short then, and returns to its place in V or to the heap.
class PackByPackRun {
 public:
  PackByPackRun(const Instance& instance, const std::vector<TimedTask>& list, double epsilon,
                PackChoice choice)
      : instance_(instance), threshold_factor_(1 - epsilon), choice_(choice), heap_(list) {
    for (int i = 0; i < instance.tasks(); ++i) sigma_.push_back(instance.times().fewest(i));
  }

  Packs packs() {
    constexpr std::int64_t kStepsPerCheck = 16384;  // of some ten nanoseconds each
    for (std::int64_t steps = 0;; ++steps) {
      if (steps % kStepsPerCheck == 0) check_interrupt();
      extend_v();
      if (head_ == v_.size()) return std::move(packs_);
      if (requested_procs_ < instance_.procs())
        widen_first();
      else if (choice_ == PackChoice::kIdle)
        make_pack_of(least_idle(candidates(), instance_.procs(), instance_.max_tasks()));
      else
        make_pack();
    }
  }

 private:
  static bool follows(const TimedTask& a, const TimedTask& b) {
    return precedes(b, a);
  }  // heap order

  // V = { i : t_i(sigma_i) >= (1 - epsilon) t_1(sigma_1) }, T1 the longest.
  void extend_v() {
    if (head_ == v_.size() && heap_.empty()) return;
    const double longest = head_ == v_.size() ? heap_.front().time : v_[head_].time;
    threshold_ = threshold_factor_ * longest;
    while (!heap_.empty() && heap_.front().time >= threshold_) {
      std::pop_heap(heap_.begin(), heap_.end(), follows);
      v_.push_back(heap_.back());
      requested_procs_ += sigma_[heap_.back().task];
      heap_.pop_back();
    }
  }

  // Makes a pack of the tasks of V in order, up to the first that does not fit.
  void make_pack() {
    std::vector<int> pack;
    int free_procs = instance_.procs();
    while (head_ < v_.size() && static_cast<int>(pack.size()) < instance_.max_tasks()) {
      const int task = v_[head_].task;
      if (sigma_[task] > free_procs) break;
      free_procs -= sigma_[task];
      requested_procs_ -= sigma_[task];
      pack.push_back(task);
      ++head_;
    }
    packs_.push_back(std::move(pack));
    // V may hold most tasks.  It moves to the front only once half of its memory is unused, so that
    // each task moves once.
    if (2 * head_ < v_.size()) return;
    v_.erase(v_.begin(), v_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<PackCandidate> candidates() const {
    std::vector<PackCandidate> candidates;
    for (std::size_t k = head_; k < v_.size(); ++k) {
      const int sigma = sigma_[v_[k].task];
      candidates.push_back({sigma, sigma * v_[k].time});
    }
    return candidates;
  }

  // Makes a pack of the tasks at these places of V, which are ascending.
  void make_pack_of(const std::vector<int>& places) {
    std::vector<int> pack;
    std::vector<TimedTask> remaining;
    auto next = places.begin();
    for (std::size_t k = head_; k < v_.size(); ++k) {
      if (next == places.end() || static_cast<std::size_t>(*next) != k - head_) {
        remaining.push_back(v_[k]);
        continue;
      }
      pack.push_back(v_[k].task);
      requested_procs_ -= sigma_[v_[k].task];
      ++next;
    }
    packs_.push_back(std::move(pack));
    v_ = std::move(remaining);
    head_ = 0;
  }

  // Gives T1, the longest task, one more processor, and puts it back into L by its new time.
  void widen_first() {
    const int task = v_[head_].task;
    const int sigma = ++sigma_[task];
    const TimedTask entry{instance_.times()(task, sigma), task};
    if (entry.time >= threshold_) {
      ++requested_procs_;
      std::size_t place = head_;
      for (; place + 1 < v_.size() && precedes(v_[place + 1], entry); ++place)
        v_[place] = v_[place + 1];
      v_[place] = entry;
    } else {
      requested_procs_ -= sigma - 1;
      ++head_;
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end(), follows);
    }
  }

  const Instance& instance_;
  double threshold_factor_;  // 1 - epsilon
  PackChoice choice_;
  std::vector<int> sigma_;       // processors that each task asks for
  std::vector<TimedTask> heap_;  // L without V: a heap, which the list sorted by `precedes` is
  std::vector<TimedTask> v_;     // V is v_[head_..], sorted
  std::size_t head_ = 0;
  int requested_procs_ = 0;  // P = sum of sigma over V
  double threshold_ = 0;     // the least time of a task of V
  Packs packs_;
};

void require_epsilons(const std::vector<double>& epsilons) {
  if (epsilons.empty()) throw InvalidInstance("epsilons is empty: expected at least one value");
  for (std::size_t k = 0; k < epsilons.size(); ++k)
    if (!(epsilons[k] >= 0 && epsilons[k] < 1))
      throw InvalidInstance("epsilons[" + std::to_string(k) + "] = " + to_text(epsilons[k]) +
                            ": expected a number in [0, 1)");
}

std::vector<int> concatenate(const Packs& packs) {
  std::vector<int> order;
  for (const auto& pack : packs) order.insert(order.end(), pack.begin(), pack.end());
  return order;
}

}  // namespace

std::vector<double> nine_epsilons() { return {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}; }

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        PackChoice choice) {
  require_epsilons(epsilons);
  const std::vector<TimedTask> list = list_by_time(instance.times());
  CandidateCosts costs(instance.times());
  Packs best_packs;
  double best = kInfinity;
  for (const double epsilon : epsilons) {
    Packs packs = PackByPackRun(instance, list, epsilon, choice).packs();
    if (choice == PackChoice::kCuts) packs = best_cuts(instance, concatenate(packs));
    const double candidate = costs.optimal_cost(packs);
    if (candidate < best) {
      best = candidate;
      best_packs = std::move(packs);
    }
    check_interrupt();
  }
  return with_optimal_procs(instance.times(), best_packs);
}

SearchedCoschedule best_pack_by_pack(const Instance& instance, const BestPackByPackParams& params) {
  SearchedCoschedule result;
  result.coschedule =
      without_deadline([&] { return pack_by_pack(instance, {params.first_epsilon}); });
  const ScopedDeadlineExtension grace(params.start_seconds);
  double best_epsilon = params.first_epsilon;  // ties: the lowest
  result.is_complete = finishes_within(std::nullopt, [&] {
    for (const double epsilon : nine_epsilons()) {
      if (epsilon == params.first_epsilon) continue;
      Coschedule candidate = pack_by_pack(instance, {epsilon});
      const double best = result.coschedule.cost;
      if (candidate.cost > best || (candidate.cost == best && epsilon > best_epsilon)) continue;
      result.coschedule = std::move(candidate);
      best_epsilon = epsilon;
    }
  });
  return result;
}

}  // namespace cosched::packs::heuristic
