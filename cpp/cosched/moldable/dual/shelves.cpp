#include "cosched/moldable/dual/shelves.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/order.hpp"
#include "cosched/opt/knapsack.hpp"

namespace cosched::moldable::dual {
namespace {

// Jobs that may go to either shelf.
struct ShelfOptions {
  std::vector<int> job, procs;  // gamma(d)
  std::vector<double> saving;   // S(d/2) - S(d), >= 0
};

// --- transformations ------------------------------------------------------------------------

// A shelf-0 pile: `jobs` one after another, the first on `procs` processors, the second on one.
struct Pile {
  int procs;
  std::vector<int> jobs;
};

struct ShelfJob {
  int job, procs;
  double time;
};

bool is_longer(const ShelfJob& a, const ShelfJob& b) {
  return a.time != b.time ? a.time > b.time : a.job < b.job;
}

// Small jobs, longest first, each to the processor with the least load in all.
void fill_gaps(const Instance& instance, const std::vector<int>& small, std::vector<double>& front,
               const std::vector<double>& load, Placement& placement) {
  using Load = std::pair<double, int>;  // (load, processor): least first, ties to the lowest
  std::vector<Load> loads;
  for (std::size_t p = 0; p < load.size(); ++p) loads.emplace_back(load[p], static_cast<int>(p));
  std::priority_queue<Load, std::vector<Load>, std::greater<>> queue(std::greater<>{},
                                                                     std::move(loads));
  for (const int i : small) {
    const auto [least, p] = queue.top();
    queue.pop();
    place(instance, placement, i, 1, front[p]);
    front[p] = placement.end[i];
    queue.emplace(least + instance.time(i, 1), p);
  }
}

class ShelfTransformation {
 public:
  ShelfTransformation(const Instance& instance, const ShelfSplit& split)
      : instance_(instance), guess_(split.length) {
    for (const int i : split.shelf1) shelf1_.push_back(make_job(i, instance_.gamma(i, guess_)));
    for (const int i : split.shelf2) shelf2_.push_back(make_job(i, instance_.gamma(i, guess_ / 2)));
    for (const int i : split.shelf2)
      shelf2_relaxed_.push_back(make_job(i, instance_.gamma(i, 1.5 * guess_)));
    sort_shelf2();
  }

  // T1 to T4; false where shelf 2 does not fit.
  bool transform() {
    apply_t1_to_t3();
    if (can_fit_shelf2()) return true;
    if (!apply_t4()) return false;
    apply_t1_to_t3();
    return can_fit_shelf2();
  }

  ShelfSchedule build_schedule(const std::vector<int>& small) {
    // Processors: the piles first, then shelf 1 from its longest to its shortest job, then the
    // idle. Shelf 2 lies on the same processors, its shortest jobs on the longest of shelf 1.
    std::stable_sort(shelf1_.begin(), shelf1_.end(), is_longer);
    std::stable_sort(shelf2_.begin(), shelf2_.end(), is_longer);
    const int m = instance_.machines();
    std::vector<double> front(m, 0), load(m, 0);
    ShelfSchedule schedule{empty_placement(instance_.jobs()), {}};
    int p = 0;
    for (const Pile& pile : piles_) {
      double from = 0;
      int procs = pile.procs;
      for (const int i : pile.jobs) {
        place(instance_, schedule.placement, i, procs, from);
        schedule.order.push_back(i);
        from = schedule.placement.end[i];
        for (int u = p; u < p + procs; ++u) front[u] = from;
        procs = 1;
      }
      p += pile.procs;
    }
    for (const ShelfJob& r : shelf1_) {
      place(instance_, schedule.placement, r.job, r.procs, 0);
      schedule.order.push_back(r.job);
      for (int u = p; u < p + r.procs; ++u) front[u] = r.time;
      p += r.procs;
    }
    load = front;
    int top = m;
    for (const ShelfJob& r : shelf2_) {
      for (int u = top - r.procs; u < top; ++u) load[u] += r.time;
      top -= r.procs;
      schedule.order.push_back(r.job);
    }
    fill_gaps(instance_, small, front, load, schedule.placement);
    schedule.order.insert(schedule.order.end(), small.begin(), small.end());
    top = m;
    for (const ShelfJob& r : shelf2_) {
      const double from = *std::max_element(front.begin() + (top - r.procs), front.begin() + top);
      place(instance_, schedule.placement, r.job, r.procs, from);
      top -= r.procs;
    }
    return schedule;
  }

 private:
  ShelfJob make_job(int i, int q) const { return {i, q, instance_.time(i, q)}; }
  bool is_short(const ShelfJob& r) const { return leq(r.time, 0.75 * guess_, kMonotoneTolerance); }
  int shelf0_procs() const { return total_procs(piles_); }
  int shelf1_procs() const { return total_procs(shelf1_); }
  int idle_procs() const { return instance_.machines() - shelf0_procs() - shelf1_procs(); }
  bool can_fit_shelf2() const {
    return shelf0_procs() + total_procs(shelf2_) <= instance_.machines();
  }

  template <class Rows>
  static int total_procs(const Rows& rows) {
    int sum = 0;
    for (const auto& row : rows) sum += row.procs;
    return sum;
  }

  // Shelf 2 in decreasing order of gamma(3d/2): T3 takes from the end.
  void sort_shelf2() {
    std::vector<int> order = sorted_numbers(shelf2_.size(), [&](int a, int b) {
      if (shelf2_relaxed_[a].procs != shelf2_relaxed_[b].procs)
        return shelf2_relaxed_[a].procs > shelf2_relaxed_[b].procs;
      return shelf2_relaxed_[a].job > shelf2_relaxed_[b].job;
    });
    std::vector<ShelfJob> sorted2, sorted_relaxed;
    for (const int k : order) {
      sorted2.push_back(shelf2_[k]);
      sorted_relaxed.push_back(shelf2_relaxed_[k]);
    }
    shelf2_.swap(sorted2);
    shelf2_relaxed_.swap(sorted_relaxed);
  }

  void apply_t1_to_t3() {
    bool changed = true;
    while (changed) {
      changed = apply_t1();
      changed = apply_t2() || changed;
      changed = apply_t3() || changed;
    }
  }

  // T1
  bool apply_t1() {
    std::vector<ShelfJob> remaining_jobs;
    for (const ShelfJob& r : shelf1_) {
      if (r.procs > 1 && is_short(r) &&
          leq(instance_.time(r.job, r.procs - 1), 1.5 * guess_, kMonotoneTolerance))
        piles_.push_back({r.procs - 1, {r.job}});
      else
        remaining_jobs.push_back(r);
    }
    const bool changed = remaining_jobs.size() < shelf1_.size();
    shelf1_.swap(remaining_jobs);
    return changed;
  }

  // T2
  bool apply_t2() {
    std::vector<ShelfJob> remaining_jobs, short_jobs;
    for (const ShelfJob& r : shelf1_) {
      if (r.procs == 1 && is_short(r))
        short_jobs.push_back(r);
      else
        remaining_jobs.push_back(r);
    }
    if (short_jobs.size() < 2) return false;
    for (std::size_t k = 0; k + 1 < short_jobs.size(); k += 2)
      piles_.push_back({1, {short_jobs[k].job, short_jobs[k + 1].job}});
    if (short_jobs.size() % 2 == 1) remaining_jobs.push_back(short_jobs.back());
    shelf1_.swap(remaining_jobs);
    return true;
  }

  // T3
  bool apply_t3() {
    int spare_procs = idle_procs();
    bool changed = false;
    while (!shelf2_.empty() && shelf2_relaxed_.back().procs <= spare_procs) {
      const ShelfJob r = shelf2_relaxed_.back();
      if (r.time > guess_)
        piles_.push_back({r.procs, {r.job}});
      else
        shelf1_.push_back(r);
      spare_procs -= r.procs;
      shelf2_.pop_back();
      shelf2_relaxed_.pop_back();
      changed = true;
    }
    return changed;
  }

  // T4
  bool apply_t4() {
    const auto short_position =
        std::find_if(shelf1_.begin(), shelf1_.end(),
                     [&](const ShelfJob& r) { return r.procs == 1 && is_short(r); });
    if (short_position == shelf1_.end()) return false;
    const int short_job = short_position->job;
    const double room = 1.5 * guess_ - short_position->time;
    // The shortest such j: the pile ends earliest.
    auto base_job = shelf1_.end();
    for (auto position = shelf1_.begin(); position != shelf1_.end(); ++position)
      if (position != short_position && leq(position->time, room, kMonotoneTolerance) &&
          (base_job == shelf1_.end() || position->time < base_job->time))
        base_job = position;
    if (base_job == shelf1_.end()) return false;
    const int base = base_job->job;
    piles_.push_back({base_job->procs, {base, short_job}});
    const auto is_stacked = [&](const ShelfJob& r) { return r.job == base || r.job == short_job; };
    shelf1_.erase(std::remove_if(shelf1_.begin(), shelf1_.end(), is_stacked), shelf1_.end());
    return true;
  }

  const Instance& instance_;
  double guess_;
  std::vector<Pile> piles_;
  std::vector<ShelfJob> shelf1_, shelf2_;
  std::vector<ShelfJob> shelf2_relaxed_;  // shelf2_[k] on gamma(3d/2) processors; decreasing procs
};

// Jobs that both shelves can take, put where the work is least; false: shelf 1 overflows.
bool split_optional_jobs(const Instance& instance, const ShelfOptions& choices, int forced,
                         ShelfSplit& split, double& work) {
  const int free_procs = instance.machines() - forced;
  if (free_procs < 0) return false;
  const std::vector<int> first = opt::knapsack(choices.saving, choices.procs, free_procs);
  std::size_t next = 0;
  for (std::size_t k = 0; k < choices.job.size(); ++k) {
    if (next < first.size() && first[next] == static_cast<int>(k)) {
      split.shelf1.push_back(choices.job[k]);
      work -= choices.saving[k];
      ++next;
    } else {
      split.shelf2.push_back(choices.job[k]);
    }
  }
  return true;
}

}  // namespace

std::optional<ShelfSplit> split_jobs(const Instance& instance, double d) {
  ShelfSplit split{d, {}, {}, {}};
  ShelfOptions choices;
  double work = 0;  // with every free job in shelf 2
  int forced = 0;
  const double limit = instance.machines() * d * (1 + kExactTolerance);
  constexpr std::int64_t kPollStepsPerJob = 200;  // a nanosecond each; several bisections
  Poll poll;
  for (int i = 0; i < instance.jobs(); ++i) {
    poll.count(kPollStepsPerJob);
    if (instance.time(i, 1) <= d / 2) {
      split.small.push_back(i);
      work += instance.work(i, instance.cheapest_procs_from(i, 1));
      continue;
    }
    const int q1 = instance.gamma(i, d);
    if (q1 == 0) return std::nullopt;
    const int q2 = instance.gamma(i, d / 2);
    const double work1 = instance.work(i, instance.cheapest_procs_from(i, q1));
    if (q2 == 0) {
      split.shelf1.push_back(i);
      work += work1;
      forced += q1;
      if (forced > instance.machines()) return std::nullopt;
      continue;
    }
    const double work2 = instance.work(i, instance.cheapest_procs_from(i, q2));
    work += work2;
    choices.job.push_back(i);
    choices.procs.push_back(q1);
    choices.saving.push_back(std::max(work2 - work1, 0.0));
    // With property (2), more than 2m jobs of more than d/2 each are too much work already.
    if (instance.has_monotone_work() &&
        static_cast<std::int64_t>(choices.job.size()) > 2LL * instance.machines())
      return std::nullopt;
  }
  if (!split_optional_jobs(instance, choices, forced, split, work)) return std::nullopt;
  if (work > limit) return std::nullopt;
  std::stable_sort(split.small.begin(), split.small.end(),
                   [&](int a, int b) { return instance.time(a, 1) > instance.time(b, 1); });
  return split;
}

std::optional<ShelfSchedule> build_shelves(const Instance& instance, const ShelfSplit& split) {
  ShelfTransformation shelves(instance, split);
  if (!shelves.transform()) return std::nullopt;
  return shelves.build_schedule(split.small);
}

}  // namespace cosched::moldable::dual
