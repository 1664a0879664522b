#include "cosched/slurm/select/end_order.hpp"

namespace cosched::slurm {

void EndOrder::refresh(const Allocations& allocations) {
  if (version_ == allocations.version()) return;
  version_ = allocations.version();
  jobs_ = allocations.running();
  due_.clear();
  words_.clear();
  for (const int job : jobs_) {
    const std::vector<std::uint64_t>& held = allocations.nodes(job).words();
    due_.push_back(allocations.due(job));
    words_.insert(words_.end(), held.begin(), held.end());
  }
}

EndOrder::Wanted::Wanted(const NodeBits& nodes)
    : words(nodes.words()), first(0), last(words.size()) {
  while (first < last && words[first] == 0) ++first;
  while (first < last && words[last - 1] == 0) --last;
}

}  // namespace cosched::slurm
