// Simulated annealing over which machine runs which task: the last step of ttb-best.
#pragma once

#include "cosched/bags/model/instance.hpp"

namespace cosched::bags::search {

// Moves and swaps of single tasks between machines: the neighbourhood of ttb-best.

/// A plan at the level of machines, which exchanges change in place.
///
/// An exchange takes up to two tasks from machine m and up to two others from machine n, and puts
/// them on the other one; m and n may be of one machine type (the energy stays) or of two.
class Shop {
 public:
  Shop(const Instance& instance, const std::vector<Run>& runs);

  double makespan() const;  // longest load
  double joules() const { return joules_; }
  double load(int machine) const { return load_[machine]; }
  int machines() const { return static_cast<int>(load_.size()); }
  /// Runs in the order that Plan documents.
  std::vector<Run> runs() const;

  /// Gives every machine a load <= limit, if it can: the longest machine first, by the exchange of
  /// least energy and least use of time, a second on machine type j counting price[j] joules.
  /// The load that an exchange leaves above the limit counts `penalty` joules a second.
  /// False where an overloaded machine has no exchange left that helps; the state is then
  /// somewhere on the way.  `work` is reduced by the exchanges that were looked at; none: stop.
  bool squeeze(double limit, const std::vector<double>& price, double penalty, std::int64_t& work);

 private:
  struct Holding {
    int task_type;
    std::int64_t count;
  };
  // Up to two tasks of one machine.
  struct Bundle {
    int first = -1, second = -1;
    double seconds = 0, joules = 0;  // on the machine that holds them
  };
  struct Exchange {
    int from = -1, to = -1;
    Bundle given, taken;
    double score = kInfinity, new_from = 0, new_to = 0;
  };
  struct Goal;

  std::vector<Bundle> bundles(int machine, int most) const;
  double seconds_on(const Bundle& bundle, int j) const;
  double joules_on(const Bundle& bundle, int j) const;
  void consider(int from, int to, const std::vector<Bundle>& given, int most, const Goal& goal,
                Exchange& best) const;
  Exchange best_exchange(int from, int most, const Goal& goal, std::int64_t& work);
  void apply(const Exchange& exchange);
  void add(int machine, int task_type, std::int64_t count);

  const Instance* instance_;
  std::vector<int> kind_;    // machine type
  std::vector<int> number_;  // within the type
  std::vector<double> load_;
  std::vector<std::vector<Holding>> held_;
  double joules_ = 0;
  int cursor_ = 0;  // where the next scan for partners starts
};

struct Annealed {
  Plan plan;
  bool complete = true;  // false: a time limit ended it
};

/// The best plan seen on the way from `start`; `start` itself where none earns more.
///
/// A move puts one task on another machine, or exchanges two tasks of two machines; half of the
/// moves begin at the machine that decides the makespan.  Only what ends up in the profit rate
/// counts (energy, the longest load, the wait that a power cap asks for), so plans are reached that
/// no makespan chosen beforehand leads to.
///
/// Requires moves >= 1, and few machines and tasks: a move costs O(machines), the state O(tasks).
Annealed annealed(const Instance& instance, const Plan& start, std::int64_t moves,
                  std::uint64_t seed);

}  // namespace cosched::bags::search
