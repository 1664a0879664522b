#include "cosched/cluster/slurm/nodes.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {
namespace {

// Without -mpopcnt the built-in is a call, which was a fifth of the time.
int popcount(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>(word * 0x0101010101010101u >> 56);
}

}  // namespace

void NodeBits::add_range(int first, int last) {
  for (int node = first; node < last;) {
    const int room = std::min(last - node, 64 - static_cast<int>(bit(node)));
    const std::uint64_t ones = room == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
    words_[word(node)] |= ones << bit(node);
    node += room;
  }
}

NodeBits& NodeBits::operator&=(const NodeBits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  return *this;
}

NodeBits& NodeBits::operator|=(const NodeBits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  return *this;
}

NodeBits& NodeBits::operator-=(const NodeBits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  return *this;
}

int NodeBits::count() const {
  int sum = 0;
  for (const auto word : words_) sum += popcount(word);
  return sum;
}

bool NodeBits::any() const {
  return std::any_of(words_.begin(), words_.end(), [](auto word) { return word != 0; });
}

int NodeBits::count_common(const NodeBits& other) const {
  int sum = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) sum += popcount(words_[w] & other.words_[w]);
  return sum;
}

bool NodeBits::meets(const NodeBits& other) const {
  for (std::size_t w = 0; w < words_.size(); ++w)
    if (words_[w] & other.words_[w]) return true;
  return false;
}

bool NodeBits::within(const NodeBits& other) const {
  for (std::size_t w = 0; w < words_.size(); ++w)
    if (words_[w] & ~other.words_[w]) return false;
  return true;
}

bool NodeBits::common_within(const NodeBits& a, const NodeBits& b, const NodeBits& c,
                             const NodeBits& d) {
  for (std::size_t w = 0; w < a.words_.size(); ++w)
    if (a.words_[w] & b.words_[w] & ~(c.words_[w] & d.words_[w])) return false;
  return true;
}

std::vector<int> NodeBits::list() const {
  std::vector<int> members;
  runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node) members.push_back(node);
  });
  return members;
}

void best_fit(const NodeBits& candidates, int wanted, NodeBits& chosen) {
  struct Run {
    int first, length;
  };
  thread_local std::vector<Run> runs;
  runs.clear();
  candidates.runs([](int first, int length) { runs.push_back({first, length}); });
  chosen.clear();
  while (wanted > 0 && !runs.empty()) {
    auto best = runs.begin();
    for (auto run = best + 1; run != runs.end(); ++run) {
      const bool enough = run->length >= wanted, had = best->length >= wanted;
      if (enough ? !had || run->length < best->length : !had && run->length > best->length)
        best = run;
    }
    const int take = std::min(best->length, wanted);
    chosen.add_range(best->first, best->first + take);
    wanted -= take;
    runs.erase(best);
  }
}

namespace {

struct CoreRun {
  int first, last, cores;  // nodes [first, last)
};

// The node that suffices alone with the fewest free cores, or -1.
int single_node(const CoreRun& run, const std::vector<int>& free, int cores) {
  int best = -1;
  for (int node = run.first; node < run.last; ++node)
    if (free[node] >= cores && (best < 0 || free[node] < free[best])) best = node;
  return best;
}

}  // namespace

bool best_fit_cores(const NodeBits& candidates, const std::vector<int>& free, int cores,
                    NodeBits& chosen) {
  thread_local std::vector<CoreRun> runs;
  runs.clear();
  candidates.runs([&](int first, int length) {
    CoreRun run{first, first + length, 0};
    for (int node = first; node < run.last; ++node) run.cores += free[node];
    if (run.cores > 0) runs.push_back(run);
  });
  chosen.clear();
  while (cores > 0 && !runs.empty()) {
    auto best = runs.begin();
    for (auto run = best + 1; run != runs.end(); ++run) {
      const bool enough = run->cores >= cores, had = best->cores >= cores;
      if (enough ? !had || run->cores < best->cores : !had && run->cores > best->cores) best = run;
    }
    const int alone = single_node(*best, free, cores);
    for (int node = best->first; node < best->last && cores > 0; ++node) {
      if ((alone >= 0 && node != alone) || free[node] <= 0) continue;
      chosen.add(node);
      cores -= free[node];
    }
    runs.erase(best);
  }
  return cores <= 0;
}

}  // namespace cosched::cluster::slurm
