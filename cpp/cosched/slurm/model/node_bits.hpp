// Sets of nodes as bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosched::slurm {

/// A set of node numbers below a size fixed at construction.  Two sets that meet have one size.
/// What the backfill cycle asks for each job and record is inline: sets are a few words.
class NodeBits {
 public:
  explicit NodeBits(int nodes = 0) : words_((static_cast<std::size_t>(nodes) + 63) / 64) {}

  bool has(int node) const { return words_[word(node)] >> bit(node) & 1; }
  void add(int node) { words_[word(node)] |= std::uint64_t{1} << bit(node); }
  void remove(int node) { words_[word(node)] &= ~(std::uint64_t{1} << bit(node)); }
  /// Adds the nodes [first, last).
  void add_range(int first, int last) {
    for (int node = first; node < last;) {
      const int room = std::min(last - node, 64 - static_cast<int>(bit(node)));
      const std::uint64_t ones = room == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
      words_[word(node)] |= ones << bit(node);
      node += room;
    }
  }
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
  /// Of words: so many bits, which is mostly one.
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
  int count_range(int first, int last) const {
    int sum = 0;
    for (int node = first; node < last;) {
      const int room = std::min(last - node, 64 - static_cast<int>(bit(node)));
      const std::uint64_t ones = room == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
      sum += popcount(words_[word(node)] >> bit(node) & ones);
      node += room;
    }
    return sum;
  }
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
  bool is_subset_of(const NodeBits& other) const {  // is a subset of it
    for (std::size_t w = 0; w < words_.size(); ++w)
      if (words_[w] & ~other.words_[w]) return false;
    return true;
  }

  /// Calls visit(first, length) for each run of consecutive members, from the lowest.
  template <class Visit>
  void for_each_run(Visit visit) const;
  /// Members, increasing.
  std::vector<int> to_list() const {
    std::vector<int> members;
    for_each_run([&](int first, int length) {
      for (int node = first; node < first + length; ++node) members.push_back(node);
    });
    return members;
  }

  /// Those that are in each of these 64-node words, from node 0 on.
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

  std::vector<std::uint64_t> words_;
};

template <class Visit>
void NodeBits::for_each_run(Visit visit) const {
  int first = -1;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const int base = static_cast<int>(w) * 64;
    int at = 0;
    while (at < 64) {
      const std::uint64_t rest = (first < 0 ? words_[w] : ~words_[w]) >> at;
      if (rest == 0) break;
      at += __builtin_ctzll(rest);
      if (first < 0) {
        first = base + at;
      } else {
        visit(first, base + at - first);
        first = -1;
      }
    }
  }
  if (first >= 0) visit(first, static_cast<int>(words_.size()) * 64 - first);
}

}  // namespace cosched::slurm
