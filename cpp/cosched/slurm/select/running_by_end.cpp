#include "cosched/slurm/select/running_by_end.hpp"

namespace cosched::slurm {

void RunningByEnd::refresh(const Allocations& allocations) {
  if (version_ == allocations.version()) return;
  version_ = allocations.version();
  jobs_.clear();
  first_word_index_.clear();
  first_word_.clear();
  multi_word_jobs_.assign(allocations.running_jobs().size() / 64 + 1, 0);
  for (const int job : allocations.running_jobs()) {
    const NodeBits& nodes = allocations.nodes(job);
    const std::vector<std::uint64_t>& words = nodes.words();
    std::size_t first = 0;
    while (first + 1 < words.size() && words[first] == 0) ++first;
    const bool has_further_words =
        std::any_of(words.begin() + static_cast<std::ptrdiff_t>(first) + 1, words.end(),
                    [](auto word) { return word != 0; });
    if (has_further_words) multi_word_jobs_[size() / 64] |= std::uint64_t{1} << size() % 64;
    first_word_index_.push_back(first);
    first_word_.push_back(words[first]);
    const Shares& shares = allocations.shares(job);
    const bool has_single_share = shares.nodes.size() == 1 && shares.gpus.empty();
    jobs_.push_back({job, allocations.expected_end(job), &nodes,
                     has_single_share ? shares.nodes.front() : Share{-1, 0, 0}});
  }
}

}  // namespace cosched::slurm
