// Beginnings of schedules, one number of jobs after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/search/label_bounds.hpp"

namespace cosched::moldable::search {

/// Room for the labels of one number of jobs, in steps: 192 MB, and as much for what else they hold.
inline constexpr std::size_t kLabelsRoom = 12'000'000;

/// In some optimal schedule every job starts as early as the order of starts, its release and its
/// count let it; so a schedule is an order of (job, count), and all that the rest must know of a
/// beginning is when how many processors are free: times that are not before the last start.
/// Labels of one number of jobs are made from those of one job fewer.  One is dropped
///   - where another of the same jobs has every processor free no later, at no more cost so far; for the minsum
///     also where it has them free later by d, and costs so much less that it may start all that follows later by d
///     (one of the hundred of them that are likeliest to);
///   - where a job that is not in it could start and end before the last start (Giffler, Thompson:
///     the hole would stay open for nothing), or an equal job of lower number is not in it;
///   - where a lower bound on what it becomes (label_bounds.hpp) is not below the best schedule known.
class Labels {
 public:
  /// Only what may be best of all schedules must be found within the windows: what is better out of them may
  /// leave it out.  All must outlive it.
  Labels(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
         const StartWindows& windows, Objective objective, Incumbent& incumbent,
         LabelBounds& bounds, Effort& effort, std::size_t room = kLabelsRoom);

  /// All numbers of jobs, from the empty schedule on; of each the `width` labels of least bound go on.
  /// False: the work is over, or the room.  May be left by check_interrupt(): bound() holds at any time.
  bool pass(std::size_t width);

  /// The least bound of what was dropped for its number in this pass: infinite where nothing was.
  double dropped() const { return dropped_; }
  /// The least of what was dropped and of what may still come in this pass.
  double bound() const;

 private:
  struct Likely {
    JobSet jobs;
    double sum;  // of the free times, and of the cost
    std::size_t number;
  };
  struct Move {
    int before;  // the move before it, -1: none
    int job, procs;
    double start;
  };
  // Its steps lie in a vector that all labels of a number of jobs share.
  struct Label {
    JobSet jobs;
    double cost;   // sum w C of them (minsum)
    double least;  // no completion is better
    std::size_t first;
    int steps;
    int number;  // of its last move, where it goes on
    Move move;
  };

  bool in(JobSet jobs, int job) const { return jobs >> job & 1; }
  JobSet everything() const { return (JobSet{1} << it_.jobs()) - 1; }
  double start_of(const Label& label, int job, const Choice& choice) const;
  double earliest_end(const Label& label) const;
  void expand(const Label& label);
  void add(const Label& label, int job, const Choice& choice, double start);
  void put(const Label& label, Label& made, const Choice& choice, double start);
  void accept(const Label& label);
  bool dominates(const Label& a, const Label& b, double weight);
  double weight_after(JobSet jobs) const;
  std::vector<Likely> likely_first() const;
  void keep_undominated(std::size_t width);

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  const StartWindows& windows_;
  bool makespan_;
  Incumbent& best_;
  LabelBounds& bounds_;
  Effort& effort_;
  std::size_t room_;
  std::vector<JobSet> twins_;  // equal jobs of lower number

  double dropped_ = kInfinity;
  std::vector<Label> labels_, next_;  // of one number of jobs, and of one more
  std::vector<Step> steps_, next_steps_;
  std::size_t at_ = 0;       // labels before it are expanded
  std::vector<Move> moves_;  // of labels that went on
};

}  // namespace cosched::moldable::search
