// What tests of a cycle have answered already: jobs of one shape get the same (RULES.md 4.10).
#pragma once

#include <memory_resource>
#include <optional>
#include <unordered_map>

#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

/// Invariant: an answer is a function of its question and of what runs, and holds until the version
/// of the allocations is another one. What a test finds of earlier ones and leaves for later ones,
/// the weights of nodes with GPUs that it looks at, is part of both.
class WillRunCache {
 public:
  /// `changing`: nodes whose weights tests change for later ones.
  explicit WillRunCache(const NodeBits& changing)
      : weighted_nodes_(changing), question_nodes_(changing) {}

  /// All that a test looks at beside what runs, but for the second that it is made in.
  struct Question {
    int shape, partition;
    bool starts_now_or_never, is_future;  // now or not at all; `from` is later than now
    Second from, later_start;             // where they count, else 0
    const NodeBits& nodes;
  };
  /// When a job can begin: after a running job, or one of these.
  static constexpr int kNow = -1, kNoStart = -2;
  /// When (as above), words of the nodes, and what is left of the weights of the nodes looked at;
  /// empty: not known yet.
  using Answer = std::pmr::vector<std::uint64_t>;
  static int start_after(const Answer& answer) { return static_cast<int>(answer.front()); }

  /// The answer of an equal question, or a place for one; valid until the next call.  O(nodes / 64
  /// + changing).
  Answer& find(const Question& question, std::int64_t version, const Weights& weights) {
    if (version != version_ || answers_->size() >= kMaxAnswers) clear();
    version_ = version;
    last_key_.swap(key_);
    const auto word = [](auto value) { return static_cast<std::uint64_t>(value); };
    const std::vector<std::uint64_t>& nodes = question.nodes.words();
    key_.assign(nodes.begin(), nodes.end());
    key_.push_back(word(question.shape) << 32 | word(question.partition) << 2 |
                   word(question.starts_now_or_never) << 1 | word(question.is_future));
    key_.push_back(word(question.from));
    key_.push_back(word(question.later_start));
    question_nodes_ = question.nodes;
    question_nodes_ &= weighted_nodes_;
    for_each_node(question_nodes_, [&](std::size_t node) { key_.push_back(weights[node]); });
    if (answers_->empty() || key_ != last_key_) last_answer_ = &(*answers_)[key_];
    return *last_answer_;
  }

  /// What the test of the question asked last found.
  void store(Answer& answer, int after, const NodeBits& nodes, const Weights& weights) const {
    answer.reserve(1 + nodes.words().size());
    answer.push_back(static_cast<std::uint64_t>(after));
    answer.insert(answer.end(), nodes.words().begin(), nodes.words().end());
    for_each_node(question_nodes_, [&](std::size_t node) { answer.push_back(weights[node]); });
  }

  /// The nodes; weights as that test left them.
  void load(const Answer& answer, NodeBits& nodes, Weights& weights) const {
    auto word = answer.begin() + 1;
    for (std::uint64_t& own : nodes.words()) own = *word++;
    for_each_node(question_nodes_, [&](std::size_t node) { weights[node] = *word++; });
  }

  void clear() {
    answers_.reset();
    arena_.release();
    answers_.emplace(&arena_);
  }

 private:
  // So many answers at most are kept: some megabytes.
  static constexpr std::size_t kMaxAnswers = 1 << 16;

  template <class Visit>
  static void for_each_node(const NodeBits& nodes, Visit visit) {
    nodes.for_each_run([&](int first, int length) {
      for (int node = first; node < first + length; ++node) visit(static_cast<std::size_t>(node));
    });
  }

  using Key = std::pmr::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = key.size();
      for (const std::uint64_t word : key) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };
  const NodeBits weighted_nodes_;
  std::int64_t version_ = -1;
  std::vector<std::byte> arena_buffer_ = std::vector<std::byte>(1 << 18);  // of what is handed out
  std::pmr::monotonic_buffer_resource arena_{arena_buffer_.data(), arena_buffer_.size()};
  std::optional<std::pmr::unordered_map<Key, Answer, Hash>> answers_{&arena_};
  // Of the question asked last: its nodes whose weights change, all that it was, and its answer;
  // and the question before, which is the same for a fifth of them.
  NodeBits question_nodes_;
  Key key_, last_key_;
  Answer* last_answer_ = nullptr;
};

}  // namespace cosched::slurm
