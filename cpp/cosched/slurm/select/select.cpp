#include "cosched/slurm/select/select.hpp"

namespace cosched::slurm {
namespace {

// Nodes with GPUs: a test of 22.05 leaves their weights for later tests; 24.11 sets all weights
// anew.
NodeBits nodes_with_lasting_weights(const Scenario& scenario) {
  const Machine& machine = scenario.machine();
  NodeBits nodes(machine.nodes);
  if (scenario.settings().is_24_11) return nodes;
  for (const std::vector<int>& gpus : machine.node_gpus)
    for (int node = 0; node < machine.nodes; ++node)
      if (gpus[node] > 0) nodes.add(node);
  return nodes;
}

}  // namespace

Select::Select(const Scenario& scenario, const Allocations& allocations, Second epoch,
               bool memoises)
    : scenario_(scenario),
      allocations_(allocations),
      epoch_(epoch),
      is_24_11_(scenario.settings().is_24_11),
      memoises_(memoises),
      cache_(nodes_with_lasting_weights(scenario)),
      empty_machine_(scenario.machine()),
      no_cores_taken_(scenario),
      overlapping_cores_(scenario),
      candidate_nodes_(scenario.machine().nodes),
      line_nodes_(scenario.machine().nodes),
      set_nodes_(scenario.machine().nodes),
      run_now_choice_(scenario.machine().nodes),
      will_run_choice_(scenario.machine().nodes),
      test_only_choice_(scenario.machine().nodes) {
  if (!scenario.shares_nodes()) return;
  weights_.resize(static_cast<std::size_t>(scenario.machine().nodes));
  NodeBits all_nodes(scenario.machine().nodes);
  all_nodes.add_range(0, scenario.machine().nodes);
  reset_weights(all_nodes, false);
}

// --- SELECT_MODE_RUN_NOW ---

Loan<NodeChoice> Select::select_now(QueueEntry entry, const NodeBits& allowed_nodes) {
  const Job& job = scenario_.job(entry);
  const Machine& machine = scenario_.machine();
  ++weights_version_;
  select_now_lender_.begin_call();
  candidate_nodes_ = allowed_nodes;
  candidate_nodes_ &= scenario_.partition(entry).nodes;
  const bool has_weights = !machine.node_weight.empty() || !machine.node_gpus.empty();
  if (scenario_.shares_nodes() && (is_24_11_ || has_weights))
    reset_weights(candidate_nodes_, false);
  if (!scenario_.suspends_jobs()) candidate_nodes_ -= allocations_.busy_nodes();
  candidate_nodes_ -= allocations_.completing_nodes();
  if (job.node_set >= 0) candidate_nodes_ &= machine.node_sets[job.node_set];
  if (candidate_nodes_.count() < job.nodes) return {};
  if (job.alternative_sets.empty()) {
    if (!choose_candidates(entry, run_now_choice_)) return {};
    return select_now_lender_.lend(run_now_choice_);
  }
  set_nodes_ = candidate_nodes_;
  for (const int set : job.alternative_sets) {
    candidate_nodes_ = set_nodes_;
    candidate_nodes_ &= machine.node_sets[set];
    if (candidate_nodes_.count() >= job.nodes && choose_candidates(entry, run_now_choice_))
      return select_now_lender_.lend(run_now_choice_);
  }
  return {};
}

// Chooses from candidate_nodes_, which has at least as many as the job wants.  select/linear takes
// the NodeName lines one after another and stops as soon as they hold enough.
bool Select::choose_candidates(QueueEntry entry, NodeChoice& choice) {
  const Machine& machine = scenario_.machine();
  const Job& job = scenario_.job(entry);
  if (scenario_.shares_nodes())
    return gather_and_choose(entry, candidate_nodes_, allocations_.free_resources(),
                             allocations_.core_map(), choice);
  if (scenario_.settings().select.cons_tres || machine.node_lines.size() <= 1) {
    best_fit_.choose(candidate_nodes_, job.nodes, choice.nodes);
    return true;
  }
  line_nodes_.clear();
  int line_node_count = 0;
  for (const NodeBits& line : machine.node_lines) {
    line_node_count += line.count_common(candidate_nodes_);
    line_nodes_ |= line;
    if (line_node_count >= job.nodes) break;
  }
  line_nodes_ &= candidate_nodes_;
  best_fit_.choose(line_nodes_, job.nodes, choice.nodes);
  return true;
}

bool Select::gather_and_choose(QueueEntry entry, const NodeBits& nodes,
                               const FreeResources& free_resources, const CoreMap& core_map,
                               NodeChoice& choice) {
  if (scenario_.suspends_jobs())
    return overlapping_cores_.choose(entry, nodes, free_resources, core_map, weights_, choice);
  candidates_.gather(scenario_.machine(), scenario_.job(entry), nodes, free_resources, weights_);
  return choose_from_gathered(free_resources, choice);
}

bool Select::choose_from_gathered(const FreeResources& free_resources, NodeChoice& choice) {
  if (!candidates_.choose(free_resources, weights_, choice.shares)) return false;
  choice.set_nodes_from_shares();
  return true;
}

// --- SELECT_MODE_TEST_ONLY ---

bool Select::could_run(QueueEntry entry, const NodeBits& allowed_nodes) {
  const Job& job = scenario_.job(entry);
  const std::vector<NodeBits>& node_sets = scenario_.machine().node_sets;
  ++weights_version_;
  candidate_nodes_ = allowed_nodes;
  candidate_nodes_ &= scenario_.partition(entry).nodes;
  if (job.node_set >= 0) candidate_nodes_ &= node_sets[job.node_set];
  if (job.alternative_sets.empty()) return could_run_on(entry, candidate_nodes_);
  return std::any_of(job.alternative_sets.begin(), job.alternative_sets.end(), [&](int set) {
    line_nodes_ = candidate_nodes_;
    line_nodes_ &= node_sets[set];
    return could_run_on(entry, line_nodes_);
  });
}

bool Select::could_run_on(QueueEntry entry, const NodeBits& nodes) {
  if (nodes.count() < scenario_.job(entry).nodes) return false;
  if (!scenario_.shares_nodes()) return true;
  if (is_24_11_) reset_weights(nodes, false);
  return gather_and_choose(entry, nodes, empty_machine_, no_cores_taken_, test_only_choice_);
}

// --- SELECT_MODE_WILL_RUN ---

std::optional<Select::Slot> Select::will_run(QueueEntry entry, const NodeBits& avail_nodes,
                                             const StartWindow& window) {
  const Job& job = scenario_.job(entry);
  if (job.request.gpus > 0 && !is_24_11_) ++weights_version_;
  will_run_lender_.begin_call();
  if (job.alternative_sets.empty()) return will_run_on(entry, avail_nodes, window);
  std::optional<Slot> best_slot;
  for (const int set : job.alternative_sets) {
    set_nodes_ = avail_nodes;
    set_nodes_ &= scenario_.machine().node_sets[set];
    if (set_nodes_.count() < job.nodes) continue;
    const std::optional<Slot> slot = will_run_on(entry, set_nodes_, window);
    if (!slot || (best_slot && slot->begin >= best_slot->begin)) continue;
    best_nodes_ = *slot->nodes;
    best_slot = Slot{slot->begin, will_run_lender_.lend(best_nodes_)};
  }
  return best_slot;
}

// Jobs of one shape are tested once, as long as what runs is the same.
std::optional<Select::Slot> Select::will_run_on(QueueEntry entry, const NodeBits& avail_nodes,
                                                const StartWindow& window) {
  if (!memoises_) cache_.clear();
  const bool depends_on_time = is_24_11_ && scenario_.settings().select.cons_tres;  // RULES.md 12.2
  WillRunCache::Answer& answer =
      cache_.find({.shape = scenario_.job(entry).shape,
                   .partition = entry.partition,
                   .starts_now_or_never = window.starts_now_or_never,
                   .is_future = depends_on_time && window.from > window.now,
                   .from = depends_on_time ? window.from : 0,
                   .later_start = depends_on_time ? window.later_start : 0,
                   .nodes = avail_nodes},
                  allocations_.version(), weights_);
  if (answer.empty())
    cache_.store(answer, compute_will_run(entry, avail_nodes, window), will_run_choice_.nodes,
                 weights_);
  else
    cache_.load(answer, will_run_choice_.nodes, weights_);
  const int preceding_job = WillRunCache::preceding_job(answer);
  if (preceding_job == WillRunCache::kNoStart) return std::nullopt;
  const Second begin =
      preceding_job == WillRunCache::kNow ? window.now : expected_end(preceding_job, window.now);
  return Slot{begin, will_run_lender_.lend(will_run_choice_.nodes)};
}

// Returns the running job after whose end the job can begin, or kNow, or kNoStart; its nodes are in
// will_run_choice_.
int Select::compute_will_run(QueueEntry entry, const NodeBits& avail_nodes,
                             const StartWindow& window) {
  if (scenario_.shares_nodes()) return will_run_shared(entry, avail_nodes, window);
  candidate_nodes_ = avail_nodes;
  candidate_nodes_ -= allocations_.busy_nodes();
  const int wanted_count = scenario_.job(entry).nodes;
  const bool is_cons_tres = scenario_.settings().select.cons_tres;
  const bool may_begin_now = !is_24_11_ || !is_cons_tres || window.from <= window.now;
  if (candidate_nodes_.count() >= wanted_count && may_begin_now) {
    best_fit_.choose(candidate_nodes_, wanted_count, will_run_choice_.nodes);
    return WillRunCache::kNow;
  }
  if (window.starts_now_or_never) return WillRunCache::kNoStart;
  return is_cons_tres ? will_run_batches(wanted_count, avail_nodes, window)
                      : will_run_linear(wanted_count, avail_nodes);
}

// select/linear tests after the end of each running job: a binary search for the first one after
// which there are enough nodes.
int Select::will_run_linear(int wanted_count, const NodeBits& avail_nodes) {
  update_released_nodes();
  const std::vector<int>& running_jobs = allocations_.running_jobs();
  const auto has_enough_after = [&](std::size_t ended_count) {
    return avail_nodes.count_common(released_nodes_[ended_count]) >= wanted_count;
  };
  std::size_t too_few = 0;  // ended jobs that do not leave enough nodes
  std::size_t enough = running_jobs.size();
  if (!has_enough_after(enough)) return WillRunCache::kNoStart;
  while (enough - too_few > 1) {
    const std::size_t middle = (too_few + enough) / 2;
    if (has_enough_after(middle))
      enough = middle;
    else
      too_few = middle;
  }
  candidate_nodes_ = avail_nodes;
  candidate_nodes_ &= released_nodes_[enough];
  best_fit_.choose(candidate_nodes_, wanted_count, will_run_choice_.nodes);
  return running_jobs[enough - 1];
}

EndBatches Select::end_batches(const NodeBits& avail_nodes, const StartWindow& window) {
  running_by_end_.refresh(allocations_);
  return {running_by_end_, avail_nodes,
          EndBatches::Options{.epoch = epoch_,
                              .window_linear = scenario_.settings().select.window_linear,
                              .from = is_24_11_ ? window.from : -kNever,
                              .later_start = is_24_11_ ? window.later_start : kNever}};
}

// select/cons_tres on whole nodes: tests after batches of ends.  Begins with the idle nodes in
// candidate_nodes_.
int Select::will_run_batches(int wanted_count, const NodeBits& avail_nodes,
                             const StartWindow& window) {
  int candidate_count = candidate_nodes_.count();
  EndBatches batches = end_batches(avail_nodes, window);
  const auto add_nodes_of = [&](const RunningByEnd::RunningJob& ending) {
    candidate_count += ending.nodes->count_common(avail_nodes);
    candidate_nodes_ |= *ending.nodes;
  };
  const auto choose_nodes = [&] {
    candidate_nodes_ &= avail_nodes;
    best_fit_.choose(candidate_nodes_, wanted_count, will_run_choice_.nodes);
  };
  if (is_24_11_) {
    batches.for_each_ended(add_nodes_of);
    if (candidate_count >= wanted_count) {
      choose_nodes();
      return WillRunCache::kNow;
    }
  }
  while (true) {
    const int last_job = batches.next_batch(add_nodes_of);
    if (last_job < 0) return WillRunCache::kNoStart;
    if (candidate_count < wanted_count) continue;
    choose_nodes();
    return last_job;
  }
}

// select/cons_tres on nodes that jobs share.
int Select::will_run_shared(QueueEntry entry, const NodeBits& avail_nodes,
                            const StartWindow& window) {
  const bool suspends_jobs = scenario_.suspends_jobs();
  if (!is_24_11_ || window.from <= window.now) {
    if (is_24_11_) reset_weights(avail_nodes, true);
    if (gather_and_choose(entry, avail_nodes, allocations_.free_resources(),
                          allocations_.core_map(), will_run_choice_))
      return WillRunCache::kNow;
  }
  if (window.starts_now_or_never) return WillRunCache::kNoStart;
  reset_projection();
  EndBatches batches = end_batches(avail_nodes, window);
  const auto choose_anew = [&] {
    return gather_and_choose(entry, avail_nodes, projected_resources_, projected_cores_,
                             will_run_choice_);
  };
  // True while candidates_ are those of the projection: they follow each end.
  bool are_candidates_gathered = !suspends_jobs && !is_24_11_;
  const auto on_end = [&](const RunningByEnd::RunningJob& ending) {
    project_end(ending, avail_nodes, are_candidates_gathered);
  };
  if (is_24_11_) {
    reset_weights(avail_nodes, false);
    batches.for_each_ended(on_end);
    const bool is_projected = batches.has_ended_jobs() || window.from > window.now;
    if (is_projected && choose_anew()) return WillRunCache::kNow;
  }
  while (true) {
    const int last_job = batches.next_batch(on_end);
    if (last_job < 0) return WillRunCache::kNoStart;
    const bool has_enough = are_candidates_gathered
                                ? choose_from_gathered(projected_resources_, will_run_choice_)
                                : choose_anew();
    if (has_enough) return last_job;
    are_candidates_gathered = !suspends_jobs;
  }
}

// When the running job, which may be past its limit, has ended.
Second Select::expected_end(int job, Second now) const {
  const Settings::Select& settings = scenario_.settings().select;
  const Second end = allocations_.expected_end(job);
  if (end > now) return end;
  if (!settings.cons_tres) return now + 1;
  const bool is_unlimited = settings.over_time_limit >= kNever;
  if (is_unlimited) return now + scenario_.job(job).limit;
  return std::max(now + 1, end + settings.kill_wait + settings.over_time_limit);
}

// --- what is free when running jobs have ended ---

void Select::update_released_nodes() {
  if (released_version_ == allocations_.version()) return;
  released_version_ = allocations_.version();
  const std::vector<int>& running_jobs = allocations_.running_jobs();
  if (released_nodes_.size() <= running_jobs.size())
    released_nodes_.resize(running_jobs.size() + 1);
  released_nodes_[0] = allocations_.up_nodes();
  released_nodes_[0] -= allocations_.busy_nodes();
  for (std::size_t k = 0; k < running_jobs.size(); ++k) {
    released_nodes_[k + 1] = released_nodes_[k];
    released_nodes_[k + 1] |= allocations_.nodes(running_jobs[k]);
  }
}

// Sets the projection to the present.  Nodes that the last test changed are set back one by one
// where that is cheaper than another copy.
void Select::reset_projection() {
  constexpr std::size_t kCopyRatio = 8;  // nodes that a whole copy takes as long for as one node
  const FreeResources& free_resources = allocations_.free_resources();
  if (projection_version_ == allocations_.version() &&
      projected_nodes_.size() * kCopyRatio < free_resources.node_count())
    for (const int node : projected_nodes_) projected_resources_.copy_node(node, free_resources);
  else
    projected_resources_ = free_resources;
  if (scenario_.suspends_jobs()) projected_cores_ = allocations_.core_map();
  projection_version_ = allocations_.version();
  projected_nodes_.clear();
}

// A running job ends in the projection.
void Select::project_end(const RunningByEnd::RunningJob& ending, const NodeBits& avail_nodes,
                         bool updates_candidates) {
  if (ending.single_share.node >= 0) {
    project_release(ending.single_share, updates_candidates);
  } else {
    const Shares& shares = allocations_.shares(ending.job);
    for (const GpuShare& share : shares.gpus)
      if (avail_nodes.has(share.node)) projected_resources_.release(share);
    for (const Share& share : shares.nodes)
      if (avail_nodes.has(share.node)) project_release(share, updates_candidates);
  }
  if (scenario_.suspends_jobs())
    projected_cores_.release(allocations_.partition(ending.job), allocations_.cores(ending.job));
}

void Select::project_release(const Share& share, bool updates_candidates) {
  projected_resources_.release(share);
  projected_nodes_.push_back(share.node);
  if (updates_candidates) candidates_.update(share.node, projected_resources_, weights_);
}

// --- weights ---

void Select::restore_weights(const Weights& weights) {
  if (!is_24_11_) weights_ = weights;
}

// Sets the weights of the nodes anew.  `completing_last`: nodes with completing jobs come after
// others of their Weight.
void Select::reset_weights(const NodeBits& nodes, bool completing_last) {
  const std::vector<int>& node_weight = scenario_.machine().node_weight;
  nodes.for_each_run([&](int first, int length) {
    for (int node = first; node < first + length; ++node) {
      const bool comes_last = completing_last && allocations_.completing_nodes().has(node);
      const int weight = node_weight.empty() ? 0 : node_weight[node];
      weights_[node] = scheduling_weight(2 * weight + (comes_last ? 1 : 0));
    }
  });
}

}  // namespace cosched::slurm
