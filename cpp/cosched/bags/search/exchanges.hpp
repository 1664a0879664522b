// Moves and swaps of single tasks between machines: the neighbourhood of ttb-best.
#pragma once

#include "cosched/bags/model/bag_plan.hpp"

namespace cosched::bags::search {

struct ExchangeParams {
  /// Machines that one search for an exchange looks at.
  int max_partners = 720;
};

/// A plan at the level of machines, which exchanges change in place.
///
/// An exchange takes up to two tasks from machine m and up to two others from machine n, and puts
/// them on the other one; m and n may be of one machine type (the energy stays) or of two.
class ExchangeState {
 public:
  ExchangeState(const Instance& instance, const std::vector<TaskRun>& runs,
                const ExchangeParams& params = {});

  double makespan() const;  // longest load
  double joules() const { return joules_; }
  double load(int machine) const { return loads_[machine]; }
  int machines() const { return static_cast<int>(loads_.size()); }
  /// Runs in the order that BagPlan documents.
  std::vector<TaskRun> runs() const;

  /// Gives every machine a load <= limit, if it can: the longest machine first, by the exchange of
  /// least energy and least use of time, a second on machine type j counting price[j] joules.
  /// The load that an exchange leaves above the limit counts `penalty` joules a second.
  /// Returns false where no exchange helps an overloaded machine any more, or `work` is used up;
  /// the loads have then been lowered in part.  Takes the exchanges that were looked at from
  /// `work`.
  bool lower_loads_to(double limit, const std::vector<double>& price, double penalty,
                      std::int64_t& work);

 private:
  struct TaskCount {
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
    Bundle sent, received;
    double score = kInfinity, new_from = 0, new_to = 0;
  };
  struct ExchangeGoal;

  std::vector<Bundle> list_bundles(int machine, int max_tasks) const;
  double seconds_on(const Bundle& bundle, int j) const;
  double joules_on(const Bundle& bundle, int j) const;
  void consider_exchanges(int from, int to, const std::vector<Bundle>& sent_bundles, int max_tasks,
                          const ExchangeGoal& goal, Exchange& best) const;
  Exchange find_best_exchange(int from, int max_tasks, const ExchangeGoal& goal,
                              std::int64_t& work);
  void apply_exchange(const Exchange& exchange);
  void add_tasks(int machine, int task_type, std::int64_t count);

  ExchangeParams params_;
  const Instance* instance_;
  // Of each machine.
  std::vector<int> machine_types_;
  std::vector<int> numbers_in_type_;
  std::vector<double> loads_;
  std::vector<std::vector<TaskCount>> tasks_on_machine_;
  double joules_ = 0;
  int next_partner_ = 0;  // where the next scan for partners starts
};

}  // namespace cosched::bags::search
