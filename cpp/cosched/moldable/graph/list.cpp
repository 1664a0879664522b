#include "cosched/moldable/graph/list.hpp"

#include <map>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/moldable/graph/precedence.hpp"

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
        if (event >= 0)
          end_job(event, now);
        else
          release_job(-1 - event, now);
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
    for (const int k : graph_->successors(i)) {
      --open_predecessors_[k];
      if (open_predecessors_[k] == 0) release_job(k, now);
    }
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
  using ListEvent = std::pair<double, int>;  // an end, or -1 - job: a release
  std::priority_queue<ListEvent, std::vector<ListEvent>, std::greater<>> events_;
  Placement placement_;
};

}  // namespace

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
