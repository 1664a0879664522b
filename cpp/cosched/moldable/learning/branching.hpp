// Which literal a search decides next.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// Decides the open literal that most conflicts had of late (Moskewicz, Madigan, Zhao, Zhang,
/// Malik, Chaff, DAC 2001; for bounds: Ohrimenko, Stuckey, Codish, Propagation via lazy clause
/// generation, Constraints 2009).  It takes the value that the literal has in the guide, a solution.
class Branching {
 public:
  explicit Branching(int variables)
      : guide_(variables), has_guide_(variables, 0), numbers_(variables) {}

  /// Notes that a conflict had the literal.
  void bump(Literal literal);
  /// Makes earlier conflicts count less.
  void decay();

  /// The value to try first for a variable.
  void guide(int variable, int value) {
    guide_[variable] = value;
    has_guide_[variable] = 1;
  }

  /// An open literal of a conflict; none: there is none.
  std::optional<Literal> choose(const Trail& trail);

  /// Literals that this entry of the trail made true or false may be open again.
  void reopen(const Trail& trail, const Trail::Entry& entry);

 private:
  // "The variable is at least `value`", or its negation.
  struct Candidate {
    int variable, value;
    double activity;
    int place;  // in the heap; -1: not in it
  };

  bool is_above(int a, int b) const { return candidates_[a].activity > candidates_[b].activity; }
  void insert(int candidate);
  void move_up(int place);
  void move_down(int place);
  void set_place(int place, int candidate) {
    heap_[place] = candidate;
    candidates_[candidate].place = place;
  }
  int number_of(Literal literal);

  std::vector<int> guide_;
  std::vector<char> has_guide_;
  std::vector<Candidate> candidates_;
  std::vector<std::map<int, int>> numbers_;  // of candidates: by variable, and by value
  std::vector<int> heap_;
  double increment_ = 1;
};

}  // namespace cosched::moldable::learning
