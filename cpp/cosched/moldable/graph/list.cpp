#include "cosched/moldable/graph/list.hpp"

#include <map>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::moldable::graph {
namespace {

// Jobs of one vector of needs: the next to start is on top.
using Waiting = std::priority_queue<std::pair<double, int>>;  // (rank, -job)

class ListRun {
 public:
  ListRun(const Instance& instance, const Choices& choices, const Chosen& chosen,
          const std::vector<double>& rank)
      : it_(instance),
        graph_(instance),
        choices_(choices),
        chosen_(chosen),
        rank_(rank),
        free_(choices.measures(), 1.0),
        made_(unplaced(instance.jobs())) {
    for (int i = 0; i < it_.jobs(); ++i) open_.push_back(graph_->predecessors(i).size());
  }

  Placement run() {
    for (int i = 0; i < it_.jobs(); ++i)
      if (open_[i] == 0) admit(i, 0);
    start_all(0);
    while (!events_.empty()) {
      check_interrupt();
      const double now = events_.top().first;
      while (!events_.empty() && events_.top().first <= now) {
        const int event = events_.top().second;
        events_.pop();
        event >= 0 ? end(event, now) : admit(-1 - event, now);
      }
      start_all(now);
    }
    require_progress(waiting_.empty(), "list schedule");
    return std::move(made_);
  }

 private:
  const Choice& choice(int i) const { return choices_[i][chosen_[i]]; }

  void admit(int i, double now) {
    if (it_.release(i) > now)
      events_.emplace(it_.release(i), -1 - i);
    else
      waiting_[choice(i).share].emplace(rank_[i], -i);
  }

  void end(int i, double now) {
    for (std::size_t r = 0; r < free_.size(); ++r) free_[r] += choice(i).share[r];
    busy_ -= choice(i).procs;
    for (const int k : graph_->successors(i))
      if (--open_[k] == 0) admit(k, now);
  }

  bool fits(const std::vector<double>& share, int procs) const {
    if (procs > it_.machines() - busy_) return false;
    for (std::size_t r = 1; r < share.size(); ++r)
      if (share[r] > free_[r] + kExactTolerance) return false;
    return true;
  }

  void start_all(double now) {
    for (;;) {
      auto best = waiting_.end();
      for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        if (best != waiting_.end() && at->second.top() < best->second.top()) continue;
        if (fits(at->first, choice(-at->second.top().second).procs)) best = at;
      }
      if (best == waiting_.end()) return;
      const int i = -best->second.top().second;
      best->second.pop();
      for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= choice(i).share[r];
      busy_ += choice(i).procs;
      put(made_, i, choice(i), now);
      events_.emplace(made_.end[i], i);
      if (best->second.empty()) waiting_.erase(best);
    }
  }

  const Instance& it_;
  const Precedence graph_;
  const Choices& choices_;
  const Chosen& chosen_;
  const std::vector<double>& rank_;
  std::vector<double> free_;
  int busy_ = 0;
  std::vector<int> open_;
  std::map<std::vector<double>, Waiting> waiting_;
  using Event = std::pair<double, int>;  // an end, or -1 - job: a release
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Placement made_;
};

// See round_work_path.
double ratio_of(int m, int mu, double a, double b, double cut) {
  const double path = std::max(a * (m - mu), std::max(cut * m / mu, a) * (m - 2 * mu + 1));
  return (b * m + path) / (m - mu + 1);
}

// Each job on the fastest of at most `most` processors; whether every job that changes has exactly
// as many.
bool cut(const Choices& choices, Chosen& chosen, int most) {
  bool exact = true;
  for (int i = 0; i < choices.jobs(); ++i) {
    if (choices[i][chosen[i]].procs <= most) continue;
    chosen[i] = choices.within(i, most);
    exact = exact && choices[i][chosen[i]].procs == most;
  }
  return exact;
}

// Whether each job's counts are consecutive and their work is convex in the time.
bool convex(const Choices& choices) {
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& of = choices[i];
    for (std::size_t k = 1; k < of.size(); ++k) {
      if (of[k].procs != of[k - 1].procs + 1) return false;
      if (k < 2) continue;
      const auto work = [&](std::size_t j) { return of[j].procs * of[j].time; };
      const double slope = (work(k) - work(k - 1)) / (of[k - 1].time - of[k].time);
      const double before = (work(k - 1) - work(k - 2)) / (of[k - 2].time - of[k - 1].time);
      if (slope < before * (1 - kExactTolerance)) return false;
    }
    if (of.front().procs != 1) return false;
  }
  return true;
}

// Choices on the lower hull of (time, work), by falling time.
std::vector<int> hull_of(const std::vector<Choice>& of) {
  const auto work = [&](int j) { return of[j].procs * of[j].time; };
  std::vector<int> hull;
  for (int k = 0; k < static_cast<int>(of.size()); ++k) {
    if (!hull.empty() && of[k].time >= of[hull.back()].time) continue;
    while (!hull.empty() && work(k) <= work(hull.back())) hull.pop_back();
    while (hull.size() >= 2) {
      const int a = hull[hull.size() - 2], b = hull.back();
      if ((work(b) - work(a)) * (of[a].time - of[k].time) <
          (work(k) - work(a)) * (of[a].time - of[b].time))
        break;
      hull.pop_back();
    }
    hull.push_back(k);
  }
  return hull;
}

}  // namespace

bool guaranteed(const Instance& instance) {
  return instance.useful_machines() <= kMostCounts && instance.monotone_work() &&
         !instance.sharing() && !instance.has_releases();
}

Placement list_schedule(const Instance& instance, const Choices& choices, const Chosen& chosen,
                        const std::vector<double>& rank) {
  return ListRun(instance, choices, chosen, rank).run();
}

Placement list_schedule(const Instance& instance, const Choices& choices, const Chosen& chosen) {
  const Precedence graph(instance);
  return list_schedule(instance, choices, chosen,
                       bottom_levels(*graph, durations(choices, chosen)));
}

// Between the neighbours on the hull around the time.
Chosen rounded(const Choices& choices, const std::vector<double>& duration, double theta,
               int most) {
  Chosen chosen;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& of = choices[i];
    const std::vector<int> hull = hull_of(of);
    std::size_t slow = 0;
    while (slow + 1 < hull.size() && of[hull[slow + 1]].time >= duration[i]) ++slow;
    int pick = hull[slow];
    if (slow + 1 < hull.size() && duration[i] < of[pick].time) {
      const double fast = of[hull[slow + 1]].time;
      if (duration[i] - fast < theta * (of[pick].time - fast)) pick = hull[slow + 1];
    }
    chosen.push_back(pick);
  }
  cut(choices, chosen, most);
  return chosen;
}

Allotted round_work_path(const Instance& instance, const Choices& choices,
                         const WorkPath& fractional) {
  const int m = instance.machines();
  const bool smooth = convex(choices);
  double best = kInfinity, theta = 0.5;
  int most = m;
  for (int step = 1; step < 100; ++step) {
    const double part = step / 100.0;
    const double a = smooth ? 2 / (1 + part) : 1 / part;
    const double b = smooth ? 2 / (2 - part) : 1 / (1 - part);
    for (int mu = 1; mu <= (m + 1) / 2; ++mu)
      if (const double ratio = ratio_of(m, mu, a, b, smooth ? 1 : b); ratio < best) {
        best = ratio;
        theta = part;
        most = mu;
      }
  }
  Allotted made{rounded(choices, fractional.duration, theta, m), 0};
  if (cut(choices, made.chosen, most) && guaranteed(instance)) made.ratio = best;
  return made;
}

Allotted allot_locally(const Instance& instance, const Choices& choices, double mu) {
  const double delta = (1 - 2 * mu) / (mu * (1 - mu));
  Allotted made;
  double alpha = 1;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& of = choices[i];
    const double enough = delta * of[choices.fastest(i)].time * (1 + kExactTolerance);
    double least = kInfinity;
    int pick = choices.fastest(i);
    for (int k = 0; k < static_cast<int>(of.size()); ++k) {
      const double work = of[k].procs * of[k].time;
      least = std::min(least, work);
      if (of[k].time <= enough && work < of[pick].procs * of[pick].time) pick = k;
    }
    alpha = std::max(alpha, of[pick].procs * of[pick].time / least);
    made.chosen.push_back(pick);
  }
  const bool exact =
      cut(choices, made.chosen, static_cast<int>(std::ceil(mu * instance.machines())));
  if (exact && guaranteed(instance)) made.ratio = (mu * alpha + 1 - 2 * mu) / (mu * (1 - mu));
  return made;
}

Listed list_lp(const Instance& instance) {
  const Choices choices(instance);
  const WorkPath programme = work_and_path(instance);
  const Allotted allotted = round_work_path(instance, choices, programme);
  return {list_schedule(instance, choices, allotted.chosen),
          programme.complete ? allotted.ratio : 0};
}

Listed list_local(const Instance& instance, double mu) {
  const Choices choices(instance);
  const Allotted allotted = allot_locally(instance, choices, mu);
  return {list_schedule(instance, choices, allotted.chosen), allotted.ratio};
}

}  // namespace cosched::moldable::graph
