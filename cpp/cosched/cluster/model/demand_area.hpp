// The integral of min(P, D(t)), D = CPU need of unfinished jobs, P = number of nodes.
#pragma once

#include <algorithm>

namespace cosched::cluster {

/// Call `change` at each submission and completion, in order of time.
class DemandArea {
 public:
  explicit DemandArea(int nodes) : nodes_(nodes) {}

  /// From `time` on, the unfinished jobs need `cpu` more nodes, and there are `jobs` more of them.
  void change(double time, double cpu, int jobs) {
    area_ += std::min(demand_, nodes_) * (time - last_change_);
    last_change_ = time;
    unfinished_jobs_ += jobs;
    // Exact again whenever the system is empty.
    demand_ = unfinished_jobs_ == 0 ? 0 : demand_ + cpu;
  }

  /// Until the last change.
  double value() const { return area_; }

 private:
  double nodes_;
  double demand_ = 0;
  double last_change_ = 0;
  double area_ = 0;
  int unfinished_jobs_ = 0;
};

}  // namespace cosched::cluster
