// Halves of schedules that meet, where there is no room for the labels of all counts.
#pragma once

#include <cstddef>
#include <vector>

#include "cosched/moldable/search/halves.hpp"

namespace cosched::moldable::search {

/// Where labels (halves.hpp) do not fit into memory the counts of one job are split: fewer processors, and more.  Each
/// part has fewer labels and, as its counts are nearer each other, prices (patterns.hpp) of its own that say more: a part
/// in which no schedule can keep the deadline is not searched at all.  So a search ends in the room that it has, after
/// parts whose number is exponential in the jobs at worst.
class CountSearch {
 public:
  /// As of Halves.
  CountSearch(std::vector<std::vector<Choice>> choices, int machines, Halves::Count count,
              std::size_t room = kHalvesRoom);

  /// As Halves::search, but `full` only where no job has two counts.
  Halves::Outcome search(double bound, double deadline, double value, ProcessorPatterns* patterns,
                         const Halves::Offer& offer);

 private:
  using Choices = std::vector<std::vector<Choice>>;

  // What is asked for of each part.
  struct Question {
    double bound, deadline, value;  // of the best schedule so far
    const Halves::Offer& offer;
  };

  Halves::Outcome search_part(const Choices& choices, ProcessorPatterns* patterns,
                              Question& question);
  Halves::Outcome split(const Choices& choices, int job, Question& question);

  Choices choices_;
  int machines_;
  Halves::Count count_;
  std::size_t room_;
};

}  // namespace cosched::moldable::search
