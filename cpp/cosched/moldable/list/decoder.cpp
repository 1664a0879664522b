#include "cosched/moldable/list/decoder.hpp"

#include <algorithm>
#include <utility>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::moldable::list {
namespace {

bool fits_beside(const Sharing& sharing, const std::vector<Run>& running, const Run& run) {
  for (int r = 0; r < sharing.resources(); ++r) {
    double sum = sharing.need(r, run.task, run.procs);
    for (const Run& other : running) sum += sharing.need(r, other.task, other.procs);
    if (!leq(sum, sharing.capacity(r))) return false;
  }
  return true;
}

}  // namespace

std::vector<Choice> fitting_counts(const Instance& instance, int i) {
  return choices(*instance.sharing(), i, instance.useful_machines(),
                 [&](int q) { return instance.given(i, q); });
}

Allotment fitting(const Instance& instance, const Allotment& procs) {
  return instance.sharing() == nullptr ? procs : Decoder(instance).fitting(procs);
}

Decoder::Decoder(const Instance& instance)
    : instance_(instance), sharing_(*instance.sharing()), running_(instance.sharing()) {
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
  if (!fits_beside(sharing_, running_.set(), run)) return false;
  if (!list.prices.empty() && running_.size() > 0) {
    std::vector<Run> with = running_.set();
    const double before = worth(with, list.prices);
    with.push_back(run);
    return worth(with, list.prices) > before;
  }
  const double theta = list.theta;
  if (theta <= 0) return true;
  for (const Run& other : running_.set()) {
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
  Placement placement = unplaced(instance_.jobs());
  waiting_ = list.order;
  running_.clear();
  int free = instance_.machines();
  for (double now = 0;;) {
    double next_release = kInfinity;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
      const int i = waiting_[k], q = list.procs[i];
      const Run run{i, q, instance_.given(i, q)};
      const double release = instance_.release(i);
      if (release > now) next_release = std::min(next_release, release);
      if (release <= now && q <= free && may_start(run, list)) {
        running_.start(run, now);
        placement.procs[i] = q;
        placement.start[i] = now;
        free -= q;
        operations_ += 8 * running_.size();
      } else {
        waiting_[kept++] = i;
      }
    }
    operations_ += 4 * static_cast<std::int64_t>(waiting_.size());
    waiting_.resize(kept);
    if (running_.size() == 0 && waiting_.empty()) return placement;
    const double next = running_.next_end();
    if (next_release < next) {
      now = next_release;
      continue;
    }
    for (const Running::Ended& ended : running_.finish()) {
      placement.end[ended.task] = ended.end;
      free += list.procs[ended.task];
      now = std::max(now, ended.end);
    }
  }
}

// What starts now, on top of what runs.
Placement Decoder::greedy(const std::vector<double>& prices) {
  const int n = instance_.jobs();
  Placement placement = unplaced(n);
  std::vector<char> waits(n, 1);
  int left = n, free = instance_.machines();
  running_.clear();
  for (double now = 0; left > 0 || running_.size() > 0;) {
    check_interrupt();
    std::vector<Run> set = running_.set();
    const std::size_t before = set.size();
    double value = worth(set, prices), next_release = kInfinity;
    for (;;) {
      double most = set.empty() ? -1 : 0, gained = 0;  // rather one of no worth than nobody
      Run best;
      std::size_t place = 0;
      for (int i = 0; i < n; ++i) {
        if (!waits[i]) continue;
        if (instance_.release(i) > now) {
          next_release = std::min(next_release, instance_.release(i));
          continue;
        }
        std::size_t at = before;
        while (at < set.size() && set[at].task != i) ++at;
        const int has = at < set.size() ? set[at].procs : 0;
        for (const Choice& c : counts_[i]) {
          if (c.procs <= has) continue;
          if (c.procs - has > free) break;
          std::vector<Run> with = set;
          if (has > 0)
            with[at] = {i, c.procs, c.time};
          else
            with.push_back({i, c.procs, c.time});
          operations_ += 4 * static_cast<std::int64_t>(with.size() * with.size());
          if (!sharing_.fits(with)) continue;
          const double gain = worth(with, prices) - value;
          if (gain / (c.procs - has) <= most) continue;
          most = gain / (c.procs - has);
          gained = gain;
          best = {i, c.procs, c.time};
          place = at;
        }
      }
      if (best.procs == 0) break;
      value += gained;
      free -= best.procs - (place < set.size() ? set[place].procs : 0);
      if (place < set.size())
        set[place] = best;
      else
        set.push_back(best);
    }
    for (std::size_t k = before; k < set.size(); ++k) {
      running_.start(set[k], now);
      placement.procs[set[k].task] = set[k].procs;
      placement.start[set[k].task] = now;
      waits[set[k].task] = 0;
      --left;
    }
    if (next_release < running_.next_end()) {
      now = next_release;
      continue;
    }
    for (const Running::Ended& ended : running_.finish()) {
      placement.end[ended.task] = ended.end;
      free += placement.procs[ended.task];
      now = std::max(now, ended.end);
    }
  }
  return placement;
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
    for (auto u = schedule.unit_begin[row[job]]; u < schedule.unit_begin[row[job] + 1]; ++u)
      if (queue[schedule.unit[u]].back() != job) return false;
    return true;
  };
  Placement made = unplaced(placement.jobs());
  Running running(instance.sharing());
  std::vector<int> waiting = order;
  std::vector<char> started(placement.jobs(), 0);
  for (double now = 0; !waiting.empty() || running.size() > 0;) {
    check_interrupt();
    double next = kInfinity;
    std::vector<int> left;
    for (const int i : waiting) {
      const Run run{i, placement.procs[i], instance.given(i, placement.procs[i])};
      const bool ready = instance.release(i) <= now && first_everywhere(i);
      if (instance.release(i) > now) next = std::min(next, instance.release(i));
      if (ready && fits_beside(*instance.sharing(), running.set(), run)) {
        running.start(run, now);
        made.procs[i] = run.procs;
        made.start[i] = now;
      } else {
        left.push_back(i);
      }
    }
    waiting = std::move(left);
    if (next < running.next_end()) {
      now = next;
      continue;
    }
    for (const Running::Ended& ended : running.finish()) {
      made.end[ended.task] = ended.end;
      now = std::max(now, ended.end);
      for (auto u = schedule.unit_begin[row[ended.task]];
           u < schedule.unit_begin[row[ended.task] + 1]; ++u)
        queue[schedule.unit[u]].pop_back();
    }
  }
  return made;
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
