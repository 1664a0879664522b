// A resource over time: what surely runs, and where other jobs do not fit beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// A job that needs a resource; its start is a variable.
struct ResourceUser {
  int start_variable;
  int seconds;
  double share;  // of the capacity
};

/// Timetabling: a job whose latest start is before its earliest end surely runs between them.
/// Where such jobs exceed the capacity, or leave no room for a job at a second within which its
/// bounds let it run, that follows; each consequence is explained by the jobs that run at one
/// second (Schutt, Feydy, Stuckey, Wallace, Explaining the cumulative propagator, Constraints 2011).
class Timetable {
 public:
  explicit Timetable(std::vector<ResourceUser> users);

  /// What follows from the bounds of the starts.  False: it contradicts one of them.
  bool propagate(Trail& trail);

  /// Jobs and steps that were looked at.
  std::int64_t operations() const { return operations_; }

 private:
  // Seconds between which the same jobs surely run, and what they need.
  struct Step {
    int begin, end;
    double share;
  };
  // Between which seconds a user surely runs; begin >= end: it does not.
  struct Core {
    int begin, end;
    bool covers(int second) const { return begin <= second && second < end; }
  };

  void find_cores(const Trail& trail);
  void make_profile();
  bool raise_start(Trail& trail, int user) const;
  bool lower_start(Trail& trail, int user) const;
  bool has_room(const Step& step, int user) const;
  // Lists literals of users that run at a second, without one, until they need more than `share`.
  void list_users_at(Trail& trail, int second, double share, int without) const;
  bool refuse_overload(Trail& trail, const Step& step) const;

  std::vector<ResourceUser> users_;  // by decreasing share, so that few explain much
  std::vector<Core> cores_;
  std::vector<std::pair<int, double>> changes_;
  std::vector<Step> profile_;
  double highest_share_ = 0;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::learning
