// Projects, drawn at random, and their least makespan by enumeration.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable {

struct Project {
  int jobs = 6;
  int machines = 3;
  int counts = 1;  // on which a job can run: 1, ...
  bool has_integers = true;
  double edge_share = 0.2;
  int jobs_of_one_count = 0;  // the first so many jobs run on one count only
};

inline Instance random_project(const Project& project, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&](double lowest, double highest) {
    const double value = lowest + (highest - lowest) * rng.uniform();
    return project.has_integers ? std::floor(value) : value;
  };
  Table times(project.jobs, project.counts);
  Matrix<double> needs(project.jobs, project.counts), needs_of_other(project.jobs, project.counts);
  std::vector<double> releases;
  std::vector<Edge> edges;
  for (int i = 0; i < project.jobs; ++i) {
    for (int q = 0; q < project.counts; ++q) {
      times(i, q) = q == 0 ? draw(1, 9) : std::max(1.0, times(i, 0) - draw(0, 5));
      if (q > 0 && i < project.jobs_of_one_count) times(i, q) = kInfinity;
      needs(i, q) = std::min(4.0, draw(0, 5));
      needs_of_other(i, q) = draw(0, 4);
    }
    for (int k = i + 1; k < project.jobs; ++k)
      if (rng.uniform() < project.edge_share) edges.emplace_back(i, k);
    releases.push_back(seed % 3 == 0 ? draw(0, 6) : 0);
  }
  const std::vector<Resource> resources = {{.name = "crane", .capacity = 4, .need = needs},
                                           {.name = "crew", .capacity = 5, .need = needs_of_other}};
  return Instance(Times(times), std::vector<double>(project.jobs, 1.0), releases, project.machines)
      .with_sharing(
          std::make_shared<const Sharing>(project.jobs, resources, std::nullopt, std::nullopt))
      .with_precedence(std::make_shared<const TaskGraph>(project.jobs, edges));
}

// The least makespan: each job in turn, in each order that precedence allows and on each count,
// as early as it fits.
class ProjectEnumeration {
 public:
  explicit ProjectEnumeration(const Instance& instance)
      : instance_(instance),
        start_(instance.jobs()),
        end_(instance.jobs(), -1),
        procs_(instance.jobs()) {}

  double least_makespan() {
    place_next(0, 0);
    return best_;
  }
  // Of the schedule with the least makespan.
  const std::vector<double>& best_starts() const { return best_starts_; }

 private:
  bool is_placed(int i) const { return end_[i] >= 0; }

  void place_next(int placed, double makespan) {
    if (makespan >= best_) return;
    if (placed == instance_.jobs()) {
      best_ = makespan;
      best_starts_ = start_;
      return;
    }
    for (int i = 0; i < instance_.jobs(); ++i) {
      if (is_placed(i)) continue;
      double ready = instance_.release(i);
      bool is_ready = true;
      for (const int k : instance_.graph()->predecessors(i)) {
        is_ready = is_ready && is_placed(k);
        ready = std::max(ready, end_[k]);
      }
      if (!is_ready) continue;
      for (int q = 1; q <= instance_.useful_machines(); ++q) place(i, q, ready, placed, makespan);
    }
  }

  void place(int i, int q, double ready, int placed, double makespan) {
    std::vector<double> starts = {ready};
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && end_[k] > ready) starts.push_back(end_[k]);
    std::sort(starts.begin(), starts.end());
    const double time = instance_.exact_time(i, q);
    for (const double start : starts) {
      if (!fits(i, q, start, start + time)) continue;
      start_[i] = start;
      end_[i] = start + time;
      procs_[i] = q;
      place_next(placed + 1, std::max(makespan, end_[i]));
      end_[i] = -1;
      return;
    }
  }

  // What runs changes where a job starts: these moments are looked at.
  bool fits(int i, int q, double begin, double end) const {
    if (!fits_at(i, q, begin)) return false;
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && start_[k] > begin && start_[k] < end && !fits_at(i, q, start_[k]))
        return false;
    return true;
  }

  bool fits_at(int i, int q, double moment) const {
    const Sharing& sharing = *instance_.sharing();
    std::vector<double> used(sharing.resources() + 1);
    const auto add = [&](int job, int procs) {
      used[0] += procs;
      for (int r = 0; r < sharing.resources(); ++r) used[r + 1] += sharing.need(r, job, procs);
    };
    add(i, q);
    for (int k = 0; k < instance_.jobs(); ++k)
      if (is_placed(k) && start_[k] <= moment && moment < end_[k]) add(k, procs_[k]);
    bool fits = used[0] <= instance_.machines();
    for (int r = 0; r < sharing.resources(); ++r)
      fits = fits && used[r + 1] <= sharing.capacity(r) + 1e-9;
    return fits;
  }

  const Instance& instance_;
  std::vector<double> start_, end_;
  std::vector<int> procs_;
  double best_ = kInfinity;
  std::vector<double> best_starts_;
};

}  // namespace cosched::moldable
