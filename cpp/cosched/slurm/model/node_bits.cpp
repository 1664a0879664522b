#include "cosched/slurm/model/node_bits.hpp"

#include <algorithm>

namespace cosched::slurm {

void NodeBits::add_range(int first, int last) {
  for (int node = first; node < last;) {
    const int room = std::min(last - node, 64 - static_cast<int>(bit(node)));
    const std::uint64_t ones = room == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
    words_[word(node)] |= ones << bit(node);
    node += room;
  }
}

int NodeBits::count_range(int first, int last) const {
  int sum = 0;
  for (int node = first; node < last;) {
    const int room = std::min(last - node, 64 - static_cast<int>(bit(node)));
    const std::uint64_t ones = room == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
    sum += popcount(words_[word(node)] >> bit(node) & ones);
    node += room;
  }
  return sum;
}

std::vector<int> NodeBits::list() const {
  std::vector<int> members;
  runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node) members.push_back(node);
  });
  return members;
}

}  // namespace cosched::slurm
