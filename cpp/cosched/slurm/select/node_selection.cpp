#include "cosched/slurm/select/node_selection.hpp"

namespace cosched::slurm {

int max_node_count(const Job& job) {
  const ResourceRequest& request = job.request;
  const bool is_limited_by_tasks = request.tasks > 0 && request.max_nodes > request.tasks;
  return is_limited_by_tasks ? std::max(request.tasks, job.nodes) : request.max_nodes;
}

NodeSelection::NodeSelection(const Job& job, const std::vector<Candidate>& candidates,
                             std::vector<WeightRun>& runs, std::vector<Share>& shares)
    : job_(job),
      candidates_(candidates),
      runs_(runs),
      shares_(shares),
      missing_nodes_(job.nodes),
      missing_cores_(job.cpus),
      missing_gpus_(job.request.are_gpus_by_node ? 0 : job.request.gpus),
      remaining_nodes_(max_node_count(job)) {}

bool NodeSelection::run() {
  shares_.clear();
  while (!runs_.empty() && remaining_nodes_ > 0) {
    const auto best = best_run();
    add_nodes_of(*best);
    if (is_satisfied()) return true;
    runs_.erase(best);
  }
  return false;
}

bool NodeSelection::is_sufficient(const WeightRun& run) const {
  return run.cores >= missing_cores_ && run.last - run.first >= missing_nodes_ &&
         run.gpus >= missing_gpus_;
}

// The run of least weight comes first; of these the sufficient one with the fewest cores; where
// none suffices, that with the most cores.  A later run that does not suffice but has more cores
// comes before one that does.
bool NodeSelection::is_better(const WeightRun& run, const WeightRun& best) const {
  const std::uint64_t weight = candidates_[run.first].weight;
  const std::uint64_t best_weight = candidates_[best.first].weight;
  if (weight != best_weight) return weight < best_weight;
  if (!is_sufficient(run)) return run.cores > best.cores;
  return !is_sufficient(best) || run.cores < best.cores;
}

std::vector<WeightRun>::iterator NodeSelection::best_run() {
  auto best = runs_.begin();
  for (auto run = best + 1; run != runs_.end(); ++run)
    if (is_better(*run, *best)) best = run;
  return best;
}

// The index of the candidate that completes the job alone with the fewest cores, or -1.
int NodeSelection::tightest_single_node(const WeightRun& run) const {
  if (missing_nodes_ > 1) return -1;
  int best = -1;
  for (int k = run.first; k < run.last; ++k) {
    const Candidate& candidate = candidates_[k];
    if (candidate.cores < missing_cores_ || candidate.gpus < missing_gpus_) continue;
    if (best < 0 || candidate.cores < candidates_[best].cores) best = k;
    if (candidate.cores == missing_cores_) break;
  }
  return best;
}

void NodeSelection::add_nodes_of(const WeightRun& run) {
  const int single_node = tightest_single_node(run);
  for (int k = run.first; k < run.last && remaining_nodes_ > 0 && !is_satisfied(); ++k) {
    const Candidate& candidate = candidates_[k];
    if (single_node >= 0 && k != single_node) continue;
    // The last node that the job may get has to complete it.
    if (remaining_nodes_ == 1 && candidate.cores < missing_cores_) continue;
    add_node(candidate);
  }
}

void NodeSelection::add_node(const Candidate& candidate) {
  // Each node that is still missing gets a core.
  const int max_cores =
      std::max(missing_cores_ - std::max(missing_nodes_ - 1, 0), job_.request.task_cores);
  const int cores =
      job_.request.is_exclusive ? candidate.cores : std::min(candidate.cores, max_cores);
  shares_.push_back({candidate.node, cores, 0});
  missing_cores_ -= cores;
  missing_gpus_ -= candidate.gpus;
  --missing_nodes_;
  --remaining_nodes_;
}

}  // namespace cosched::slurm
