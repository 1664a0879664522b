// The nodes of a job's tasks.  Most jobs have few tasks and millions of lists come and go: a short
// list needs no memory of its own, and lies with the job's record.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace cosched::cluster::dfrs {

/// Behaves like a std::vector<int> that only grows at its end.
class NodeList {
 public:
  using value_type = int;
  using const_iterator = const int*;
  using iterator = const_iterator;

  NodeList() = default;
  NodeList(const int* nodes, std::size_t count) { assign(nodes, count); }
  NodeList(std::initializer_list<int> nodes) : NodeList(nodes.begin(), nodes.size()) {}
  NodeList(const std::vector<int>& nodes)  // NOLINT: implicit, a list is a list
      : NodeList(nodes.data(), nodes.size()) {}
  NodeList(const NodeList& other) : NodeList(other.data(), other.size()) {}
  NodeList(NodeList&& other) noexcept
      : size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, kHere)),
        here_(other.here_),
        more_(std::move(other.more_)) {}
  NodeList& operator=(const NodeList& other) {
    if (this != &other) assign(other.data(), other.size());
    return *this;
  }
  NodeList& operator=(NodeList&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kHere);
    here_ = other.here_;
    more_ = std::move(other.more_);
    return *this;
  }
  ~NodeList() = default;

  std::size_t size() const { return static_cast<std::size_t>(size_); }
  bool empty() const { return size_ == 0; }
  const int* data() const { return more_ ? more_.get() : here_.data(); }
  const int* begin() const { return data(); }
  const int* end() const { return data() + size_; }
  int operator[](std::size_t k) const { return data()[k]; }

  void reserve(std::size_t count) {
    if (count <= static_cast<std::size_t>(capacity_)) return;
    std::unique_ptr<int[]> larger(new int[count]);
    std::copy_n(data(), size_, larger.get());
    more_ = std::move(larger);
    capacity_ = static_cast<int>(count);
  }
  /// `nodes` are not this list's.
  void assign(const int* nodes, std::size_t count) {
    size_ = 0;
    reserve(count);
    int* to = room();
    for (std::size_t k = 0; k < count; ++k) to[k] = nodes[k];  // few: no call
    size_ = static_cast<int>(count);
  }
  void append(std::size_t count, int node) {
    if (size() + count > static_cast<std::size_t>(capacity_))
      reserve(std::max(size() + count, 2 * size()));
    std::fill_n(room() + size_, count, node);
    size_ += static_cast<int>(count);
  }
  void sort() { std::sort(room(), room() + size_); }

  bool equals(const int* nodes, std::size_t count) const {
    if (size() != count) return false;
    const int* own = data();
    for (std::size_t k = 0; k < count; ++k)  // few: no call
      if (own[k] != nodes[k]) return false;
    return true;
  }
  bool operator==(const NodeList& other) const { return equals(other.data(), other.size()); }
  bool operator!=(const NodeList& other) const { return !(*this == other); }

 private:
  static constexpr int kHere = 6;

  int* room() { return more_ ? more_.get() : here_.data(); }

  int size_ = 0, capacity_ = kHere;
  std::array<int, kHere> here_{};
  std::unique_ptr<int[]> more_;  // instead of here_, where that is too small
};

// Running jobs and the nodes of their tasks, as the allocation of CPU looks at them.

/// Jobs with their CPU needs and the nodes of their tasks (one entry a task, increasing).
/// Views: the lists pointed to outlive the mapping.
struct Mapping {
  int nodes = 0;
  std::vector<double> cpu;
  std::vector<const NodeList*> where;

  int jobs() const { return static_cast<int>(cpu.size()); }
};

}  // namespace cosched::cluster::dfrs
