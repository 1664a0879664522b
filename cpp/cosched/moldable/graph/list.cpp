#include "cosched/moldable/graph/list.hpp"

#include <map>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"

namespace cosched::moldable::graph {
namespace {

// Jobs of one vector of needs: the next to start is on top.
using RankedJobs = std::priority_queue<std::pair<double, int>>;  // (rank, -job)

class GraphListScheduler {
 public:
  GraphListScheduler(const Instance& instance, const JobChoices& choices,
                     const ChoiceNumbers& chosen, const std::vector<double>& rank)
      : instance_(instance),
        graph_(instance),
        choices_(choices),
        choice_numbers_(chosen),
        rank_(rank),
        free_shares_(choices.measures(), 1.0),
        placement_(empty_placement(instance.jobs())) {
    for (int i = 0; i < instance_.jobs(); ++i)
      open_predecessors_.push_back(graph_->predecessors(i).size());
  }

  Placement build_schedule() {
    for (int i = 0; i < instance_.jobs(); ++i)
      if (open_predecessors_[i] == 0) release_job(i, 0);
    start_fitting_jobs(0);
    while (!events_.empty()) {
      check_interrupt();
      const double now = events_.top().first;
      while (!events_.empty() && events_.top().first <= now) {
        const int event = events_.top().second;
        events_.pop();
        event >= 0 ? end_job(event, now) : release_job(-1 - event, now);
      }
      start_fitting_jobs(now);
    }
    require_progress(waiting_by_need_.empty(), "list schedule");
    return std::move(placement_);
  }

 private:
  const JobChoice& choice(int i) const { return choices_[i][choice_numbers_[i]]; }

  void release_job(int i, double now) {
    if (instance_.release(i) > now)
      events_.emplace(instance_.release(i), -1 - i);
    else
      waiting_by_need_[choice(i).share].emplace(rank_[i], -i);
  }

  void end_job(int i, double now) {
    for (std::size_t r = 0; r < free_shares_.size(); ++r) free_shares_[r] += choice(i).share[r];
    busy_procs_ -= choice(i).procs;
    for (const int k : graph_->successors(i))
      if (--open_predecessors_[k] == 0) release_job(k, now);
  }

  bool has_room_for(const std::vector<double>& share, int procs) const {
    if (procs > instance_.machines() - busy_procs_) return false;
    for (std::size_t r = 1; r < share.size(); ++r)
      if (share[r] > free_shares_[r] + kExactTolerance) return false;
    return true;
  }

  void start_fitting_jobs(double now) {
    for (;;) {
      auto best = waiting_by_need_.end();
      for (auto at = waiting_by_need_.begin(); at != waiting_by_need_.end(); ++at) {
        if (best != waiting_by_need_.end() && at->second.top() < best->second.top()) continue;
        if (has_room_for(at->first, choice(-at->second.top().second).procs)) best = at;
      }
      if (best == waiting_by_need_.end()) return;
      const int i = -best->second.top().second;
      best->second.pop();
      for (std::size_t r = 0; r < free_shares_.size(); ++r) free_shares_[r] -= choice(i).share[r];
      busy_procs_ += choice(i).procs;
      place_choice(placement_, i, choice(i), now);
      events_.emplace(placement_.end[i], i);
      if (best->second.empty()) waiting_by_need_.erase(best);
    }
  }

  const Instance& instance_;
  const Precedence graph_;
  const JobChoices& choices_;
  const ChoiceNumbers& choice_numbers_;
  const std::vector<double>& rank_;
  std::vector<double> free_shares_;
  int busy_procs_ = 0;
  std::vector<int> open_predecessors_;
  std::map<std::vector<double>, RankedJobs> waiting_by_need_;
  using Event = std::pair<double, int>;  // an end, or -1 - job: a release
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Placement placement_;
};

// See round_work_path.
double guarantee_ratio(int m, int mu, double a, double b, double cut) {
  const double path = std::max(a * (m - mu), std::max(cut * m / mu, a) * (m - 2 * mu + 1));
  return (b * m + path) / (m - mu + 1);
}

// Each job on the fastest of at most `most` processors; whether every job that changes has exactly
// as many.
bool cut_to(const JobChoices& choices, ChoiceNumbers& chosen, int most) {
  bool exact = true;
  for (int i = 0; i < choices.jobs(); ++i) {
    if (choices[i][chosen[i]].procs <= most) continue;
    chosen[i] = choices.fastest_within(i, most);
    exact = exact && choices[i][chosen[i]].procs == most;
  }
  return exact;
}

// Whether each job's counts are consecutive and their work is convex in the time.
bool is_convex(const JobChoices& choices) {
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
std::vector<int> lower_hull(const std::vector<JobChoice>& of) {
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

bool has_guarantee(const Instance& instance) {
  return instance.useful_machines() <= kMostCounts && instance.has_monotone_work() &&
         !instance.sharing() && !instance.has_releases();
}

Placement list_schedule(const Instance& instance, const JobChoices& choices,
                        const ChoiceNumbers& chosen, const std::vector<double>& rank) {
  return GraphListScheduler(instance, choices, chosen, rank).build_schedule();
}

Placement list_schedule(const Instance& instance, const JobChoices& choices,
                        const ChoiceNumbers& chosen) {
  const Precedence graph(instance);
  return list_schedule(instance, choices, chosen,
                       bottom_levels(*graph, durations(choices, chosen)));
}

// Between the neighbours on the hull around the time.
ChoiceNumbers round_durations(const JobChoices& choices, const std::vector<double>& duration,
                              double theta, int most) {
  ChoiceNumbers chosen;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& of = choices[i];
    const std::vector<int> hull = lower_hull(of);
    std::size_t slow = 0;
    while (slow + 1 < hull.size() && of[hull[slow + 1]].time >= duration[i]) ++slow;
    int pick = hull[slow];
    if (slow + 1 < hull.size() && duration[i] < of[pick].time) {
      const double fast = of[hull[slow + 1]].time;
      if (duration[i] - fast < theta * (of[pick].time - fast)) pick = hull[slow + 1];
    }
    chosen.push_back(pick);
  }
  cut_to(choices, chosen, most);
  return chosen;
}

GuaranteedAllotment round_work_path(const Instance& instance, const JobChoices& choices,
                                    const WorkPath& fractional) {
  const int m = instance.machines();
  const bool smooth = is_convex(choices);
  double best = kInfinity, theta = 0.5;
  int most = m;
  for (int step = 1; step < 100; ++step) {
    const double part = step / 100.0;
    const double a = smooth ? 2 / (1 + part) : 1 / part;
    const double b = smooth ? 2 / (2 - part) : 1 / (1 - part);
    for (int mu = 1; mu <= (m + 1) / 2; ++mu)
      if (const double ratio = guarantee_ratio(m, mu, a, b, smooth ? 1 : b); ratio < best) {
        best = ratio;
        theta = part;
        most = mu;
      }
  }
  GuaranteedAllotment made{round_durations(choices, fractional.durations, theta, m), 0};
  if (cut_to(choices, made.choice_numbers, most) && has_guarantee(instance)) made.ratio = best;
  return made;
}

GuaranteedAllotment allot_locally(const Instance& instance, const JobChoices& choices, double mu) {
  const double delta = (1 - 2 * mu) / (mu * (1 - mu));
  GuaranteedAllotment made;
  double alpha = 1;
  for (int i = 0; i < choices.jobs(); ++i) {
    const auto& of = choices[i];
    const double enough = delta * of[choices.fastest_choice(i)].time * (1 + kExactTolerance);
    double least = kInfinity;
    int pick = choices.fastest_choice(i);
    for (int k = 0; k < static_cast<int>(of.size()); ++k) {
      const double work = of[k].procs * of[k].time;
      least = std::min(least, work);
      if (of[k].time <= enough && work < of[pick].procs * of[pick].time) pick = k;
    }
    alpha = std::max(alpha, of[pick].procs * of[pick].time / least);
    made.choice_numbers.push_back(pick);
  }
  const bool exact =
      cut_to(choices, made.choice_numbers, static_cast<int>(std::ceil(mu * instance.machines())));
  if (exact && has_guarantee(instance)) made.ratio = (mu * alpha + 1 - 2 * mu) / (mu * (1 - mu));
  return made;
}

GuaranteedSchedule list_lp(const Instance& instance) {
  const JobChoices choices(instance);
  const WorkPath programme = work_and_path(instance);
  const GuaranteedAllotment allotted = round_work_path(instance, choices, programme);
  return {list_schedule(instance, choices, allotted.choice_numbers),
          programme.complete ? allotted.ratio : 0};
}

GuaranteedSchedule list_local(const Instance& instance, double mu) {
  const JobChoices choices(instance);
  const GuaranteedAllotment allotted = allot_locally(instance, choices, mu);
  return {list_schedule(instance, choices, allotted.choice_numbers), allotted.ratio};
}

}  // namespace cosched::moldable::graph
