// Sorting by values of which few are distinct, as needs of jobs and loads of nodes are.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace cosched::cluster::dfrs {

/// Items of one kind have the same value.
struct Kinds {
  std::vector<double> values;  // by kind, decreasing
  std::vector<int> of;         // by item
};

/// O(items) where few values are distinct, else O(items log items).
Kinds kinds_of(const std::vector<double>& values);

/// Items by kind, those of one by number; `count` kinds.  O(items + kinds).
std::vector<int> by_kind(const std::vector<int>& kind_of, std::size_t count);

/// Items by decreasing value, ties by number.
std::vector<int> by_decreasing(const std::vector<double>& values);

// A list of items by decreasing key that finds the first fitting one in O(log n).

class FirstFitList {
 public:
  void clear() {
    items_.clear();
    keys_.clear();
    other_.clear();
  }
  /// Keys must not increase.  `other` is the second requirement.
  void push(int item, double key, double other) {
    items_.push_back(item);
    keys_.push_back(key);
    other_.push_back(other);
  }
  int size() const { return static_cast<int>(items_.size()); }
  /// After the last push, before the first search.  O(n).
  void build();
  /// A new node: the search starts at the top of the list again.
  void rewind() { at_ = 0; }
  /// Position of the first item with key_load + key <= limit and other_load + other <=
  /// limit, or -1.  Loads must not decrease between two rewinds: what did not fit, will not.
  int find(double key_load, double other_load, double limit);
  int item(int position) const { return items_[position]; }
  /// The item has no tasks left.
  void remove(int position);

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  int descend(int from, double other_load, double limit) const;
  void update(int k);  // a tree node, from its children

  std::vector<int> items_;
  std::vector<double> keys_, other_;
  std::vector<double> least_;  // heap-shaped: least `other` below each tree node
  int leaves_ = 1, at_ = 0;
};

}  // namespace cosched::cluster::dfrs
