// Sets of nodes as bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosched::slurm {

/// A set of node numbers below a size that the constructor sets.  Operations on two sets require
/// equal sizes.  Functions that the backfill cycle calls for each job and record are inline, since
/// sets are a few words.
class NodeBits {
 public:
  explicit NodeBits(int nodes = 0) : words_((static_cast<std::size_t>(nodes) + 63) / 64) {}

  bool has(int node) const { return words_[word(node)] >> bit(node) & 1; }
  void add(int node) { words_[word(node)] |= std::uint64_t{1} << bit(node); }
  void remove(int node) { words_[word(node)] &= ~(std::uint64_t{1} << bit(node)); }
  /// Adds the nodes [first, last).
  void add_range(int first, int last);
  void clear() { words_.assign(words_.size(), 0); }

  NodeBits& operator&=(const NodeBits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }
  NodeBits& operator|=(const NodeBits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  NodeBits& operator-=(const NodeBits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  bool operator==(const NodeBits& other) const { return words_ == other.words_; }

  int count() const {
    int sum = 0;
    for (const auto word : words_) sum += popcount(word);
    return sum;
  }
  bool has_at_least(int count) const { return has_at_least(words_.data(), words_.size(), count); }
  /// True when `size` words have at least `count` bits; `count` is 1 in most calls.
  template <class Size>
  static bool has_at_least(const std::uint64_t* words, Size size, int count) {
    if (count > 1) {
      for (std::size_t w = 0; w < size; ++w) count -= popcount(words[w]);
      return count <= 0;
    }
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < size; ++w) any |= words[w];
    return count < 1 || any != 0;
  }
  /// How many of the nodes [first, last) are members.
  int count_range(int first, int last) const;
  bool any() const {
    return std::any_of(words_.begin(), words_.end(), [](auto word) { return word != 0; });
  }
  int count_common(const NodeBits& other) const {
    int sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) sum += popcount(words_[w] & other.words_[w]);
    return sum;
  }
  bool intersects(const NodeBits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if (words_[w] & other.words_[w]) return true;
    return false;
  }
  bool is_subset_of(const NodeBits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if (words_[w] & ~other.words_[w]) return false;
    return true;
  }

  /// Calls visit(first, length) for each run of consecutive members, from the lowest.
  template <class Visit>
  void for_each_run(Visit visit) const;
  /// Members, increasing.
  std::vector<int> to_list() const;

  /// The members as bits: word w has the nodes from 64 w on.
  const std::vector<std::uint64_t>& words() const { return words_; }
  std::vector<std::uint64_t>& words() { return words_; }

  // Without -mpopcnt the built-in is a call, which was a fifth of the time.
  static int popcount(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<int>(word * 0x0101010101010101u >> 56);
  }

 private:
  static std::size_t word(int node) { return static_cast<std::size_t>(node) >> 6; }
  static unsigned bit(int node) { return static_cast<unsigned>(node) & 63; }
  // How many of the nodes [node, last) are in the word of `node`.
  static int count_in_word(int node, int last) {
    return std::min(last - node, 64 - static_cast<int>(bit(node)));
  }
  static std::uint64_t low_bits(int count) {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }

  std::vector<std::uint64_t> words_;
};

template <class Visit>
void NodeBits::for_each_run(Visit visit) const {
  int first = -1;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const int base = static_cast<int>(w) * 64;
    int position = 0;
    while (position < 64) {
      // Bits that end the search: members outside of a run, gaps within one.
      const std::uint64_t next_bits = (first < 0 ? words_[w] : ~words_[w]) >> position;
      if (next_bits == 0) break;
      position += __builtin_ctzll(next_bits);
      if (first < 0) {
        first = base + position;
      } else {
        visit(first, base + position - first);
        first = -1;
      }
    }
  }
  if (first >= 0) visit(first, static_cast<int>(words_.size()) * 64 - first);
}

}  // namespace cosched::slurm
