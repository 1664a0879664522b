// A local search over orders and units, with restarts, where data costs time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/core/times.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/place_decoder.hpp"

namespace cosched::dags::search {

/// As OrderSearch, but a task is given a unit, not a type: which of two alike units it is decides what
/// has to move.  Every schedule in which nothing can start earlier can be reached.  After a restart
/// slightly longer schedules are taken as well, less and less so.
class PlaceSearch {
 public:
  PlaceSearch(const Instance& instance, const Plan& plan, std::uint64_t seed);

  /// Builds up to `evaluations` schedules, those of the calls before counted, and calls `better(plan)` with each that is the best so
  /// far; it says whether to go on.  May be left by an exception of check_interrupt().
  void run(std::int64_t evaluations, const std::function<bool(const Plan&)>& better);

  /// As of OrderSearch.
  void cool(std::int64_t evaluations, double heat, const std::function<bool(const Plan&)>& better);
  std::int64_t built() const { return built_; }

 private:
  struct Candidate {
    std::vector<int> order, units;
  };
  double decode(const Candidate& candidate);
  void take_over(const Candidate& candidate, double makespan);
  void restart();
  void begin_anew();
  Candidate rebuilt();
  Candidate gathered();
  Candidate candidate_of(const Plan& plan);
  void change(Candidate& candidate);
  void move_group(Candidate& candidate);
  int some_task();
  int target(const Candidate& candidate, int task);
  int random_neighbour(int task);
  int random_unit(const Candidate& candidate, int task);

  const Instance& instance_;
  PlaceDecoder decoder_;
  Rng rng_;
  Table costs_;  // optimistic_costs()
  std::vector<double> mean_;
  Candidate current_, best_;
  double current_makespan_, best_makespan_;
  // Of run(), which goes on where it was: more work is never worse than less.
  bool anew_ = true;
  std::int64_t idle_ = 0;
  double heat_ = 0, lowest_ = 0;
  std::vector<int> chain_, position_, group_;
  std::int64_t built_ = 0;
};

}  // namespace cosched::dags::search
