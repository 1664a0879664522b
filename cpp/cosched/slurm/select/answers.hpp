// What tests of a cycle have answered already: jobs of one shape get the same (RULES.md 4.10).
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

/// Invariant: an answer is a function of its question and of what runs. So it holds until the version of the
/// allocations is another one; and whatever a test leaves behind for the next one, the weights of nodes, is part of both.
class Answers {
 public:
  /// All that a test looks at beside what runs, but for the second that it is made in.
  struct Question {
    int shape, part;
    bool at_once, ahead;  // now or not at all; `from` is later than now
    Second from, later;   // where they count, else 0
    const NodeBits& nodes;
  };
  /// When a job can begin: now, after a running job, or never.
  static constexpr int kAtOnce = -1, kNotAtAll = -2;
  struct Answer {
    int after = kUnknown;
    NodeBits nodes = NodeBits();
    int weights = 0;  // as the test left them
    bool known() const { return after != kUnknown; }
  };

  /// The answer of an equal question, or a place for one; valid until the next call.  O(nodes / 64), and where weights
  /// have changed O(nodes).
  Answer& find(const Question& question, std::int64_t version, const Weights& weights);
  /// What the test of an unknown one found.
  void tell(Answer& answer, int after, const NodeBits& nodes, const Weights& weights);
  /// Weights as the test left them.
  void leave(const Answer& answer, Weights& weights);
  void forget();

 private:
  static constexpr int kUnknown = -3;
  using Key = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  int number_of(const Weights& weights);

  std::int64_t version_ = -1;
  std::unordered_map<Key, Answer, Hash> known_;
  Key key_;  // scratch
  // Weights that tests have found or left, by number, and those of the last test.
  std::map<Weights, int> numbers_;
  std::vector<const Weights*> weights_;
  int current_ = 0;
};

}  // namespace cosched::slurm
