// The nodes of a job's tasks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace cosched::cluster::dfrs {

/// Behaves like a std::vector<int> that only grows at its end.  Most jobs have few tasks and
/// millions of lists come and go: a short list needs no memory of its own and lies with the job's
/// record.  All functions are measured hot, so that they stay in the header.
class NodeList {
 public:
  using value_type = int;
  using const_iterator = const int*;
  using iterator = const_iterator;

  NodeList() = default;
  NodeList(const int* nodes, std::size_t count) { assign(nodes, count); }
  NodeList(std::initializer_list<int> nodes) : NodeList(nodes.begin(), nodes.size()) {}
  NodeList(const std::vector<int>& nodes)  // NOLINT: implicit, both are lists of nodes
      : NodeList(nodes.data(), nodes.size()) {}
  NodeList(const NodeList& other) : NodeList(other.data(), other.size()) {}
  NodeList(NodeList&& other) noexcept { take_from(other); }
  NodeList& operator=(const NodeList& other) {
    if (this != &other) assign(other.data(), other.size());
    return *this;
  }
  NodeList& operator=(NodeList&& other) noexcept {
    take_from(other);
    return *this;
  }
  ~NodeList() = default;

  std::size_t size() const { return static_cast<std::size_t>(size_); }
  bool empty() const { return size_ == 0; }
  const int* data() const { return heap_nodes_ ? heap_nodes_.get() : inline_nodes_.data(); }
  const int* begin() const { return data(); }
  const int* end() const { return data() + size_; }
  int operator[](std::size_t k) const { return data()[k]; }

  void reserve(std::size_t count) {
    if (count <= static_cast<std::size_t>(capacity_)) return;
    std::unique_ptr<int[]> larger_array(new int[count]);
    std::copy_n(data(), size_, larger_array.get());
    heap_nodes_ = std::move(larger_array);
    capacity_ = static_cast<int>(count);
  }
  /// Requires nodes that are not this list's.
  void assign(const int* nodes, std::size_t count) {
    size_ = 0;
    reserve(count);
    int* target = mutable_data();
    for (std::size_t k = 0; k < count; ++k) target[k] = nodes[k];  // few: no call of memcpy
    size_ = static_cast<int>(count);
  }
  void append(std::size_t count, int node) {
    if (size() + count > static_cast<std::size_t>(capacity_))
      reserve(std::max(size() + count, 2 * size()));
    std::fill_n(mutable_data() + size_, count, node);
    size_ += static_cast<int>(count);
  }
  void sort() { std::sort(mutable_data(), mutable_data() + size_); }

  bool is_equal_to(const int* nodes, std::size_t count) const {
    if (size() != count) return false;
    const int* own_nodes = data();
    for (std::size_t k = 0; k < count; ++k)  // few: no call of memcmp
      if (own_nodes[k] != nodes[k]) return false;
    return true;
  }
  bool operator==(const NodeList& other) const { return is_equal_to(other.data(), other.size()); }

 private:
  static constexpr int kInlineNodes = 6;

  int* mutable_data() { return heap_nodes_ ? heap_nodes_.get() : inline_nodes_.data(); }

  // Leaves the other list empty.
  void take_from(NodeList& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    inline_nodes_ = other.inline_nodes_;
    heap_nodes_ = std::move(other.heap_nodes_);
    other.size_ = 0;
    other.capacity_ = kInlineNodes;
  }

  int size_ = 0;
  int capacity_ = kInlineNodes;
  std::array<int, kInlineNodes> inline_nodes_{};
  std::unique_ptr<int[]> heap_nodes_;  // instead of inline_nodes_, where that is too small
};

}  // namespace cosched::cluster::dfrs
