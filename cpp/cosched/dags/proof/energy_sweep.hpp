// Intervals of one type in which fractional shares of the tasks need more than its units have.
#pragma once

#include <iterator>
#include <vector>

#include "cosched/dags/proof/energetic.hpp"
#include "cosched/dags/proof/refuter_params.hpp"

namespace cosched::dags::proof {

/// Finds intervals of one type in which fractional shares of the tasks need more time than the
/// units have.  Begins are heads and latest starts of tasks; for each begin the worst end is found
/// in O(n), after sorting.
class EnergySweep {
 public:
  struct SweepTask {
    double head, p, latest_start, share;
  };

  EnergySweep(int type, int units, std::vector<SweepTask> items);

  struct Excess {
    TypeInterval interval;
    double amount = 0;  ///< work needed - m_q (end - begin); may be negative
  };

  /// The interval [a, b) of greatest excess.  O(n).
  Excess worst_interval_from(double a) const;

  /// For each of `begins` the worst interval, where its excess is more than kLeastViolation
  /// m_q makespan.
  std::vector<Excess> violated_intervals(const std::vector<double>& begins, double makespan) const;

  /// The different heads and latest starts of the tasks, sorted; of more than `max_count` an evenly
  /// spaced choice.
  std::vector<double> candidate_begins(int max_count) const;

  int tasks() const { return static_cast<int>(items_.size()); }

 private:
  // As b grows, the work that a task needs in [a, b) is 0 up to max(a, latest start) and then grows
  // with the slope `share`, until it has reached share min(p, head + p - a).  So each task changes
  // the slope of the sum twice: at its start and at its end, which has three forms.
  enum class SlopeChange {
    start,           // of a task whose latest start lies after a
    end_of_later,    // of a task with its head at or after a
    end_of_either,   // of a task with its head before a and its latest start after a
    end_of_earlier,  // of a task with its latest start at or before a
  };

  static bool concerns(SlopeChange turn, const EnergySweep::SweepTask& item, double a);
  static double time_of(SlopeChange turn, const EnergySweep::SweepTask& item, double a);

  // The slope changes of one kind in the order of their times, by which `order` sorts the tasks.
  class SlopeChanges {
   public:
    SlopeChanges(SlopeChange turn, const std::vector<EnergySweep::SweepTask>& items,
                 const std::vector<int>& order, double a)
        : kind_(turn), items_(items), order_(order), a_(a) {
      advance();
    }
    double time() const { return time_; }      // of the next slope change; infinite: there is none
    double change() const { return change_; }  // of the slope there
    void advance() {
      for (; next_ < order_.size(); ++next_) {
        const EnergySweep::SweepTask& item = items_[order_[next_]];
        if (!concerns(kind_, item, a_)) continue;
        time_ = time_of(kind_, item, a_);
        change_ = kind_ == SlopeChange::start ? item.share : -item.share;
        ++next_;
        return;
      }
      time_ = kInfinity;
    }

   private:
    SlopeChange kind_;
    const std::vector<EnergySweep::SweepTask>& items_;
    const std::vector<int>& order_;
    double a_;
    std::size_t next_ = 0;
    double time_ = kInfinity, change_ = 0;
  };

  int type_, units_;
  std::vector<SweepTask> items_;
  // Numbers of tasks, sorted by latest start, latest end, latest start + earliest end, earliest
  // end.
  std::vector<int> by_latest_, by_latest_end_, by_latest_and_early_end_, by_early_end_;
};

/// The sweep of a type with the windows of its tasks.  share(j, q): share of task j on type q;
/// tasks without a share of the type are left out.
template <class Windows>
EnergySweep make_sweep(const Windows& windows, int type, const Table& share) {
  const Instance& instance = windows.instance();
  std::vector<EnergySweep::SweepTask> items;
  for (int task = 0; task < instance.tasks(); ++task) {
    if (share(task, type) <= 0 || !windows.is_open(task, type)) continue;
    const double p = instance.time(task, type);
    if (p > 0)
      items.push_back({windows.head(task, type), p,
                       windows.makespan() - windows.tail(task, type) - p,
                       std::min(1.0, share(task, type))});
  }
  return {type, instance.units(type), std::move(items)};
}

}  // namespace cosched::dags::proof
