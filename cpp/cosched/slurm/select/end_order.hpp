// Running jobs in order of their limits, side by side: a test in the backfill cycle looks at all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "cosched/slurm/select/allocations.hpp"

namespace cosched::slurm {

class EndOrder {
 public:
  /// As the allocations are now.  O(running), where anything has changed since the last call.
  void refresh(const Allocations& allocations);

  std::size_t size() const { return jobs_.size(); }
  int job(std::size_t k) const { return jobs_[k]; }
  Second due(std::size_t k) const { return due_[k]; }

  /// A set to compare with those of many jobs: its words from the first to the last with a node.
  struct Wanted {
    explicit Wanted(const NodeBits& nodes);
    const std::vector<std::uint64_t>& words;
    std::size_t first, last;
  };
  /// The k-th job has one of its nodes.
  bool meets(std::size_t k, const Wanted& wanted) const {
    const std::uint64_t* own = words_.data() + k * wanted.words.size();
    std::uint64_t common = 0;
    for (std::size_t w = wanted.first; w < wanted.last; ++w) common |= own[w] & wanted.words[w];
    return common != 0;
  }

 private:
  std::vector<int> jobs_;
  std::vector<Second> due_;
  std::vector<std::uint64_t> words_;  // of all nodes, job after job
  std::int64_t version_ = -1;
};

/// Running jobs in order of their ends, in the groups after which select/cons_tres tests (RULES.md 5.6).
class EndGroups {
 public:
  /// Jobs that end before `from` are gone already; those that end after `later` stay.
  EndGroups(const EndOrder& order, const NodeBits& avail, Second epoch, int window_linear,
            Second from, Second later)
      : of_(order), avail_(avail), epoch_(epoch), window_linear_(window_linear), later_(later) {
    while (next_ < of_.size() && of_.due(next_) < from) ++next_;
    gone_ = next_;
  }

  /// Calls gone(job) for those that are gone already and have a node in `avail`.
  template <class Gone>
  void already(Gone gone) const {
    for (std::size_t k = 0; k < gone_; ++k)
      if (of_.meets(k, avail_)) gone(of_.job(k));
  }

  bool some_gone() const { return gone_ > 0; }

  /// Calls gone(job) for each job of the next group that has a node in `avail`; returns the last
  /// of them, or -1: none left.
  template <class Gone>
  int next(Gone gone) {
    constexpr int kMost = 200;
    int last = -1;
    for (int removed = 0; next_ < of_.size();) {
      const Second end = of_.due(next_);
      if (end > later_) {
        next_ = of_.size();
        break;
      }
      const std::size_t other = next_++;
      if (!of_.meets(other, avail_)) continue;
      if (base_ == kNever) base_ = end + spread_ - (epoch_ + end) % spread_;
      last = of_.job(other);
      gone(last);
      if (outside_window()) break;
      if (removed++ > kMost) break;
    }
    if (last < 0) return last;
    do {
      spread_ = window_linear_ ? spread_ + window_linear_ : spread_ * 2;
    } while (outside_window());
    return last;
  }

 private:
  bool outside_window() const { return next_ < of_.size() && of_.due(next_) > base_ + spread_; }

  const EndOrder& of_;
  const EndOrder::Wanted avail_;
  const Second epoch_;
  const int window_linear_;
  const Second later_;
  std::size_t next_ = 0, gone_ = 0;
  Second spread_ = 30, base_ = kNever;
};

}  // namespace cosched::slurm
