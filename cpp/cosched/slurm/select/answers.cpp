#include "cosched/slurm/select/answers.hpp"

namespace cosched::slurm {
namespace {

// So many answers at most are kept: some megabytes.
constexpr std::size_t kMost = 1 << 16;

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
  key_.push_back(word(number_of(weights)));
  return known_[key_];
}

void Answers::tell(Answer& answer, int after, const NodeBits& nodes, const Weights& weights) {
  answer = {after, nodes, number_of(weights)};
}

void Answers::leave(const Answer& answer, Weights& weights) {
  if (answer.weights != current_) weights = *weights_[static_cast<std::size_t>(answer.weights)];
  current_ = answer.weights;
}

void Answers::forget() {
  known_.clear();
  numbers_.clear();
  weights_.clear();
}

int Answers::number_of(const Weights& weights) {
  const auto current = static_cast<std::size_t>(current_);
  if (current < weights_.size() && *weights_[current] == weights) return current_;
  const auto [place, fresh] = numbers_.emplace(weights, static_cast<int>(weights_.size()));
  if (fresh) weights_.push_back(&place->first);
  return current_ = place->second;
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
