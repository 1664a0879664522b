// Rounds of annealing for jobs that share nothing and wait for nobody.
#pragma once

#include "cosched/moldable/model/incumbent.hpp"
#include "cosched/moldable/search/full_machine_search.hpp"
#include "cosched/moldable/search/search_options.hpp"
#include "cosched/moldable/search/search_rounds.hpp"

namespace cosched::moldable::search {

class IndependentJobsSearch : public SearchRounds {
 public:
  /// Begins with gang, sequential, the caller's starts and the algorithms of the family
  /// (starts.hpp), which may take kStartSeconds whatever the time limit.  `instance` must outlive
  /// it.
  IndependentJobsSearch(const Instance& instance, const SearchOptions& options);
  void offer_first_schedules() override;
  /// Anneals from the best schedule so far (annealing.hpp); in rounds of the default work and more
  /// several times, in threads.  Before, where the makespan may be that of a machine without idle
  /// processors, a part of the work looks for such a schedule (full_machine_search.hpp).
  bool run_round(std::int64_t work, int number) override;
  const Placement& best() const override { return incumbent_.placement(); }
  bool is_proved() const override { return incumbent_.value() <= target_value_; }
  /// False where a time limit ended the algorithms of the family.
  bool has_first_schedules() const { return has_first_schedules_; }

 private:
  // Empty where no schedule may leave all processors busy until the bound.
  std::optional<FullMachineSearch> create_full_machine_search() const;
  // Spends a part of the work on it.  Returns the work that is left for annealing.
  std::int64_t look_for_full_machine(std::int64_t work);

  const Instance& instance_;
  SearchOptions options_;
  Incumbent incumbent_;
  std::uint64_t next_seed_ = options_.seed;
  double makespan_bound_ = 0;
  double target_value_ = 0;  // nothing is better than this value
  bool has_first_schedules_ = true;
  std::optional<FullMachineSearch> full_machine_search_;
};

}  // namespace cosched::moldable::search
