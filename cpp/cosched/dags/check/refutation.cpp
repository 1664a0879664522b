#include "cosched/dags/check/refutation.hpp"

#include <optional>
#include <vector>

#include "cosched/core/interrupt.hpp"
#include "cosched/dags/check/transfer_clusters.hpp"
#include "cosched/dags/check/transfer_open.hpp"
#include "cosched/dags/check/transfer_rows.hpp"

namespace cosched::dags::check {
namespace {

class Check {
 public:
  Check(const Instance& instance, const proof::TransferRefutation& refutation)
      : refutation_(refutation), open_(instance, refutation.makespan) {
    if (refutation.clusters && instance.transfers().given()) clusters_.emplace(open_);
  }

  bool refutes() {
    if (!prune(open_)) return true;
    for (const proof::TransferStage& stage : refutation_.stages) {
      check_interrupt();
      if (!stage.raise.empty())
        open_.raise(stage.raise);
      else if (!stage.guesses.empty())
        close_failing(stage.guesses);
      else if (combine(stage))
        return true;
      if (!prune(open_)) return true;
    }
    return false;
  }

 private:
  // False: a task can run nowhere in time.
  bool prune(TransferOpen& open) const {
    do {
      if (!open.prune()) return false;
    } while (clusters_ && clusters_->bind(open));
    return true;
  }

  // Each guess with which nothing is left.
  void close_failing(const std::vector<proof::TransferGuess>& guesses) {
    for (const proof::TransferGuess& guess : guesses) {
      TransferOpen rest(open_);
      rest.keep_only(guess);
      if (!prune(rest)) open_.close(guess);
    }
  }

  // True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
  bool combine(const proof::TransferStage& stage) {
    const TransferRow row(open_, stage);
    if (row.breaks()) return true;
    for (const proof::TransferGuess& broken : row.broken()) open_.close(broken);
    return false;
  }

  const proof::TransferRefutation& refutation_;
  TransferOpen open_;
  std::optional<TransferClusters> clusters_;
};

}  // namespace

bool refutes(const Instance& instance, const proof::TransferRefutation& refutation) {
  return Check(instance, refutation).refutes();
}

}  // namespace cosched::dags::check
