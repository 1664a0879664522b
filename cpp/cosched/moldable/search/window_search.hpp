// Branch and bound over when each job starts, for the minsum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cosched/moldable/search/label_bounds.hpp"
#include "cosched/moldable/search/labels.hpp"

namespace cosched::moldable::search {

/// Where prices of time (time_prices.hpp) are weak, a long job starts in parts at many times.  A
/// node is a window of starts for each job, bounded by prices of its own: of two halves of the
/// window of the job whose starts are spread most each has a better bound.  Nodes go on by least
/// bound; labels (labels.hpp) within the windows end one, in more and more of them, as much work as
/// prices take.  A schedule that keeps one node's windows is one of the instance, so what is best
/// is in some node.
class WindowSearch {
 public:
  /// `proved`: no schedule is better.  `width`: labels of each number of jobs, at first.  Requires
  /// machines() <= kMostPricedMachines, and that the schedule known costs more than 0.  All must
  /// outlive it.
  WindowSearch(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
               double proved, Incumbent& incumbent, Effort& effort, std::size_t width = 400)
      : it_(instance), choices_(choices), best_(incumbent), effort_(effort) {
    const double longest = makespan(best_.placement());
    shortest_ = kShortest * longest;
    auto root = std::make_unique<Node>(Node{StartWindows(instance), proved, width, nullptr});
    root->prices = std::make_unique<TimePrices>(
        it_, choices_, root->windows, best_.value(), longest,
        std::min(kRootWork, std::max<std::int64_t>(0, effort_.left())), kWindowDoublings);
    push(std::move(root));
  }

  /// Goes on for about `work` steps.  False: they are over.  May be left by check_interrupt():
  /// bound() holds at any time.
  bool run(std::int64_t work) {
    const std::int64_t until = effort_.left() - work;
    while (!open_.empty()) {
      if (effort_.over() || effort_.left() < until) return false;
      std::pop_heap(open_.begin(), open_.end(), later<std::unique_ptr<Node>>);
      looked_at_ = std::move(open_.back());
      open_.pop_back();
      if (best_.hopeless(looked_at_->bound)) break;  // so are all others
      const Cut cut = cut_of(*looked_at_);
      if (cut.job < 0 || in_labels_ < in_prices_) {
        if (end_by_labels(*looked_at_)) {
          looked_at_.reset();
          continue;
        }
        if (cut.job < 0 || effort_.over()) {
          push(std::move(looked_at_));
          continue;
        }
      }
      branch(*looked_at_, cut);
    }
    open_.clear();
    looked_at_.reset();
    return true;
  }

  double bound() const {
    double least = best_.value();
    if (looked_at_) least = std::min(least, looked_at_->bound);
    if (!open_.empty()) least = std::min(least, open_.front()->bound);
    return least;
  }

 private:
  static constexpr int kWindowDoublings = 1;            // of cells: prices of a node cost less
  static constexpr std::int64_t kRootWork = 6'000'000;  // of prices
  static constexpr int kNodeRounds = 25;                // sets of prices of a node
  static constexpr double kShortest = 1e-3;             // of the length of a schedule

  // Least bound last, as heaps have it.
  template <class Pointer>
  static bool later(const Pointer& a, const Pointer& b) {
    return a->bound > b->bound;
  }

  struct Node {
    StartWindows windows;
    double bound;
    std::size_t width;
    std::unique_ptr<TimePrices> prices;
  };
  using Nodes = std::vector<std::unique_ptr<Node>>;

  struct Cut {
    int job;  // -1: none
    double at;
  };

  // The job whose work is spread most, at the mean of its starts.
  Cut cut_of(const Node& node) const {
    Cut cut{-1, 0};
    double most = 0;
    for (int job = 0; job < it_.jobs(); ++job) {
      const double first = node.windows.first[job], last = node.windows.last[job];
      if (last - first < shortest_) continue;
      const TimePrices::Spread spread = node.prices->spread(job);
      const double worth = it_.least_work(job) * spread.deviation;
      const double at =
          std::min(std::max(spread.mean, first + shortest_ / 4), last - shortest_ / 4);
      if (worth <= most) continue;
      most = worth;
      cut = {job, at};
    }
    return cut;
  }

  // Whether no schedule within the windows is better than the best known.
  bool end_by_labels(Node& node) {
    const std::int64_t left = effort_.left();
    LabelBounds bounds(it_, choices_, node.windows, *node.prices, best_, effort_);
    Labels labels(it_, choices_, node.windows, Objective::minsum, best_, bounds, effort_);
    bool all = false;
    try {
      all = labels.pass(node.width) && labels.dropped() >= best_.value();
    } catch (...) {
      node.bound = std::max(node.bound, labels.bound());
      throw;
    }
    node.bound = std::max(node.bound, std::min(labels.bound(), best_.value()));
    node.width *= 4;
    in_labels_ += left - effort_.left();
    return all;
  }

  // Starts at or before the cut, and from it on.
  void branch(const Node& node, const Cut& cut) {
    const std::int64_t left = effort_.left();
    Nodes made;
    for (const bool before : {true, false}) {
      auto half = std::make_unique<Node>(Node{node.windows, node.bound, node.width, nullptr});
      (before ? half->windows.last : half->windows.first)[cut.job] = cut.at;
      half->prices =
          std::make_unique<TimePrices>(*node.prices, half->windows, best_.value(), kNodeRounds,
                                       std::max<std::int64_t>(0, effort_.left()));
      effort_.count(half->prices->take_work());
      half->bound = std::max(half->bound, half->prices->bound() * (1 - kProofRounding));
      if (!best_.hopeless(half->bound)) made.push_back(std::move(half));
    }
    in_prices_ += left - effort_.left();
    for (auto& half : made) push(std::move(half));
    looked_at_.reset();
  }

  void push(std::unique_ptr<Node> node) {
    open_.push_back(std::move(node));
    std::push_heap(open_.begin(), open_.end(), later<std::unique_ptr<Node>>);
  }

  const Instance& it_;
  const std::vector<std::vector<Choice>>& choices_;
  Incumbent& best_;
  Effort& effort_;
  double shortest_ = 0;  // windows are not cut
  std::int64_t in_labels_ = 0, in_prices_ = 0;
  Nodes open_;  // a heap, least bound first
  std::unique_ptr<Node> looked_at_;
};

}  // namespace cosched::moldable::search
