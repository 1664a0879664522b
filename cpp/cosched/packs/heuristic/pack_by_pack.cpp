#include "cosched/packs/heuristic/pack_by_pack.hpp"

#include "cosched/packs/heuristic/one_pack.hpp"

namespace cosched::packs::heuristic {
namespace {

struct Entry {
  double time;
  int task;
};

// Order of the paper's list L: decreasing time, ties by number.
bool before(const Entry& a, const Entry& b) {
  return a.time > b.time || (a.time == b.time && a.task < b.task);
}

std::vector<Entry> sorted_entries(const Times& times) {
  std::vector<Entry> entries(times.tasks());
  for (int i = 0; i < times.tasks(); ++i) entries[i] = {times(i, times.fewest(i)), i};
  std::sort(entries.begin(), entries.end(), before);
  return entries;
}

// One run of the heuristic.  L is kept in two parts: V, the tasks close to the longest, sorted;
// and the rest, a heap.  V asks for fewer than p processors until a pack is made of it, so it
// stays short, and a task that gets a processor returns to its place in V or to the heap.
class Run {
 public:
  Run(const Instance& instance, const std::vector<Entry>& list, double epsilon, PackChoice choice)
      : instance_(instance), keep_(1 - epsilon), choice_(choice), rest_(list) {
    for (int i = 0; i < instance.tasks(); ++i) sigma_.push_back(instance.times().fewest(i));
  }

  Packs packs() {
    for (std::int64_t steps = 0;; ++steps) {
      if (steps % 16384 == 0) check_interrupt();
      extend();
      if (head_ == v_.size()) return std::move(packs_);
      if (asked_ < instance_.procs())
        widen_first();
      else if (choice_ == PackChoice::kIdle)
        make_pack_of(least_idle(candidates(), instance_.procs(), instance_.max_tasks()));
      else
        make_pack();
    }
  }

 private:
  static bool after(const Entry& a, const Entry& b) { return before(b, a); }  // heap order

  // V = { i : t_i(sigma_i) >= (1 - epsilon) t_1(sigma_1) }, T1 the longest.
  void extend() {
    if (head_ == v_.size() && rest_.empty()) return;
    const double longest = head_ == v_.size() ? rest_.front().time : v_[head_].time;
    threshold_ = keep_ * longest;
    while (!rest_.empty() && rest_.front().time >= threshold_) {
      std::pop_heap(rest_.begin(), rest_.end(), after);
      v_.push_back(rest_.back());
      asked_ += sigma_[rest_.back().task];
      rest_.pop_back();
    }
  }

  // A new pack from V in order, up to the first task that does not fit.
  void make_pack() {
    std::vector<int> pack;
    int free = instance_.procs();
    while (head_ < v_.size() && static_cast<int>(pack.size()) < instance_.max_tasks()) {
      const int task = v_[head_].task;
      if (sigma_[task] > free) break;
      free -= sigma_[task];
      asked_ -= sigma_[task];
      pack.push_back(task);
      ++head_;
    }
    packs_.push_back(std::move(pack));
    v_.erase(v_.begin(), v_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> found;
    for (std::size_t k = head_; k < v_.size(); ++k) {
      const int sigma = sigma_[v_[k].task];
      found.push_back({sigma, sigma * v_[k].time});
    }
    return found;
  }

  // A new pack of these places of V, ascending.
  void make_pack_of(const std::vector<int>& places) {
    std::vector<int> pack;
    std::vector<Entry> left;
    auto next = places.begin();
    for (std::size_t k = head_; k < v_.size(); ++k) {
      if (next == places.end() || static_cast<std::size_t>(*next) != k - head_) {
        left.push_back(v_[k]);
        continue;
      }
      pack.push_back(v_[k].task);
      asked_ -= sigma_[v_[k].task];
      ++next;
    }
    packs_.push_back(std::move(pack));
    v_ = std::move(left);
    head_ = 0;
  }

  // T1 gets one more processor and goes back into L by its new time.
  void widen_first() {
    const int task = v_[head_].task;
    const int sigma = ++sigma_[task];
    const Entry entry{instance_.times()(task, sigma), task};
    if (entry.time >= threshold_) {
      ++asked_;
      std::size_t place = head_;
      for (; place + 1 < v_.size() && before(v_[place + 1], entry); ++place)
        v_[place] = v_[place + 1];
      v_[place] = entry;
    } else {
      asked_ -= sigma - 1;
      ++head_;
      rest_.push_back(entry);
      std::push_heap(rest_.begin(), rest_.end(), after);
    }
  }

  const Instance& instance_;
  double keep_;
  PackChoice choice_;
  std::vector<int> sigma_;
  std::vector<Entry> rest_;  // heap; the list sorted by `before` is one
  std::vector<Entry> v_;     // V = v_[head_..], sorted
  std::size_t head_ = 0;
  int asked_ = 0;  // P = sum of sigma over V
  double threshold_ = 0;
  Packs packs_;
};

void require_epsilons(const std::vector<double>& epsilons) {
  if (epsilons.empty()) throw InvalidInstance("epsilons is empty: expected at least one value");
  for (std::size_t k = 0; k < epsilons.size(); ++k)
    if (!(epsilons[k] >= 0 && epsilons[k] < 1))
      throw InvalidInstance("epsilons[" + std::to_string(k) + "] = " + to_text(epsilons[k]) +
                            ": expected a number in [0, 1)");
}

std::vector<int> in_order(const Packs& packs) {
  std::vector<int> order;
  for (const auto& pack : packs) order.insert(order.end(), pack.begin(), pack.end());
  return order;
}

constexpr double kFirstEpsilon = 0.5;
constexpr double kStartSeconds = 0.5;

constexpr double kSlacks[] = {0, 0.1, 0.3, 0.8};
constexpr int kMostRefused = 200;  // tasks that a pack looks at in vain

class LongestFirst {
 public:
  explicit LongestFirst(const Instance& instance) : instance_(instance), order_(instance.tasks()) {
    const Times& times = instance.times();
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return times.least(a) > times.least(b); });
  }

  Packs packs(double slack) {
    Packs packs;
    std::vector<char> packed(order_.size(), 0);
    for (std::size_t first = 0; first < order_.size(); ++first) {
      if (packed[order_[first]]) continue;
      packs.push_back(pack(first, instance_.times().least(order_[first]) * (1 + slack), packed));
    }
    return packs;
  }

 private:
  std::vector<int> pack(std::size_t first, double length, std::vector<char>& packed) {
    std::vector<int> tasks;
    int left = instance_.procs(), places = instance_.max_tasks(), refused = 0;
    for (std::size_t at = first; at < order_.size() && places > 0 && refused < kMostRefused; ++at) {
      const int task = order_[at];
      if (packed[task]) continue;
      const int need = fewest_within(instance_.times(), task, length);
      poll_.count(50);
      if (need > left - (tasks.empty() ? 0 : places - 1)) {
        ++refused;
        continue;
      }
      packed[task] = 1;
      left -= need;
      --places;
      tasks.push_back(task);
      if (left < places) places = left;
    }
    std::sort(tasks.begin(), tasks.end());
    return tasks;
  }

  const Instance& instance_;
  std::vector<int> order_;
  Poll poll_;
};

}  // namespace

std::vector<double> nine_epsilons() { return {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}; }

Coschedule pack_by_pack(const Instance& instance, const std::vector<double>& epsilons,
                        PackChoice choice) {
  require_epsilons(epsilons);
  const std::vector<Entry> list = sorted_entries(instance.times());
  CandidateCosts costs(instance.times());
  Packs best_packs;
  double best = kInfinity;
  for (const double epsilon : epsilons) {
    Packs packs = Run(instance, list, epsilon, choice).packs();
    if (choice == PackChoice::kCuts) packs = best_cuts(instance, in_order(packs));
    const double candidate = costs.optimal(packs);
    if (candidate < best) {
      best = candidate;
      best_packs = std::move(packs);
    }
    check_interrupt();
  }
  return with_optimal_procs(instance.times(), best_packs);
}

SearchResult best_pack_by_pack(const Instance& instance) {
  SearchResult found;
  found.coschedule = without_deadline([&] { return pack_by_pack(instance, {kFirstEpsilon}); });
  const ScopedDeadlineExtension grace(kStartSeconds);
  double from = kFirstEpsilon;  // ties: the lowest
  found.complete = finishes_within(std::nullopt, [&] {
    for (const double epsilon : nine_epsilons()) {
      if (epsilon == kFirstEpsilon) continue;
      Coschedule candidate = pack_by_pack(instance, {epsilon});
      const double best = found.coschedule.cost;
      if (candidate.cost > best || (candidate.cost == best && epsilon > from)) continue;
      found.coschedule = std::move(candidate);
      from = epsilon;
    }
  });
  return found;
}

Coschedule longest_first(const Instance& instance) {
  LongestFirst heuristic(instance);
  CandidateCosts costs(instance.times());
  Packs best;
  double least = kInfinity;
  for (const double slack : kSlacks) {
    Packs packs = heuristic.packs(slack);
    const double cost = costs.optimal(packs);
    if (cost < least) {
      least = cost;
      best = std::move(packs);
    }
  }
  return with_optimal_procs(instance.times(), best);
}

namespace {

constexpr double kMostBits = 8589934592;  // 2^33: a GB
constexpr double kMostCells = 67108864;   // 2^26: half a GB of numbers

// Ascending places, the first left out: of each width the largest works that fit together.
std::vector<int> worth_a_look(const std::vector<Candidate>& candidates, int procs, int max_tasks) {
  std::vector<int> order(candidates.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Candidate &x = candidates[a], &y = candidates[b];
    return x.procs != y.procs ? x.procs < y.procs : x.work > y.work;
  });
  std::vector<int> chosen;
  int width = 0, left = 0;
  for (const int place : order) {
    if (candidates[place].procs > procs) break;
    if (candidates[place].procs != width) {
      width = candidates[place].procs;
      left = std::min(max_tasks, procs / width);
    }
    if (left-- > 0) chosen.push_back(place);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Most work of the candidates from a place on, by processors and tasks that are left.
class MostWork {
 public:
  // Counts of tasks need no table where processors limit them already.
  MostWork(const std::vector<Candidate>& candidates, std::vector<int> places, int procs, int count)
      : candidates_(candidates),
        places_(std::move(places)),
        procs_(procs),
        counts_(count >= procs ? 0 : count) {
    const double cells = (counts_ + 1.0) * (procs + 1.0);
    if (cells * std::max(1.0, static_cast<double>(places_.size())) > kMostBits ||
        cells > kMostCells)
      throw InvalidInstance("p = " + std::to_string(procs) + ", k = " + std::to_string(count) +
                            ": too many for a choice by idle time, expected at most 2^33 states of "
                            "at most 2^26 counts");
    most_.assign(static_cast<std::size_t>(cells), 0.0);
    takes_.assign(places_.size(), std::vector<bool>(most_.size()));
    for (int i = static_cast<int>(places_.size()) - 1; i >= 0; --i) {
      step(i);
      check_interrupt();
    }
  }

  std::vector<int> chosen() const {
    std::vector<int> found{0};
    int count = counts_, free = procs_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!takes_[i][cell(count, free)]) continue;
      found.push_back(places_[i]);
      free -= candidates_[places_[i]].procs;
      if (counts_ > 0) --count;
    }
    return found;
  }

 private:
  std::size_t cell(int count, int free) const {
    return static_cast<std::size_t>(count) * (procs_ + 1) + free;
  }

  // Cells only look at those with fewer processors (and tasks), so one table does.
  void step(int i) {
    const auto [width, work] = candidates_[places_[i]];
    for (int count = counts_; count >= (counts_ > 0 ? 1 : 0); --count)
      for (int free = procs_; free >= width; --free) {
        const double with = work + most_[cell(counts_ > 0 ? count - 1 : 0, free - width)];
        double& without = most_[cell(count, free)];
        if (with < without) continue;  // ties: the task that comes first
        without = with;
        takes_[i][cell(count, free)] = true;
      }
  }

  const std::vector<Candidate>& candidates_;
  std::vector<int> places_;
  int procs_, counts_;
  std::vector<double> most_;
  std::vector<std::vector<bool>> takes_;
};

}  // namespace

std::vector<int> least_idle(const std::vector<Candidate>& candidates, int procs, int max_tasks) {
  const int free = procs - candidates.front().procs;
  if (max_tasks == 1 || free == 0) return {0};
  return MostWork(candidates, worth_a_look(candidates, free, max_tasks - 1), free, max_tasks - 1)
      .chosen();
}

Packs best_cuts(const Instance& instance, const std::vector<int>& order) {
  const int n = static_cast<int>(order.size());
  OnePackSolver solver(instance.times());
  std::vector<double> cost(n + 1, kInfinity);  // of the first j tasks
  std::vector<int> begin(n + 1, 0);            // of the last pack among them
  cost[0] = 0;
  for (int j = 1; j <= n; ++j) {
    for (int i = j - 1; i >= 0 && j - i <= instance.max_tasks(); --i) {
      const double last = solver.solve(order.data() + i, j - i, instance.procs());
      if (last == kInfinity) break;  // more tasks need more processors still
      if (cost[i] + last >= cost[j]) continue;
      cost[j] = cost[i] + last;
      begin[j] = i;
    }
    check_interrupt();
  }
  Packs packs;
  for (int j = n; j > 0; j = begin[j]) {
    packs.emplace_back(order.begin() + begin[j], order.begin() + j);
    std::sort(packs.back().begin(), packs.back().end());
  }
  std::reverse(packs.begin(), packs.end());
  return packs;
}

}  // namespace cosched::packs::heuristic
