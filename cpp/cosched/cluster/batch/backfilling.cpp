#include "cosched/cluster/batch/backfilling.hpp"

#include "cosched/cluster/batch/conservative.hpp"
#include "cosched/cluster/batch/fcfs_easy.hpp"

namespace cosched::cluster::batch {

SimulationOutcome fcfs(const Instance& instance, DecisionLog* log) {
  require_batch_fits(instance);
  return run_fcfs_easy(instance, BatchRule::fcfs, Estimates::perfect, log);
}

SimulationOutcome easy(const Instance& instance, Estimates estimates, DecisionLog* log) {
  require_batch_fits(instance);
  return run_fcfs_easy(instance, BatchRule::easy, estimates, log);
}

PlacedOutcome backfill(const Instance& instance, const Layout& layout, BatchRule rule,
                       const QueueOrder& order, Estimates estimates, DecisionLog* log) {
  require_layout_fits(instance, layout);
  if (rule == BatchRule::conservative)
    return run_conservative(instance, layout, order, estimates, log);
  return run_fcfs_easy(instance, layout, rule, order, estimates, log);
}

SiteOutcome backfill(const Instance& instance, const Site& site, BatchRule rule,
                     const QueueOrder& order, Estimates estimates, DecisionLog* log) {
  require_site_fits(instance, site);
  if (rule == BatchRule::conservative)
    return run_conservative(instance, site, order, estimates, log);
  return run_fcfs_easy(instance, site, rule, order, estimates, log);
}

}  // namespace cosched::cluster::batch
