// Whole patterns from the linear relaxation over patterns: diving, and parts of a plan made anew.
#pragma once

#include "cosched/bags/search/patterns.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::bags::search {

/// Runs that place all of `stock`, on machines numbered from 0 within its types; nothing where the
/// relaxation finds no place for a task.
///
/// Copies are rounded down and fixed, what is left is relaxed anew, with new patterns (diving, as
/// in column-generation heuristics); where nothing is whole, a copy is rounded up, drawn by its
/// fraction. Requires use = pool.solve() of that stock.
std::optional<std::vector<Run>> dive(const Instance& instance, const PatternPool& pool,
                                     const PatternUse& use, Stock stock, Rng& rng);

/// Neighbours of a plan: the tasks of some machines, placed anew by a dive.
class Recreation {
 public:
  /// Requires `plan` of few machines: the books list them.
  Recreation(const Instance& instance, const Plan& plan, std::vector<double> value);

  /// Takes the tasks off machines longer than `limit` and off others that are drawn, `most` in all,
  /// and puts them back within the limit at less energy, or, with a lower limit, at whatever it
  /// takes.  The runs of the whole plan then; nothing where the relaxation or the dive says that
  /// this fails, or more machines than `most` are longer.
  std::optional<std::vector<Run>> attempt(double limit, int most, Rng& rng) const;

 private:
  std::vector<int> drawn(double limit, int most, Rng& rng) const;

  const Instance* instance_;
  std::vector<double> value_;         // what a task of each type is worth
  std::vector<int> kind_, number_;    // of a machine
  std::vector<double> load_;          // of a machine
  std::vector<std::vector<Run>> on_;  // of a machine
};

}  // namespace cosched::bags::search
