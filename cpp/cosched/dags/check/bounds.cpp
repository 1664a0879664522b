#include "cosched/dags/check/bounds.hpp"

#include "cosched/dags/check/certificate_parts.hpp"
#include "cosched/dags/check/transfer_clusters.hpp"
#include "cosched/dags/check/transfer_row.hpp"
#include "cosched/dags/model/time_grain.hpp"

namespace cosched::dags::check {
namespace {

const CertificateParts kRelaxation("hlp");

const CertificateParts kWindows("windows");

void require_flow(const Instance& instance, const proof::RefutationStage& stage) {
  if (!stage.task_flow.empty())
    kWindows.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
  else if (!stage.edge_flow.empty())
    kWindows.throw_breach("flow on edges without flow through tasks");
  for (const hlp::EdgeFlow& flow : stage.edge_flow) kWindows.require_edge(instance, flow);
}

// Numbers, shapes and edges of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::RefutationStage& stage) {
  const int types = instance.types();
  if (!stage.load_weights.empty()) kWindows.require_load_weights(stage.load_weights, types);
  if (stage.load_weights.empty() || !stage.loads.empty())
    kWindows.require_amounts(stage.loads, types, "prices of the loads");
  require_flow(instance, stage);
  kWindows.require_intervals(stage.intervals, types);
}

// Flow by the numbers of the edges: by (predecessor, successor).
std::vector<double> flow_by_edge_number(const TaskGraph& graph,
                                        const std::vector<hlp::EdgeFlow>& flow) {
  std::vector<int> first{0};
  for (int task = 0; task < graph.tasks(); ++task)
    first.push_back(first.back() + graph.successors(task).size());
  std::vector<double> amounts(graph.edges(), 0.0);
  for (const auto& [from, to, amount] : flow) {
    const auto after = graph.successors(from);
    amounts[first[from] + (std::lower_bound(after.begin(), after.end(), to) - after.begin())] +=
        amount;
  }
  return amounts;
}

// A refutation as one where data costs nothing.
proof::TransferRefutation as_transfer_refutation(const TaskGraph& graph,
                                                 const proof::Refutation& refutation) {
  proof::TransferRefutation converted;
  converted.makespan = refutation.makespan;
  for (const proof::RefutationStage& stage : refutation.stages) {
    proof::TransferStage& stage_without_transfers = converted.stages.emplace_back();
    stage_without_transfers.load_weights = stage.load_weights;
    stage_without_transfers.loads = stage.loads;
    stage_without_transfers.task_flow = stage.task_flow;
    if (!stage.task_flow.empty())
      stage_without_transfers.edge_flow = flow_by_edge_number(graph, stage.edge_flow);
    stage_without_transfers.intervals = stage.intervals;
  }
  return converted;
}

bool is_refuted(const Instance& instance, const proof::Refutation& refutation) {
  const proof::TransferRefutation converted = as_transfer_refutation(instance.graph(), refutation);
  if (!instance.transfers().has_data()) return is_valid_refutation(instance, converted);
  return is_valid_refutation(Instance(instance.times(), instance.graph(), instance.units()),
                             converted);
}

class RefutationCheck {
 public:
  RefutationCheck(const Instance& instance, const proof::TransferRefutation& refutation)
      : refutation_(refutation), open_(instance, refutation.makespan) {
    if (refutation.uses_clusters && instance.transfers().has_data()) clusters_.emplace(open_);
  }

  bool leaves_nothing() {
    if (!prune(open_)) return true;
    for (const proof::TransferStage& stage : refutation_.stages) {
      check_interrupt();
      if (!stage.load_weights.empty())
        open_.tighten_by_load(stage.load_weights);
      else if (!stage.guesses.empty())
        close_refuted_choices(stage.guesses);
      else if (is_row_violated(stage))
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
    } while (clusters_ && clusters_->tighten(open));
    return true;
  }

  // Each guess with which nothing is left.
  void close_refuted_choices(const std::vector<proof::TransferGuess>& guesses) {
    for (const proof::TransferGuess& guess : guesses) {
      TransferOpen restricted(open_);
      restricted.keep_only(guess);
      if (!prune(restricted)) open_.close(guess);
    }
  }

  // True: the combined row cannot hold.  Otherwise closes the pairs with which it cannot.
  bool is_row_violated(const proof::TransferStage& stage) {
    const TransferRow row(open_, stage);
    if (row.is_violated()) return true;
    for (const proof::TransferGuess& choice : row.violating_choices()) open_.close(choice);
    return false;
  }

  const proof::TransferRefutation& refutation_;
  TransferOpen open_;
  std::optional<TransferClusters> clusters_;
};

const CertificateParts kTransfers("transfers");

void require_guesses(const Instance& instance, const std::vector<proof::TransferGuess>& guesses) {
  const int placements = instance.types() * (instance.types() + 1);
  for (const auto& [of_edge, item, choice] : guesses)
    if (item < 0 || item >= (of_edge ? instance.graph().edges() : instance.tasks()) || choice < 0 ||
        choice >= (of_edge ? placements : instance.types()))
      kTransfers.throw_breach("a guess of " + std::to_string(choice) + " for " +
                              (of_edge ? "edge " : "task ") + std::to_string(item) +
                              ", which there is not");
}

void require_prices(const Instance& instance, const proof::TransferStage& stage) {
  const std::size_t types = instance.types(), edges = instance.graph().edges();
  kTransfers.require_amounts(stage.loads, types, "prices of the loads");
  if (stage.task_flow.empty() != stage.edge_flow.empty() && edges > 0)
    kTransfers.throw_breach("flow through tasks and on edges: expected both or neither");
  if (!stage.task_flow.empty()) {
    kTransfers.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
    kTransfers.require_amounts(stage.edge_flow, edges, "flow on edges");
  }
  if (!stage.shift.empty()) kTransfers.require_finite(stage.shift, edges * types, "shifts");
  kTransfers.require_intervals(stage.intervals, instance.types());
}

// Numbers and shapes of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::TransferStage& stage) {
  if (!stage.guesses.empty())
    require_guesses(instance, stage.guesses);
  else if (!stage.load_weights.empty())
    kTransfers.require_load_weights(stage.load_weights, instance.types());
  else
    require_prices(instance, stage);
}

}  // namespace

double certified_bound(const Instance& instance, const hlp::HlpCertificate& certificate) {
  constexpr double kTolerance = kExactTolerance;
  const int n = instance.tasks(), types = instance.types();
  const auto& weights = certificate.weights;
  const auto& flow = certificate.task_flow;
  if (static_cast<int>(weights.size()) != types + 1 || static_cast<int>(flow.size()) != n)
    kRelaxation.throw_breach("wrong shape");
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) kRelaxation.throw_breach("a weight is negative");
    sum += weight;
  }
  if (std::abs(sum - 1) > kTolerance)
    kRelaxation.throw_breach("the weights sum to " + to_text(sum));

  std::vector<double> inflow(n, 0.0), outflow(n, 0.0);
  for (const hlp::EdgeFlow& edge : certificate.edge_flow) {
    kRelaxation.require_edge(instance, edge);
    outflow[edge.from] += edge.amount;
    inflow[edge.to] += edge.amount;
  }
  double flow_begun = 0;  // what enters from the begin of the project
  double bound = 0;
  for (int task = 0; task < n; ++task) {
    if (!(flow[task] >= 0))
      kRelaxation.throw_breach("negative flow through task " + std::to_string(task));
    if (inflow[task] > flow[task] + kTolerance || outflow[task] > flow[task] + kTolerance)
      kRelaxation.throw_breach("flow is not conserved at task " + std::to_string(task));
    flow_begun += std::max(0.0, flow[task] - inflow[task]);
    double least = kInfinity;
    for (int type = 0; type < types; ++type)
      if (instance.can_run(task, type))
        least = std::min(
            least, instance.time(task, type) * (weights[type] / instance.units(type) + flow[task]));
    bound += least;
  }
  if (flow_begun > weights.back() + kTolerance)
    kRelaxation.throw_breach("the flow is " + to_text(flow_begun) + ", the path's weight " +
                             to_text(weights.back()));
  return bound;
}

double certified_bound(const Instance& instance, const proof::WindowsCertificate& certificate) {
  const double relaxation = certified_bound(instance, certificate.relaxation);
  const double makespan = certificate.refutation.makespan;
  double bound = relaxation;
  if (makespan != 0) {
    kWindows.require_makespan(makespan);
    for (const proof::RefutationStage& stage : certificate.refutation.stages)
      require_stage(instance, stage);
    if (!is_refuted(instance, certificate.refutation)) kWindows.throw_not_refuted(makespan);
    bound = std::max(bound, makespan);
  }
  const double grain = time_grain(instance);
  if (grain <= 0) return bound;
  const double by_relaxation = std::ceil(relaxation * (1 - kExactTolerance) / grain) * grain;
  return makespan == 0 ? by_relaxation
                       : std::max(by_relaxation, least_multiple_above(makespan, grain));
}

bool is_valid_refutation(const Instance& instance, const proof::TransferRefutation& refutation) {
  return RefutationCheck(instance, refutation).leaves_nothing();
}

double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate) {
  const double bound = certified_bound(instance, certificate.windows);
  const double makespan = certificate.refutation.makespan;
  if (makespan == 0) return bound;
  kTransfers.require_makespan(makespan);
  for (const proof::TransferStage& stage : certificate.refutation.stages)
    require_stage(instance, stage);
  if (!is_valid_refutation(instance, certificate.refutation))
    kTransfers.throw_not_refuted(makespan);
  return std::max(bound, makespan);
}

}  // namespace cosched::dags::check
