#include "cosched/slurm/select/candidates.hpp"

namespace cosched::slurm {
namespace {

// True where nothing but free cores decides what a node has for the job.
bool needs_only_cores(const Machine& machine, const ResourceRequest& request) {
  return machine.node_memory.empty() && request.gpus == 0 && !request.is_exclusive &&
         request.task_cores == 1 && request.max_nodes != 1;
}

int size_of(const Candidate& candidate) { return candidate.cores + candidate.gpus; }

// Distributes the cores of a job with GPUs that was given more of them than it asked for: a core on
// each node, the rest in order of the nodes.
void distribute_cores(const Job& job, const std::vector<Candidate>& candidates,
                      std::vector<Share>& shares) {
  int missing_cores = job.cpus - static_cast<int>(shares.size());
  for (Share& share : shares) {
    const auto candidate =
        std::lower_bound(candidates.begin(), candidates.end(), share.node,
                         [](const Candidate& a, int node) { return a.node < node; });
    const int added_cores = std::clamp(candidate->cores - 1, 0, std::max(missing_cores, 0));
    share.cores = 1 + added_cores;
    missing_cores -= added_cores;
  }
}

// Chooses GPUs on the nodes that are chosen.
void choose_gpus(const Job& job, const FreeResources& free_resources, Shares& shares) {
  const ResourceRequest& request = job.request;
  shares.gpus.clear();
  if (request.gpus == 0) return;
  int missing_gpus = request.gpus;
  int following_nodes = static_cast<int>(shares.nodes.size());
  const int type_count = static_cast<int>(free_resources.gpu_type_count());
  const int first_type = request.gpu_type < 0 ? 0 : request.gpu_type;
  const int end_type = request.gpu_type < 0 ? type_count : request.gpu_type + 1;
  for (const Share& share : shares.nodes) {
    --following_nodes;
    // Every node of a job has a GPU.
    int node_gpus = request.are_gpus_by_node ? request.gpus : missing_gpus - following_nodes;
    for (int type = first_type; type < end_type; ++type) {
      const int count = std::min(node_gpus, free_resources.gpu_count(share.node, type));
      if (count > 0) shares.gpus.push_back({share.node, type, count});
      node_gpus -= std::max(count, 0);
      missing_gpus -= std::max(count, 0);
    }
  }
}

}  // namespace

void Candidates::gather(const Machine& machine, const Job& job, const NodeBits& nodes,
                        const FreeResources& free_resources, Weights& weights) {
  machine_ = &machine;
  job_ = &job;
  needs_only_cores_ = needs_only_cores(machine, job.request);
  usable_count_ = 0;
  max_cores_ = 0;
  cores_ = 0;
  gpus_ = 0;
  fit_by_node_.resize(free_resources.node_count());
  usable_nodes_ = nodes;
  usable_nodes_ &= free_resources.nodes_with_cores();
  usable_nodes_.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      if (!add(node, {0, 0}, free_resources, weights)) usable_nodes_.remove(node);
  });
}

// Counts what a node has that had `previous_fit` so far; returns whether it has anything.
bool Candidates::add(int node, NodeFit previous_fit, const FreeResources& free_resources,
                     Weights& weights) {
  const auto n = static_cast<std::size_t>(node);
  const NodeFit fit = needs_only_cores_ ? NodeFit{free_resources.node(node).cores, 0}
                                        : fit_on_node(*machine_, *job_, node, free_resources);
  if (fit.cores <= 0) return false;
  if (job_->request.gpus > 0)
    weights[n] =
        (weights[n] | 255) - static_cast<std::uint64_t>(std::min(fit.gpus, job_->request.gpus));
  fit_by_node_[n] = fit;
  if (previous_fit.cores == 0) ++usable_count_;
  cores_ += fit.cores - previous_fit.cores;
  gpus_ += fit.gpus - previous_fit.gpus;
  max_cores_ = std::max(max_cores_, fit.cores);
  return true;
}

void Candidates::update(int node, const FreeResources& free_resources, Weights& weights) {
  const NodeFit previous_fit = usable_nodes_.has(node) ? fit_by_node_[node] : NodeFit{0, 0};
  if (add(node, previous_fit, free_resources, weights)) usable_nodes_.add(node);
}

// False where all candidates together have too little.
bool Candidates::have_enough() const {
  const Job& job = *job_;
  if (cores_ < job.cpus || gpus_ < job.request.gpus || usable_count_ < job.nodes) return false;
  return max_cores_ >= job.cpus || max_node_count(job) > 1;
}

void Candidates::build_runs(const Weights& weights) {
  candidates_.clear();
  runs_.clear();
  usable_nodes_.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      append({node, fit_by_node_[node].cores, fit_by_node_[node].gpus, weights[node]});
  });
}

void Candidates::append(const Candidate& candidate) {
  const int index = static_cast<int>(candidates_.size());
  const bool continues_run = index > 0 && candidates_.back().node + 1 == candidate.node &&
                             candidates_.back().weight == candidate.weight;
  if (!continues_run) runs_.push_back({index, index, 0, 0});
  WeightRun& run = runs_.back();
  ++run.last;
  run.cores += candidate.cores;
  run.gpus += candidate.gpus;
  candidates_.push_back(candidate);
}

// Leaves out candidates of that size or less, as long as the job has enough nodes without them;
// returns whether there were any.
bool Candidates::remove_small_candidates(int max_size) {
  int spare_count = static_cast<int>(candidates_.size()) - job_->nodes;
  const std::vector<Candidate> all_candidates = std::exchange(candidates_, {});
  runs_.clear();
  for (const Candidate& candidate : all_candidates) {
    const bool is_removed = size_of(candidate) <= max_size && spare_count > 0;
    if (is_removed)
      --spare_count;
    else
      append(candidate);
  }
  return candidates_.size() < all_candidates.size();
}

// Chooses nodes for the job; returns whether there are enough.
bool Candidates::select_nodes(std::vector<Share>& shares) {
  if (NodeSelection(*job_, candidates_, runs_, shares).run()) return true;
  int max_size = 0;
  for (const Candidate& candidate : candidates_) max_size = std::max(max_size, size_of(candidate));
  // Nodes that have little may be in the way of those that have enough.
  for (int size = 1; size < max_size; ++size) {
    if (static_cast<int>(candidates_.size()) <= job_->nodes) break;
    if (!remove_small_candidates(size)) continue;
    if (NodeSelection(*job_, candidates_, runs_, shares).run()) return true;
  }
  return false;
}

bool Candidates::choose(const FreeResources& free_resources, const Weights& weights,
                        Shares& shares) {
  if (!have_enough()) return false;
  build_runs(weights);
  const Job& job = *job_;
  if (!select_nodes(shares.nodes)) return false;
  std::sort(shares.nodes.begin(), shares.nodes.end(),
            [](const Share& a, const Share& b) { return a.node < b.node; });
  int cores = 0;
  for (const Share& share : shares.nodes) cores += share.cores;
  if (job.request.gpus > 0 && !job.request.is_exclusive && cores > job.cpus)
    distribute_cores(job, candidates_, shares.nodes);
  for (Share& share : shares.nodes)
    share.memory = allocated_memory(*machine_, job.request, share.node, share.cores);
  choose_gpus(job, free_resources, shares);
  return true;
}

}  // namespace cosched::slurm
