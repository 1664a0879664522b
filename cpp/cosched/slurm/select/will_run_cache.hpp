// Answers of will-run tests: jobs of one shape get the same one (RULES.md 4.10).
#pragma once

#include <memory_resource>
#include <optional>
#include <unordered_map>

#include "cosched/slurm/select/candidates.hpp"

namespace cosched::slurm {

/// Invariant: an answer is a function of its question and of what runs, and holds until the version
/// of the allocations is another one.  The weights of nodes with GPUs, which a test takes over from
/// earlier tests and leaves for later ones, are part of question and answer.
///
/// The functions are inline: each will-run test asks it first.
class WillRunCache {
 public:
  /// `weighted_nodes`: nodes whose weights tests change for later ones.
  explicit WillRunCache(const NodeBits& weighted_nodes)
      : weighted_nodes_(weighted_nodes), question_nodes_(weighted_nodes) {}

  /// All that a test depends on besides what runs, but for the second in which it is made.
  struct Question {
    int shape;
    int partition;
    bool starts_now_or_never;
    bool is_future;      // `from` is later than now
    Second from;         // where it counts, else 0
    Second later_start;  // where it counts, else 0
    const NodeBits& nodes;
  };
  /// Words: the running job after whose end the job can begin (or kNow, kNoStart), the nodes, and
  /// the weights that the test left.  Empty: not known yet.
  using Answer = std::pmr::vector<std::uint64_t>;
  static constexpr int kNow = -1;
  static constexpr int kNoStart = -2;
  static int preceding_job(const Answer& answer) { return static_cast<int>(answer.front()); }

  /// The answer of an equal question, or an empty one to be stored; valid until the next call.
  /// O(nodes / 64 + weighted nodes).
  Answer& find(const Question& question, std::int64_t version, const Weights& weights) {
    if (version != version_ || answers_->size() >= kMaxAnswers) clear();
    version_ = version;
    last_key_.swap(key_);
    const auto to_word = [](auto value) { return static_cast<std::uint64_t>(value); };
    const std::vector<std::uint64_t>& node_words = question.nodes.words();
    key_.assign(node_words.begin(), node_words.end());
    key_.push_back(to_word(question.shape) << 32 | to_word(question.partition) << 2 |
                   to_word(question.starts_now_or_never) << 1 | to_word(question.is_future));
    key_.push_back(to_word(question.from));
    key_.push_back(to_word(question.later_start));
    question_nodes_ = question.nodes;
    question_nodes_ &= weighted_nodes_;
    for_each_node(question_nodes_, [&](std::size_t node) { key_.push_back(weights[node]); });
    if (answers_->empty() || key_ != last_key_) last_answer_ = &(*answers_)[key_];
    return *last_answer_;
  }

  /// Stores the answer of the question that was asked last.
  void store(Answer& answer, int preceding_job, const NodeBits& nodes,
             const Weights& weights) const {
    answer.reserve(1 + nodes.words().size());
    answer.push_back(static_cast<std::uint64_t>(preceding_job));
    answer.insert(answer.end(), nodes.words().begin(), nodes.words().end());
    for_each_node(question_nodes_, [&](std::size_t node) { answer.push_back(weights[node]); });
  }

  /// Loads the nodes of the answer, and the weights that its test left.
  void load(const Answer& answer, NodeBits& nodes, Weights& weights) const {
    auto source = answer.begin() + 1;
    for (std::uint64_t& word : nodes.words()) {
      word = *source;
      ++source;
    }
    for_each_node(question_nodes_, [&](std::size_t node) {
      weights[node] = *source;
      ++source;
    });
  }

  void clear() {
    answers_.reset();
    arena_.release();
    answers_.emplace(&arena_);
  }

 private:
  static constexpr std::size_t kMaxAnswers = 1 << 16;  // some megabytes

  template <class Visit>
  static void for_each_node(const NodeBits& nodes, Visit visit) {
    nodes.for_each_run([&](int first, int length) {
      for (int node = first; node < first + length; ++node) visit(static_cast<std::size_t>(node));
    });
  }

  using AnswerKey = std::pmr::vector<std::uint64_t>;
  struct KeyHash {
    std::size_t operator()(const AnswerKey& key) const {
      std::uint64_t hash = key.size();
      for (const std::uint64_t word : key) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };

  const NodeBits weighted_nodes_;
  std::int64_t version_ = -1;  // of the allocations
  std::vector<std::byte> arena_buffer_ = std::vector<std::byte>(1 << 18);
  std::pmr::monotonic_buffer_resource arena_{arena_buffer_.data(), arena_buffer_.size()};
  std::optional<std::pmr::unordered_map<AnswerKey, Answer, KeyHash>> answers_{&arena_};
  NodeBits question_nodes_;        // of the last question: its nodes with weights that change
  AnswerKey key_;                  // of the last question
  AnswerKey last_key_;             // of the one before: a fifth of all questions equal it
  Answer* last_answer_ = nullptr;  // of the last question
};

}  // namespace cosched::slurm
