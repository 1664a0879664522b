#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

void BestFit::choose(const NodeBits& candidates, int wanted, NodeBits& chosen) {
  runs_.clear();
  candidates.for_each_run([&](int first, int length) { runs_.push_back({first, length}); });
  chosen.clear();
  while (wanted > 0 && !runs_.empty()) {
    auto best = runs_.begin();
    for (auto run = best + 1; run != runs_.end(); ++run) {
      const bool enough = run->length >= wanted, had = best->length >= wanted;
      if (enough ? !had || run->length < best->length : !had && run->length > best->length)
        best = run;
    }
    const int take = std::min(best->length, wanted);
    chosen.add_range(best->first, best->first + take);
    wanted -= take;
    runs_.erase(best);
  }
}

namespace {

// No more nodes than tasks.
int max_node_count(const Job& job) {
  const ResourceRequest& ask = job.request;
  return ask.tasks > 0 && ask.max_nodes > ask.tasks ? std::max(ask.tasks, job.nodes)
                                                    : ask.max_nodes;
}

}  // namespace

// One attempt: what is still wanted, and what was taken.
class NodeSelection {
  using Candidate = Candidates::Candidate;
  using WeightRun = Candidates::WeightRun;

 public:
  NodeSelection(const Job& job, const std::vector<Candidate>& all, std::vector<WeightRun>& runs,
                std::vector<Share>& taken)
      : job_(job),
        candidates_(all),
        runs_(runs),
        shares_(taken),
        missing_nodes_(job.nodes),
        missing_cores_(job.cpus),
        missing_gpus_(job.request.are_gpus_by_node ? 0 : job.request.gpus),
        remaining_nodes_(max_node_count(job)) {}

  bool run() {
    shares_.clear();
    while (!runs_.empty() && remaining_nodes_ > 0) {
      const auto best = best_run();
      take_from(*best);
      if (is_satisfied()) return true;
      runs_.erase(best);
    }
    return false;
  }

 private:
  bool is_satisfied() const {
    return missing_nodes_ <= 0 && missing_cores_ <= 0 && missing_gpus_ <= 0;
  }

  bool is_sufficient(const WeightRun& run) const {
    return run.cores >= missing_cores_ && run.last - run.first >= missing_nodes_ &&
           run.gpus >= missing_gpus_;
  }

  std::vector<WeightRun>::iterator best_run() {
    const auto weight = [&](const WeightRun& run) { return candidates_[run.first].weight; };
    auto best = runs_.begin();
    bool had = is_sufficient(*best);
    for (auto run = best + 1; run != runs_.end(); ++run) {
      const bool is = is_sufficient(*run);
      const bool better =
          weight(*run) < weight(*best) ||
          (weight(*run) == weight(*best) &&
           ((is && (!had || run->cores < best->cores)) || (!is && run->cores > best->cores)));
      if (!better) continue;
      best = run;
      had = is;
    }
    return best;
  }

  // The candidate that completes the job alone with the fewest cores, or -1.
  int tightest_single_node(const WeightRun& run) const {
    if (missing_nodes_ > 1) return -1;
    int best = -1;
    for (int k = run.first; k < run.last; ++k) {
      const Candidate& one = candidates_[k];
      if (one.cores < missing_cores_ || one.gpus < missing_gpus_) continue;
      if (best < 0 || one.cores < candidates_[best].cores) best = k;
      if (one.cores == missing_cores_) break;
    }
    return best;
  }

  void take_from(const WeightRun& run) {
    const int only = tightest_single_node(run);
    for (int k = run.first; k < run.last && remaining_nodes_ > 0 && !is_satisfied(); ++k) {
      const Candidate& one = candidates_[k];
      if (only >= 0 && k != only) continue;
      if (remaining_nodes_ == 1 && one.cores < missing_cores_)
        continue;  // only one more may be taken
      take(one);
    }
  }

  void take(const Candidate& one) {
    // Each node that is still needed gets a core.
    const int most =
        std::max(missing_cores_ - std::max(missing_nodes_ - 1, 0), job_.request.task_cores);
    const int cores = job_.request.is_exclusive ? one.cores : std::min(one.cores, most);
    shares_.push_back({one.node, cores, 0});
    missing_cores_ -= cores;
    missing_gpus_ -= one.gpus;
    --missing_nodes_;
    --remaining_nodes_;
  }

  const Job& job_;
  const std::vector<Candidate>& candidates_;
  std::vector<WeightRun>& runs_;
  std::vector<Share>& shares_;
  int missing_nodes_, missing_cores_, missing_gpus_, remaining_nodes_;
};

namespace {

// Nothing but free cores decides.
bool needs_only_cores(const Machine& machine, const ResourceRequest& ask) {
  return machine.node_memory.empty() && ask.gpus == 0 && !ask.is_exclusive && ask.task_cores == 1 &&
         ask.max_nodes != 1;
}

// Where cores of a job with GPUs were taken on more nodes than they needed: one on each, the rest
// in order of the nodes.
template <class Candidate>
void spread_cores(const Job& job, const std::vector<Candidate>& all, std::vector<Share>& taken) {
  int left = job.cpus - static_cast<int>(taken.size());
  for (Share& share : taken) {
    const auto found =
        std::lower_bound(all.begin(), all.end(), share.node,
                         [](const Candidate& one, int node) { return one.node < node; });
    const int more = std::clamp(found->cores - 1, 0, std::max(left, 0));
    share.cores = 1 + more;
    left -= more;
  }
}

void take_gpus(const Job& job, const FreeResources& free, Shares& chosen) {
  const ResourceRequest& ask = job.request;
  chosen.gpus.clear();
  if (ask.gpus == 0) return;
  int left = ask.gpus, nodes = static_cast<int>(chosen.nodes.size());
  const int types = static_cast<int>(free.gpus.size());
  for (const Share& share : chosen.nodes) {
    // Every node of a job has a GPU.
    int want = ask.are_gpus_by_node ? ask.gpus : left - --nodes;
    for (int type = ask.gpu_type < 0 ? 0 : ask.gpu_type;
         type < (ask.gpu_type < 0 ? types : ask.gpu_type + 1); ++type) {
      const int count = std::min(want, free.gpu_count(share.node, type));
      if (count > 0) chosen.gpus.push_back({share.node, type, count});
      want -= std::max(count, 0);
      left -= std::max(count, 0);
    }
  }
}

}  // namespace

void Candidates::gather(const Machine& machine, const Job& job, const NodeBits& nodes,
                        const FreeResources& free, Weights& weights) {
  machine_ = &machine;
  job_ = &job;
  needs_only_cores_ = needs_only_cores(machine, job.request);
  count_ = max_cores_ = 0;
  cores_ = gpus_ = 0;
  fit_by_node_.resize(free.nodes.size());
  usable_nodes_ = nodes;
  usable_nodes_ &= free.nodes_with_cores;
  usable_nodes_.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      if (!add(node, {0, 0}, free, weights)) usable_nodes_.remove(node);
  });
}

// It had `before`; false: it has nothing.
bool Candidates::add(int node, NodeFit before, const FreeResources& free, Weights& weights) {
  const auto n = static_cast<std::size_t>(node);
  const NodeFit has = needs_only_cores_ ? NodeFit{free.nodes[n].cores, 0}
                                        : fit_on_node(*machine_, *job_, node, free);
  if (has.cores <= 0) return false;
  if (job_->request.gpus > 0)
    weights[n] =
        (weights[n] | 255) - static_cast<std::uint64_t>(std::min(has.gpus, job_->request.gpus));
  fit_by_node_[n] = has;
  count_ += before.cores == 0;
  cores_ += has.cores - before.cores;
  gpus_ += has.gpus - before.gpus;
  max_cores_ = std::max(max_cores_, has.cores);
  return true;
}

void Candidates::update(int node, const FreeResources& free, Weights& weights) {
  const NodeFit before = usable_nodes_.has(node) ? fit_by_node_[node] : NodeFit{0, 0};
  if (add(node, before, free, weights)) usable_nodes_.add(node);
}

bool Candidates::are_enough() const {
  const Job& job = *job_;
  return cores_ >= job.cpus && gpus_ >= job.request.gpus && count_ >= job.nodes &&
         (max_cores_ >= job.cpus || max_node_count(job) > 1);
}

void Candidates::build_runs(const Weights& weights) {
  candidates_.clear();
  runs_.clear();
  usable_nodes_.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      append({node, fit_by_node_[node].cores, fit_by_node_[node].gpus, weights[node]});
  });
}

void Candidates::append(const Candidate& one) {
  const int at = static_cast<int>(candidates_.size());
  if (at == 0 || candidates_.back().node + 1 != one.node || candidates_.back().weight != one.weight)
    runs_.push_back({at, at, 0, 0});
  WeightRun& run = runs_.back();
  ++run.last;
  run.cores += one.cores;
  run.gpus += one.gpus;
  candidates_.push_back(one);
}

bool Candidates::choose(const FreeResources& free, const Weights& weights, Shares& chosen) {
  if (!are_enough()) return false;
  build_runs(weights);
  const Job& job = *job_;
  bool found = NodeSelection(job, candidates_, runs_, chosen.nodes).run();
  const auto size = [](const Candidate& one) { return one.cores + one.gpus; };
  int most = 0;
  if (!found)
    for (const Candidate& one : candidates_) most = std::max(most, size(one));
  // Nodes that have little may be in the way of those that have enough.
  for (int least = 1; !found && least < most; ++least) {
    int spare_count = static_cast<int>(candidates_.size()) - job.nodes;
    if (spare_count <= 0) break;
    const std::vector<Candidate> before = std::exchange(candidates_, {});
    runs_.clear();
    for (const Candidate& candidate : before) {
      const bool is_left_out = size(candidate) <= least && spare_count > 0;
      if (is_left_out)
        --spare_count;
      else
        append(candidate);
    }
    if (candidates_.size() < before.size())
      found = NodeSelection(job, candidates_, runs_, chosen.nodes).run();
  }
  if (!found) return false;
  std::sort(chosen.nodes.begin(), chosen.nodes.end(),
            [](const Share& a, const Share& b) { return a.node < b.node; });
  int cores = 0;
  for (const Share& share : chosen.nodes) cores += share.cores;
  if (job.request.gpus > 0 && !job.request.is_exclusive && cores > job.cpus)
    spread_cores(job, candidates_, chosen.nodes);
  for (Share& share : chosen.nodes)
    share.memory = memory_of(*machine_, job.request, share.node, share.cores);
  take_gpus(job, free, chosen);
  return true;
}

}  // namespace cosched::slurm
