#include "cosched/slurm/model/node_bits.hpp"

#include <algorithm>

namespace cosched::slurm {
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

bool NodeBits::at_least(int count) const {
  for (auto word = words_.begin(); count > 0 && word != words_.end(); ++word)
    count -= popcount(*word);
  return count <= 0;
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

}  // namespace cosched::slurm
