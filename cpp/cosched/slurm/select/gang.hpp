// Who is suspended: jobs on cores that a job of a higher tier runs on (RULES.md 16.1, 16.2).
#pragma once

#include <vector>

#include "cosched/slurm/model/scenario.hpp"

namespace cosched::slurm {

class Gang {
 public:
  /// Requires that the scenario outlives it.
  explicit Gang(const Scenario& scenario) : scenario_(scenario) {}

  struct Turn {
    int job;
    bool suspended;  // else it runs on
  };
  /// A job starts on its cores; who has to stop for it.
  std::vector<Turn> start(Entry entry, const NodeBits& cores);
  /// Its last node is clean; who goes on.
  std::vector<Turn> over(int job);

 private:
  struct Member {
    Entry entry;
    NodeBits cores;
    bool suspended;
  };
  int tier(const Member& member) const { return scenario_.part(member.entry).tier; }
  std::vector<Turn> turns();

  const Scenario& scenario_;
  std::vector<Member> members_;  // decreasing tier, then as they started
};

}  // namespace cosched::slurm
