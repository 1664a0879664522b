// A resource over time: what surely runs, and where other jobs do not fit next to it.
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

/// Timetabling: a job whose latest start is before its earliest end surely runs between them, in
/// its compulsory part.  Where such jobs exceed the capacity, or leave no room for a job at a
/// second within which its bounds let it run, that follows; each consequence is explained by the
/// jobs that run at one second (Schutt, Feydy, Stuckey, Wallace, Explaining the cumulative
/// propagator, Constraints 2011).
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
  // The interval [begin, end) in which a user surely runs; empty where begin >= end.
  struct CompulsoryPart {
    int begin, end;
    bool covers(int time) const { return begin <= time && time < end; }
  };

  void find_compulsory_parts(const Trail& trail);
  void make_profile();
  bool raise_earliest_start(Trail& trail, int user) const;
  bool lower_latest_start(Trail& trail, int user) const;
  bool has_room(const Step& step, int user) const;
  // Adds to the explanation the literals of users that run at `time`, but for user `without`, until
  // these users need more than `share`.
  void explain_by_users_at(Trail& trail, int time, double share, int without) const;
  bool raise_overload_conflict(Trail& trail, const Step& step) const;

  std::vector<ResourceUser> users_;  // by decreasing share, so that few explain much
  std::vector<CompulsoryPart> compulsory_parts_;
  std::vector<std::pair<int, double>> changes_;
  std::vector<Step> profile_;
  double highest_share_ = 0;
  std::int64_t operations_ = 0;
};

}  // namespace cosched::moldable::learning
