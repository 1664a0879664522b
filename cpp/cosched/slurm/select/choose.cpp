#include "cosched/slurm/select/choose.hpp"

namespace cosched::slurm {

void BestFit::choose(const NodeBits& candidates, int wanted, NodeBits& chosen) {
  runs_.clear();
  candidates.runs([&](int first, int length) { runs_.push_back({first, length}); });
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
int most_nodes(const Job& job) {
  const Ask& ask = job.ask;
  return ask.tasks > 0 && ask.max_nodes > ask.tasks ? std::max(ask.tasks, job.nodes)
                                                    : ask.max_nodes;
}

}  // namespace

// One attempt: what is still wanted, and what was taken.
class Attempt {
  using Candidate = Candidates::Candidate;
  using WeightRun = Candidates::Run;

 public:
  Attempt(const Job& job, const std::vector<Candidate>& all, std::vector<WeightRun>& runs,
          std::vector<Share>& taken)
      : job_(job),
        all_(all),
        runs_(runs),
        taken_(taken),
        nodes_(job.nodes),
        cores_(job.cpus),
        gpus_(job.ask.gpus_by_node ? 0 : job.ask.gpus),
        room_(most_nodes(job)) {}

  bool run() {
    taken_.clear();
    while (!runs_.empty() && room_ > 0) {
      const auto best = best_run();
      take_from(*best);
      if (enough()) return true;
      runs_.erase(best);
    }
    return false;
  }

 private:
  bool enough() const { return nodes_ <= 0 && cores_ <= 0 && gpus_ <= 0; }

  bool sufficient(const WeightRun& run) const {
    return run.cores >= cores_ && run.last - run.first >= nodes_ && run.gpus >= gpus_;
  }

  std::vector<WeightRun>::iterator best_run() {
    const auto weight = [&](const WeightRun& run) { return all_[run.first].weight; };
    auto best = runs_.begin();
    bool had = sufficient(*best);
    for (auto run = best + 1; run != runs_.end(); ++run) {
      const bool is = sufficient(*run);
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
  int alone(const WeightRun& run) const {
    if (nodes_ > 1) return -1;
    int best = -1;
    for (int k = run.first; k < run.last; ++k) {
      const Candidate& one = all_[k];
      if (one.cores < cores_ || one.gpus < gpus_) continue;
      if (best < 0 || one.cores < all_[best].cores) best = k;
      if (one.cores == cores_) break;
    }
    return best;
  }

  void take_from(const WeightRun& run) {
    const int only = alone(run);
    for (int k = run.first; k < run.last && room_ > 0 && !enough(); ++k) {
      const Candidate& one = all_[k];
      if (only >= 0 && k != only) continue;
      if (room_ == 1 && one.cores < cores_) continue;  // only one more may be taken
      take(one);
    }
  }

  void take(const Candidate& one) {
    // Each node that is still needed gets a core.
    const int most = std::max(cores_ - std::max(nodes_ - 1, 0), job_.ask.task_cores);
    const int cores = job_.ask.exclusive ? one.cores : std::min(one.cores, most);
    taken_.push_back({one.node, cores, 0});
    cores_ -= cores;
    gpus_ -= one.gpus;
    --nodes_;
    --room_;
  }

  const Job& job_;
  const std::vector<Candidate>& all_;
  std::vector<WeightRun>& runs_;
  std::vector<Share>& taken_;
  int nodes_, cores_, gpus_, room_;
};

namespace {

// Nothing but free cores decides.
bool cores_alone(const Machine& machine, const Ask& ask) {
  return machine.node_memory.empty() && ask.gpus == 0 && !ask.exclusive && ask.task_cores == 1 &&
         ask.max_nodes != 1;
}

// Where cores of a job with GPUs were taken on more nodes than they needed: one on each, the rest
// in order of the nodes.
template <class Candidate>
void lay_out(const Job& job, const std::vector<Candidate>& all, std::vector<Share>& taken) {
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

void take_gpus(const Job& job, const Free& free, Shares& chosen) {
  const Ask& ask = job.ask;
  chosen.gpus.clear();
  if (ask.gpus == 0) return;
  int left = ask.gpus, nodes = static_cast<int>(chosen.nodes.size());
  const int types = static_cast<int>(free.gpus.size());
  for (const Share& share : chosen.nodes) {
    // Every node of a job has a GPU.
    int want = ask.gpus_by_node ? ask.gpus : left - --nodes;
    for (int type = ask.gpu_type < 0 ? 0 : ask.gpu_type;
         type < (ask.gpu_type < 0 ? types : ask.gpu_type + 1); ++type) {
      const int count = std::min(want, free.gpus_of(share.node, type));
      if (count > 0) chosen.gpus.push_back({share.node, type, count});
      want -= std::max(count, 0);
      left -= std::max(count, 0);
    }
  }
}

}  // namespace

void Candidates::gather(const Machine& machine, const Job& job, const NodeBits& nodes,
                        const Free& free, Weights& weights) {
  machine_ = &machine;
  job_ = &job;
  plain_ = cores_alone(machine, job.ask);
  count_ = most_ = 0;
  cores_ = gpus_ = 0;
  has_.resize(free.nodes.size());
  some_ = nodes;
  some_ &= free.some;
  some_.runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      if (!add(node, {0, 0}, free, weights)) some_.remove(node);
  });
}

// It had `before`; false: it has nothing.
bool Candidates::add(int node, Fit before, const Free& free, Weights& weights) {
  const auto n = static_cast<std::size_t>(node);
  const Fit has = plain_ ? Fit{free.nodes[n].cores, 0} : fit(*machine_, *job_, node, free);
  if (has.cores <= 0) return false;
  if (job_->ask.gpus > 0)
    weights[n] =
        (weights[n] | 255) - static_cast<std::uint64_t>(std::min(has.gpus, job_->ask.gpus));
  has_[n] = has;
  count_ += before.cores == 0;
  cores_ += has.cores - before.cores;
  gpus_ += has.gpus - before.gpus;
  most_ = std::max(most_, has.cores);
  return true;
}

void Candidates::renew(int node, const Free& free, Weights& weights) {
  const Fit before = some_.has(node) ? has_[node] : Fit{0, 0};
  if (add(node, before, free, weights)) some_.add(node);
}

bool Candidates::enough() const {
  const Job& job = *job_;
  return cores_ >= job.cpus && gpus_ >= job.ask.gpus && count_ >= job.nodes &&
         (most_ >= job.cpus || most_nodes(job) > 1);
}

void Candidates::list(const Weights& weights) {
  all_.clear();
  runs_.clear();
  some_.runs([&](int first, int length) {
    for (int node = first; node < first + length; ++node)
      append({node, has_[node].cores, has_[node].gpus, weights[node]});
  });
}

void Candidates::append(const Candidate& one) {
  const int at = static_cast<int>(all_.size());
  if (at == 0 || all_.back().node + 1 != one.node || all_.back().weight != one.weight)
    runs_.push_back({at, at, 0, 0});
  Run& run = runs_.back();
  ++run.last;
  run.cores += one.cores;
  run.gpus += one.gpus;
  all_.push_back(one);
}

bool Candidates::choose(const Free& free, const Weights& weights, Shares& chosen) {
  if (!enough()) return false;
  list(weights);
  const Job& job = *job_;
  bool found = Attempt(job, all_, runs_, chosen.nodes).run();
  const auto size = [](const Candidate& one) { return one.cores + one.gpus; };
  int most = 0;
  if (!found)
    for (const Candidate& one : all_) most = std::max(most, size(one));
  // Nodes that have little may be in the way of those that have enough.
  for (int least = 1; !found && least<most&& static_cast<int>(all_.size())> job.nodes; ++least) {
    const std::vector<Candidate> before = std::exchange(all_, {});
    int spare = static_cast<int>(before.size()) - job.nodes;
    runs_.clear();
    for (const Candidate& one : before)
      if (size(one) > least || spare-- <= 0) append(one);
    if (all_.size() < before.size()) found = Attempt(job, all_, runs_, chosen.nodes).run();
  }
  if (!found) return false;
  std::sort(chosen.nodes.begin(), chosen.nodes.end(),
            [](const Share& a, const Share& b) { return a.node < b.node; });
  int cores = 0;
  for (const Share& share : chosen.nodes) cores += share.cores;
  if (job.ask.gpus > 0 && !job.ask.exclusive && cores > job.cpus) lay_out(job, all_, chosen.nodes);
  for (Share& share : chosen.nodes)
    share.memory = memory_of(*machine_, job.ask, share.node, share.cores);
  take_gpus(job, free, chosen);
  return true;
}

}  // namespace cosched::slurm
