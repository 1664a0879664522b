// Which literal a search decides next.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cosched/moldable/learning/trail.hpp"

namespace cosched::moldable::learning {

/// Decides the open literal that most conflicts had of late (Moskewicz, Madigan, Zhao, Zhang,
/// Malik, Chaff, DAC 2001; for bounds: Ohrimenko, Stuckey, Codish, Propagation via lazy clause
/// generation, Constraints 2009).  It decides the literal as it is for the
/// saved value of its variable, which is that of a solution.
class Branching {
 public:
  explicit Branching(int variables)
      : saved_values_(variables), has_saved_value_(variables, 0), numbers_(variables) {}

  /// Notes that a conflict had the literal.
  void bump(Literal literal);
  /// Makes earlier conflicts count less.
  void decay();

  /// Saves the value to try first for a variable.
  void save_value(int variable, int value) {
    saved_values_[variable] = value;
    has_saved_value_[variable] = 1;
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

  std::vector<int> saved_values_;
  std::vector<char> has_saved_value_;
  std::vector<Candidate> candidates_;
  std::vector<std::map<int, int>> numbers_;  // of candidates: by variable, and by value
  std::vector<int> heap_;
  double increment_ = 1;
};

}  // namespace cosched::moldable::learning
