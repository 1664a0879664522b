// DEMT, the paper's bi-criteria algorithm (section 3.2, figure 2), in stages: batches of doubling
// length, each filled by a knapsack of greatest weight; then three steps of compaction.
#pragma once

#include "cosched/moldable/model/placement.hpp"

namespace cosched::moldable::batches {

/// Jobs that run one after another on the same processors: one job, or a stack of sequential ones.
struct Item {
  int procs;
  std::vector<int> jobs;
};

/// Items that start together and end within `length`: together at most m processors.
struct Batch {
  double length;
  std::vector<Item> items;
};

/// Order of a batch's jobs in the list: decreasing w / t, w / (q t), or w; or increasing q t.
enum class LocalOrder { smith, density, weight, area };

/// The batches for C = `horizon`.  t_min = the least time of any job, K = floor(log2(C / t_min));
/// batch j has length t_j = C / 2^(K-j), j = 0..K, and on with doubled lengths while jobs remain.
/// A job that fits in t_j is a candidate on gamma_i(t_j) processors; sequential ones up to t_j / 2
/// are merged, by decreasing weight, into stacks of length <= t_j.  The knapsack takes the
/// candidates of greatest weight on m processors.  What it leaves idle goes to candidates of weight
/// 0, which no knapsack wants.  Ties go to the lowest job.
/// Requires horizon > 0 and no release dates.
/// O((K + log(n m)) (n log(n m) + a knapsack)); the paper's bound is O(m n K).
std::vector<Batch> make_batches(const Instance& instance, double horizon);

/// No compaction: batch j starts at t_j.
Placement run_batches(const Instance& instance, const std::vector<Batch>& batches);

/// Step 1: the same processors (in each batch, items in local order from processor 0), each item as
/// early as they are idle.  O(n + m batches).
Placement start_early(const Instance& instance, const std::vector<Batch>& batches);

/// Step 2: list scheduling, batch by batch, each in local order, stacks taken apart.
/// O(n log n).
Placement list_batches(const Instance& instance, const std::vector<Batch>& batches,
                       LocalOrder order);

struct DemtOptions {
  /// The last step of compaction that is made; each keeps the better of its own and the last
  /// result.
  enum class Compaction { none, early, list, shuffle };
  Compaction compaction = Compaction::shuffle;
  LocalOrder local_order = LocalOrder::density;
  int shuffles = 10;              // random orders of the batches in step 3
  std::uint64_t seed = 0;         // for the shuffles
  std::optional<double> horizon;  // C; none: the makespan of the dual approximation
};

/// DEMT.  Step 3 lists the batches in random orders.  The paper does not say what "best" means for
/// two criteria; here it is the less minsum, then the less makespan: the batches have already
/// bounded the makespan.
/// Requires no release dates, horizon > 0.
Placement demt(const Instance& instance, const DemtOptions& options = {});

}  // namespace cosched::moldable::batches
