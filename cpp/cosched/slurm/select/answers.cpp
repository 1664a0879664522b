#include "cosched/slurm/select/answers.hpp"

namespace cosched::slurm {
namespace {

// So many answers at most are kept: some megabytes.
constexpr std::size_t kMost = 1 << 16;

template <class Visit>
void each(const NodeBits& nodes, Visit visit) {
  nodes.runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node) visit(static_cast<std::size_t>(node));
  });
}

}  // namespace

Answers::Answer& Answers::find(const Question& question, std::int64_t version,
                               const Weights& weights) {
  if (version != version_ || known_.size() >= kMost) forget();
  version_ = version;
  const auto word = [](auto value) { return static_cast<std::uint64_t>(value); };
  const std::vector<std::uint64_t>& nodes = question.nodes.words();
  key_.assign(nodes.begin(), nodes.end());
  key_.push_back(word(question.shape) << 32 | word(question.part) << 2 |
                 word(question.at_once) << 1 | word(question.ahead));
  key_.push_back(word(question.from));
  key_.push_back(word(question.later));
  looked_ = question.nodes;
  looked_ &= changing_;
  each(looked_, [&](std::size_t node) { key_.push_back(weights[node]); });
  return known_[key_];
}

void Answers::tell(Answer& answer, int after, const NodeBits& nodes, const Weights& weights) const {
  answer.after = after;
  answer.nodes = nodes;
  each(looked_, [&](std::size_t node) { answer.left.push_back(weights[node]); });
}

void Answers::leave(const Answer& answer, Weights& weights) const {
  auto left = answer.left.begin();
  each(looked_, [&](std::size_t node) { weights[node] = *left++; });
}

std::size_t Answers::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint64_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace cosched::slurm
