// Branch and bound over when each job starts, for the minsum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cosched/moldable/search/label_bounds.hpp"
#include "cosched/moldable/search/labels.hpp"

namespace cosched::moldable::search {

/// Where prices of time (time_prices.hpp) are weak, a long job starts in parts at many times.  A node is a
/// window of starts for each job, bounded by prices of its own: of two halves of the window of the job whose starts
/// are spread most each has a better bound.  Nodes go on by least bound; labels (labels.hpp) within the
/// windows end one, in more and more of them, as much work as prices take.  A schedule that keeps
/// one node's windows is one of the instance, so what is best is in some node.
class WindowSearch {
 public:
  /// `proved`: no schedule is better.  `width`: labels of each number of jobs, at first.  Requires machines()
  /// <= kMostPricedMachines, and that the schedule known costs more than 0.  All must outlive it.
  WindowSearch(const Instance& instance, const std::vector<std::vector<Choice>>& choices,
               double proved, Incumbent& incumbent, Effort& effort, std::size_t width = 400);

  /// Goes on for about `work` steps.  False: they are over.  May be left by check_interrupt(): bound() holds at
  /// any time.
  bool run(std::int64_t work);

  double bound() const;

 private:
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

  Cut cut_of(const Node& node) const;
  bool end_by_labels(Node& node);
  void branch(const Node& node, const Cut& cut);
  void push(std::unique_ptr<Node> node);

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
