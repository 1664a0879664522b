#include "cosched/slurm/model/node_bits.hpp"

namespace cosched::slurm {

void NodeBits::add_range(int first, int last) {
  int node = first;
  while (node < last) {
    const int count = count_in_word(node, last);
    words_[word(node)] |= low_bits(count) << bit(node);
    node += count;
  }
}

int NodeBits::count_range(int first, int last) const {
  int sum = 0;
  int node = first;
  while (node < last) {
    const int count = count_in_word(node, last);
    sum += popcount(words_[word(node)] >> bit(node) & low_bits(count));
    node += count;
  }
  return sum;
}

std::vector<int> NodeBits::to_list() const {
  std::vector<int> members;
  for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node) members.push_back(node);
  });
  return members;
}

}  // namespace cosched::slurm
