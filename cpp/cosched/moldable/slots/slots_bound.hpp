// Lower bound on the makespan: the longest deadline that prices of slots refute.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::slots {

// Prices of a machine's time, slot by slot, and what jobs would choose at them.
//
// A grid 0 = g_0 < g_1 < ... < g_J cuts time into slots.  A column (i, a, q): job i starts in slot
// a, [g_a, g_{a+1}), on q processors.  Let b = max(g_a, r_i), t = t_i(q).  In every schedule, for
// its columns,
//
//   slot(s):  sum of q over columns with a <= s and g_{s+1} <= b + t   <=  m        s < J
//   work(s):  sum of q min(t, max(0, g_s - g_{a+1}))                   <=  m g_s    0 < s <= J
//
// in real time: a job that starts in slot a starts at b or later, so ends at b + t or later.
// slot(s): just before g_{s+1} all columns of the row run, since they start before g_{a+1} <=
// g_{s+1} and end at b + t >= g_{s+1} or later.  work(s): by g_s a job that started before g_{a+1}
// has worked for at least min(t, g_s - g_{a+1}).
//
// At prices >= 0 of the rows each job takes its cheapest column on its own; the sum of what they
// pay, less what the machine is worth at these prices, is a bound.

/// Per processor and second: of slot(s), s < J, and of work(s), s <= J (0 is of no row).
struct RowPrices {
  std::vector<double> slot, work;
};

class SlotPricing {
 public:
  enum class Jobs {
    pay_for_their_end,  // w_i (b + t); or they start at g_J or later, in no row
    keep_the_deadline,  // they end by g_J, and pay for the machine only
  };
  /// `instance` must outlive it.
  SlotPricing(const Instance& instance, std::vector<double> grid, Jobs jobs);

  int slots() const { return slots_; }
  /// Columns that one set of prices looks at.
  std::int64_t columns() const { return columns_; }
  double slot_right(int s) const { return it_->machines() * (grid_[s + 1] - grid_[s]); }
  double work_right(int s) const { return it_->machines() * grid_[s]; }

  /// The bound at these prices, rounded down: no schedule's sum w_i C_i is less; or, where jobs
  /// keep the deadline, none keeps it if the value is > 0 (infinite: some job cannot).  `use`: what
  /// the chosen columns use of each row, in processors x seconds.
  double value(const RowPrices& prices, RowPrices& use);

 private:
  struct Choice {
    double cost;
    int slot = 0, count = 0, last = 0;  // it is in slot rows slot..last-1
    double time = 0;
  };
  void prepare(const RowPrices& prices);
  Choice cheapest(int i) const;
  void add_use(const Choice& choice, RowPrices& use) const;

  const Instance* it_;
  std::vector<double> grid_;
  bool deadline_;
  int slots_;
  std::int64_t columns_ = 0;
  std::vector<std::vector<int>> counts_;
  std::vector<double> slot_sum_, later_, moments_;
  Poll poll_;
};

struct SlotsOptions {
  int slots = 100;
  int rounds = 300;                 // sets of prices a deadline
  std::int64_t work = 100'000'000;  // columns looked at in all
};

struct SlotsBound {
  double value = 0;
  bool complete = true;  // false: a time limit ended the search
};

/// Between `lower`, a bound, and `upper`, the makespan of some schedule, to a thousandth: longer
/// and longer steps from the bound, then bisection.
/// A deadline is refuted where prices are found at which the jobs, each in its cheapest column that
/// keeps the deadline, pay more than the machine is worth: multiplicative weights on the rows.
SlotsBound slots_bound(const Instance& instance, double lower, double upper,
                       const SlotsOptions& options = {});

/// The better of that and dual_approximation_bound; only the latter where the instance is too large
/// for prices to be worth the time (some 40 jobs on 32 processors).  Obeys the time limits around.
SlotsBound slots_bound(const Instance& instance);

}  // namespace cosched::moldable::slots
