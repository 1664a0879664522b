// Schedules whose data fits into memories of limited capacity.
//
// Model of Herrmann, Marchal, Robert 2014: the data of edge (i, j) is in the memory of i from the start
// of i until the end of j where j shares that memory, else until the start of j; and then in the memory of j
// too, from the begin of its transfer until the end of j.  A transfer ends when j starts.  Nothing is
// evicted or computed anew.  At any time each memory holds at most its capacity.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "cosched/dags/list/insertion.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::list {

/// What a task brings into the memory where it runs.
struct Demand {
  /// (seconds, bytes) of what is fetched, by decreasing seconds: there from so long before the start.
  std::vector<std::pair<double, double>> fetched;
  double in = 0;   // bytes of that, until the end
  double out = 0;  // from the start on, until who takes it is placed
};

/// Bytes in one memory over time.
class MemoryProfile {
 public:
  explicit MemoryProfile(double capacity) : capacity_(capacity) {}

  /// The earliest start >= ready from which the demand fits, forever; infinity: there is none.
  double earliest(double ready, double duration, const Demand& demand) const;
  /// `bytes`, maybe negative, from a time on until another.
  void add(double from, double bytes, double to = std::numeric_limits<double>::infinity());

 private:
  using Steps = std::map<double, double>;
  Steps::iterator split(double time);
  double next_start(Steps::const_iterator step, double start, double duration,
                    const Demand& demand) const;

  double capacity_;
  Steps used_{{0.0, 0.0}};  // from each key on
};

/// Insertion (insertion.hpp) where memories are limited: what a placed task has computed stays until all
/// who take it are placed, so that they find it.
class MemoryInsertion {
 public:
  /// Requires instance.transfers().given().
  explicit MemoryInsertion(const Instance& instance);

  /// The earliest start of a task, its predecessors placed, on a unit; infinite where it never fits.
  Choice on(int task, Place place) const;
  /// Where it ends first; equal: the highest type, the lowest unit.  Infinite as above.
  Choice best(int task) const;
  void place(int task, const Choice& choice);
  const Plan& plan() const { return plan_; }

 private:
  int memory_of(Place place) const { return memory_[place.type][place.unit]; }
  Demand demand(int task, Place place) const;
  double fetch_seconds(int edge, int before, Place place) const;

  const Instance& instance_;
  Plan plan_;
  std::vector<std::vector<Timeline>> units_;  // of each type
  std::vector<std::vector<int>> memory_;      // number of each unit's
  std::vector<MemoryProfile> profiles_;
};

/// Throws InfeasibleError that names the first task whose data, what it takes and what it makes together,
/// no memory of a unit that can run it has room for.
void require_room(const Instance& instance);

/// Lists by decreasing `rank`: of the tasks whose predecessors are placed the first that fits somewhere, where
/// it ends first.  Throws InfeasibleError where none of them fits: that does not prove that no schedule does.
Plan memory_schedule(const Instance& instance, const std::vector<double>& rank);

/// MemHEFT (Section 5 there, for any number of memories): memory_schedule() by HEFT's ranks; HEFT where
/// nothing is limited.
Plan memheft(const Instance& instance);

}  // namespace cosched::dags::list
