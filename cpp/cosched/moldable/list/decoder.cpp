#include "cosched/moldable/list/decoder.hpp"

#include "cosched/core/interrupt.hpp"

namespace cosched::moldable::list {

void Making::begin() {
  running_.clear();
  now_ = 0;
  free_ = it_.machines();
  placement_ = unplaced(it_.jobs());
}

bool Making::fits(const Run& run) const {
  if (run.procs > free_) return false;
  const Sharing& sharing = *it_.sharing();
  for (int r = 0; r < sharing.resources(); ++r) {
    double sum = sharing.need(r, run.task, run.procs);
    for (const Run& other : set()) sum += sharing.need(r, other.task, other.procs);
    if (!leq(sum, sharing.capacity(r))) return false;
  }
  return true;
}

void Making::start(const Run& run) {
  running_.start(run, now_);
  free_ -= run.procs;
  placement_.procs[run.task] = run.procs;
  placement_.start[run.task] = now_;
}

const std::vector<Running::Ended>& Making::advance(double release) {
  static const std::vector<Running::Ended> kNobody;
  if (release < running_.next_end()) {
    now_ = release;
    return kNobody;
  }
  const std::vector<Running::Ended>& ended = running_.finish();
  for (const auto& [job, end] : ended) {
    placement_.end[job] = end;
    free_ += placement_.procs[job];
    now_ = std::max(now_, end);
  }
  return ended;
}

std::vector<Choice> fitting_counts(const Instance& instance, int i) {
  return choices(*instance.sharing(), i, instance.useful_machines(),
                 [&](int q) { return instance.given(i, q); });
}

Allotment fitting(const Instance& instance, const Allotment& procs) {
  return instance.sharing() == nullptr ? procs : Decoder(instance).fitting(procs);
}

Decoder::Decoder(const Instance& instance)
    : instance_(instance), sharing_(*instance.sharing()), making_(instance) {
  for (int i = 0; i < instance.jobs(); ++i) counts_.push_back(fitting_counts(instance, i));
}

int Decoder::nearest(int i, int q) const {
  int found = counts_[i].front().procs;
  for (const Choice& choice : counts_[i])
    if (choice.procs <= q) found = choice.procs;
  return found;
}

Allotment Decoder::fitting(Allotment procs) const {
  for (std::size_t i = 0; i < procs.size(); ++i) procs[i] = nearest(static_cast<int>(i), procs[i]);
  return procs;
}

double Decoder::worth(const std::vector<Run>& set, const std::vector<double>& prices) const {
  const std::vector<double> factors = sharing_.factors(set);
  double sum = 0;
  for (std::size_t k = 0; k < set.size(); ++k)
    sum += prices[set[k].task] / (set[k].alone * factors[k]);
  return sum;
}

bool Decoder::may_start(const Run& run, const List& list) const {
  if (!making_.fits(run)) return false;
  if (!list.prices.empty() && !making_.set().empty()) {
    std::vector<Run> with = making_.set();
    const double before = worth(with, list.prices);
    with.push_back(run);
    return worth(with, list.prices) > before;
  }
  const double theta = list.theta;
  if (theta <= 0) return true;
  for (const Run& other : making_.set()) {
    double own = 1 + sharing_.excess(run.task, other.task);
    double others = 1 + sharing_.excess(other.task, run.task);
    if (sharing_.has_bandwidth()) {
      const double over =
          sharing_.load(run.task, run.procs) + sharing_.load(other.task, other.procs) - 1;
      if (over > 0) {
        own = std::max(own, 1 + sharing_.stall(run.task) * over);
        others = std::max(others, 1 + sharing_.stall(other.task) * over);
      }
    }
    if (1 / own + 1 / others < theta) return false;
  }
  return true;
}

Placement Decoder::run(const List& list) {
  waiting_ = list.order;
  for (making_.begin();;) {
    double next_release = kInfinity;
    std::size_t kept = 0;
    for (const int i : waiting_) {
      const Run run = making_.run_of(i, list.procs[i]);
      const bool late = instance_.release(i) > making_.now();
      if (late) next_release = std::min(next_release, instance_.release(i));
      if (!late && may_start(run, list)) {
        making_.start(run);
        operations_ += 8 * static_cast<std::int64_t>(making_.set().size());
      } else {
        waiting_[kept++] = i;
      }
    }
    operations_ += 4 * static_cast<std::int64_t>(waiting_.size());
    waiting_.resize(kept);
    if (making_.set().empty() && waiting_.empty()) return making_.placement();
    making_.advance(next_release);
  }
}

// Of `set`, those from `before` on may become larger; `value`: its worth.
Decoder::Step Decoder::best_step(const std::vector<Run>& set, std::size_t before, double value,
                                 const std::vector<char>& waits,
                                 const std::vector<double>& prices) {
  double most = set.empty() ? -1 : 0;  // rather one of no worth than nobody
  int free = making_.free();
  for (std::size_t k = before; k < set.size(); ++k) free -= set[k].procs;
  Step best;
  for (int i = 0; i < instance_.jobs(); ++i) {
    if (!waits[i] || instance_.release(i) > making_.now()) continue;
    std::size_t at = before;
    while (at < set.size() && set[at].task != i) ++at;
    const int has = at < set.size() ? set[at].procs : 0;
    for (const Choice& c : counts_[i]) {
      if (c.procs <= has) continue;
      if (c.procs - has > free) break;
      std::vector<Run> with = set;
      with.resize(std::max(set.size(), at + 1));
      with[at] = {i, c.procs, c.time};
      operations_ += 4 * static_cast<std::int64_t>(with.size() * with.size());
      if (!sharing_.fits(with)) continue;
      const double gain = worth(with, prices) - value;
      if (gain / (c.procs - has) <= most) continue;
      most = gain / (c.procs - has);
      best = {with[at], at, gain};
    }
  }
  return best;
}

// What starts now, on top of what runs.
Placement Decoder::greedy(const std::vector<double>& prices) {
  std::vector<char> waits(instance_.jobs(), 1);
  int left = instance_.jobs();
  for (making_.begin(); left > 0 || !making_.set().empty();) {
    check_interrupt();
    std::vector<Run> set = making_.set();
    const std::size_t before = set.size();
    double value = worth(set, prices), next_release = kInfinity;
    for (int i = 0; i < instance_.jobs(); ++i)
      if (waits[i] && instance_.release(i) > making_.now())
        next_release = std::min(next_release, instance_.release(i));
    for (;;) {
      const Step step = best_step(set, before, value, waits, prices);
      if (step.run.procs == 0) break;
      value += step.gained;
      set.resize(std::max(set.size(), step.place + 1));
      set[step.place] = step.run;
    }
    for (std::size_t k = before; k < set.size(); ++k) {
      making_.start(set[k]);
      waits[set[k].task] = 0;
      --left;
    }
    making_.advance(next_release);
  }
  return making_.placement();
}

List as_list(const Decoder& decoder, const Placement& placement) {
  return {by_start(placement), decoder.fitting(placement.procs), 0, {}};
}

Placement replayed(const Instance& instance, const Placement& placement) {
  const Schedule schedule = to_schedule(instance, placement);
  const std::vector<int> order = by_start(placement);
  std::vector<std::size_t> row(placement.jobs());
  for (std::size_t r = 0; r < schedule.rows(); ++r) row[schedule.task[r]] = r;
  // Of each unit, the jobs that are still to come on it, in order.
  std::vector<std::vector<int>> queue(instance.machines());
  for (auto job = order.rbegin(); job != order.rend(); ++job)
    for (auto u = schedule.unit_begin[row[*job]]; u < schedule.unit_begin[row[*job] + 1]; ++u)
      queue[schedule.unit[u]].push_back(*job);
  const auto first_everywhere = [&](int job) {
    const int* units = schedule.unit.data();
    return std::all_of(units + schedule.unit_begin[row[job]],
                       units + schedule.unit_begin[row[job] + 1],
                       [&](int unit) { return queue[unit].back() == job; });
  };
  Making making(instance);
  for (std::vector<int> waiting = order; !waiting.empty() || !making.set().empty();) {
    check_interrupt();
    double next = kInfinity;
    std::vector<int> left;
    for (const int i : waiting) {
      const Run run = making.run_of(i, placement.procs[i]);
      const bool late = instance.release(i) > making.now();
      if (late) next = std::min(next, instance.release(i));
      if (!late && first_everywhere(i) && making.fits(run))
        making.start(run);
      else
        left.push_back(i);
    }
    waiting = std::move(left);
    for (const auto& [job, end] : making.advance(next))
      for (auto u = schedule.unit_begin[row[job]]; u < schedule.unit_begin[row[job] + 1]; ++u)
        queue[schedule.unit[u]].pop_back();
  }
  return making.placement();
}

double makespan_if_constant(const Instance& instance, const Placement& placement) {
  double longest = 0;
  std::vector<double> greatest(placement.jobs(), 1);
  for (int at = 0; at < placement.jobs(); ++at) {  // sets grow at starts alone
    std::vector<Run> set;
    for (int i = 0; i < placement.jobs(); ++i)
      if (placement.start[i] <= placement.start[at] && placement.end[i] > placement.start[at])
        set.push_back({i, placement.procs[i], instance.given(i, placement.procs[i])});
    const std::vector<double> factors = instance.sharing()->factors(set);
    for (std::size_t k = 0; k < set.size(); ++k)
      greatest[set[k].task] = std::max(greatest[set[k].task], factors[k]);
  }
  for (int i = 0; i < placement.jobs(); ++i)
    longest =
        std::max(longest, placement.start[i] + instance.given(i, placement.procs[i]) * greatest[i]);
  return longest;
}

}  // namespace cosched::moldable::list
