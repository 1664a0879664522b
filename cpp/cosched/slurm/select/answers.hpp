// What tests of a cycle have answered already: jobs of one shape get the same (RULES.md 4.10).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

/// Invariant: an answer is a function of its question and of what runs, and holds until the version of the allocations is
/// another one. What a test finds of earlier ones and leaves for later ones, the weights of nodes with GPUs that it looks
/// at, is part of both.
class Answers {
 public:
  /// `changing`: nodes whose weights tests change for later ones.
  explicit Answers(const NodeBits& changing) : changing_(changing), looked_(changing) {}

  /// All that a test looks at beside what runs, but for the second that it is made in.
  struct Question {
    int shape, part;
    bool at_once, ahead;  // now or not at all; `from` is later than now
    Second from, later;   // where they count, else 0
    const NodeBits& nodes;
  };
  /// When a job can begin: after a running job, or one of these.
  static constexpr int kAtOnce = -1, kNotAtAll = -2;
  struct Answer {
    int after = kUnknown;
    NodeBits nodes = NodeBits();
    Weights left = Weights();  // of the nodes looked at whose weights change
    bool known() const { return after != kUnknown; }
  };

  /// The answer of an equal question, or a place for one; valid until the next call.  O(nodes / 64 + changing).
  Answer& find(const Question& question, std::int64_t version, const Weights& weights);
  /// What the test of the question asked last found.
  void tell(Answer& answer, int after, const NodeBits& nodes, const Weights& weights) const;
  /// Weights as that test left them.
  void leave(const Answer& answer, Weights& weights) const;
  void forget() { known_.clear(); }

 private:
  static constexpr int kUnknown = -3;
  using Key = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  const NodeBits changing_;
  std::int64_t version_ = -1;
  std::unordered_map<Key, Answer, Hash> known_;
  // Of the question asked last: its nodes whose weights change, and all that it was.
  NodeBits looked_;
  Key key_;
};

}  // namespace cosched::slurm
