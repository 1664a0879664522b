// Where a task fits best between the others, with the data that it takes and makes.
#pragma once

#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/search/place_decoder.hpp"

namespace cosched::dags::search {

/// Lengths of paths through every place of a task, from two passes over the others.  Limits of
/// memories are not counted.
class Reinsertion {
 public:
  Reinsertion(const Instance& instance, const PlaceDecoder& decoder);

  /// Gives the task, whose unit is -1, a unit and a place in the order between its last predecessor
  /// and its first successor: the longest path through it is shortest, but each place is overlooked
  /// with probability `blink`.  `only`: a unit in whose memory it stays if that unit can run it;
  /// -1: anywhere.  Others without a unit take their least time, and their data costs nothing.
  /// Returns the length of that path: no schedule by this order and these units in which each unit
  /// takes its tasks in this order is shorter.  O(n + e + units (degree + 1)).
  double insert(int task, int only, double blink, Rng& rng, std::vector<int>& order,
                std::vector<int>& units);

 private:
  double before(int task, int unit, const std::vector<int>& units) const;
  double after(int task, int unit, const std::vector<int>& units) const;
  void measure(int task, const std::vector<int>& order, const std::vector<int>& units);
  double duration(int task, int unit) const {
    return unit < 0 ? least_[task] : instance_.time(task, decoder_.numbers().place(unit).type);
  }
  double seconds(int edge, int from, int to) const {
    return from < 0 || to < 0 ? 0 : decoder_.seconds(edge, from, to);
  }

  const Instance& instance_;
  const PlaceDecoder& decoder_;
  std::vector<double> least_;       // time of each task
  std::vector<double> end_, tail_;  // the longest path to its end, and from its begin
  std::vector<int> position_;
  std::vector<double> last_, next_;   // of each unit: the end before a place, the tail after it
  std::vector<double> ready_, rest_;  // the same by data
};

}  // namespace cosched::dags::search
