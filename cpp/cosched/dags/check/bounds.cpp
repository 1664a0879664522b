#include "cosched/dags/check/bounds.hpp"

#include "cosched/dags/check/transfer_steps.hpp"

namespace cosched::dags::check {
namespace {

// Numbers and shapes that all certificates have, before anything is made of them.

/// Refuses what a certificate holds with one line that begins with the name of it.
class Parts {
 public:
  explicit Parts(const char* certificate) : certificate_(certificate) {}

  [[noreturn]] void breach(const std::string& text) const {
    throw SolverError(std::string(certificate_) + " certificate: " + text);
  }

  /// `count` numbers, finite and >= 0.
  void require_amounts(const std::vector<double>& amounts, std::size_t count,
                       const char* name) const {
    require_length(amounts.size(), count, name);
    for (const double amount : amounts)
      if (!(amount >= 0 && amount < kInfinity))
        breach(std::string(name) + " has " + to_text(amount) + ": expected a number >= 0");
  }

  /// `count` finite numbers.
  void require_finite(const std::vector<double>& numbers, std::size_t count,
                      const char* name) const {
    require_length(numbers.size(), count, name);
    for (const double number : numbers)
      if (!std::isfinite(number))
        breach(std::string(name) + " has " + to_text(number) + ": expected a finite number");
  }

  /// Weights of load heads: their sum is at most 1.
  void require_raise(const std::vector<double>& weights, int types) const {
    require_amounts(weights, types, "weights of load heads");
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (sum > 1 + 1e-15 * types) breach("weights of load heads sum to " + to_text(sum));
  }

  void require_intervals(const std::vector<proof::PricedInterval>& intervals, int types) const {
    for (const auto& [interval, price] : intervals)
      if (interval.type < 0 || interval.type >= types || !(price >= 0) || !(price < kInfinity) ||
          !(interval.begin >= 0) || !(interval.end > interval.begin) || !(interval.end < kInfinity))
        breach("a bad interval");
  }

  /// A flow on an edge of the graph.
  void require_edge(const Instance& instance, const hlp::EdgeFlow& flow) const {
    const auto& [from, to, amount] = flow;
    const int n = instance.tasks();
    if (from < 0 || from >= n || to < 0 || to >= n || !(amount >= 0) || !(amount < kInfinity))
      breach("a bad edge");
    const auto after = instance.graph().successors(from);
    if (!std::binary_search(after.begin(), after.end(), to))
      breach("flow from task " + std::to_string(from) + " to " + std::to_string(to) +
             ", which is no edge");
  }

  /// That a T is a number > 0.
  void require_makespan(double makespan) const {
    if (!(makespan > 0 && makespan < kInfinity)) breach("a makespan of " + to_text(makespan));
  }

  [[noreturn]] void not_refuted(double makespan) const {
    breach("a makespan of " + to_text(makespan) + " is not refuted");
  }

 private:
  void require_length(std::size_t found, std::size_t count, const char* name) const {
    if (found != count) breach(std::string(name) + " has the wrong length");
  }

  const char* certificate_;
};

const Parts kRelaxation("hlp");

const Parts kWindows("windows");

void require_flow(const Instance& instance, const proof::RefutationStage& stage) {
  if (!stage.task_flow.empty())
    kWindows.require_amounts(stage.task_flow, instance.tasks(), "flow through tasks");
  else if (!stage.edge_flow.empty())
    kWindows.breach("flow on edges without flow through tasks");
  for (const hlp::EdgeFlow& flow : stage.edge_flow) kWindows.require_edge(instance, flow);
}

// Numbers, shapes and edges of a stage, before anything is made of them.
void require_stage(const Instance& instance, const proof::RefutationStage& stage) {
  const int types = instance.types();
  if (!stage.raise.empty()) kWindows.require_raise(stage.raise, types);
  if (stage.raise.empty() || !stage.loads.empty())
    kWindows.require_amounts(stage.loads, types, "prices of the loads");
  require_flow(instance, stage);
  kWindows.require_intervals(stage.intervals, types);
}

// Flow by the numbers of the edges: by (predecessor, successor).
std::vector<double> by_number(const TaskGraph& graph, const std::vector<hlp::EdgeFlow>& flow) {
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
proof::TransferRefutation without_transfers(const TaskGraph& graph,
                                            const proof::Refutation& refutation) {
  proof::TransferRefutation found;
  found.makespan = refutation.makespan;
  for (const proof::RefutationStage& stage : refutation.stages) {
    proof::TransferStage& same = found.stages.emplace_back();
    same.raise = stage.raise;
    same.loads = stage.loads;
    same.task_flow = stage.task_flow;
    if (!stage.task_flow.empty()) same.edge_flow = by_number(graph, stage.edge_flow);
    same.intervals = stage.intervals;
  }
  return found;
}

bool holds(const Instance& instance, const proof::Refutation& refutation) {
  const proof::TransferRefutation same = without_transfers(instance.graph(), refutation);
  if (!instance.transfers().given()) return refutes(instance, same);
  return refutes(Instance(instance.times(), instance.graph(), instance.units()), same);
}

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

const Parts kTransfers("transfers");

void require_guesses(const Instance& instance, const std::vector<proof::TransferGuess>& guesses) {
  const int ways = instance.types() * (instance.types() + 1);
  for (const auto& [of_edge, item, choice] : guesses)
    if (item < 0 || item >= (of_edge ? instance.graph().edges() : instance.tasks()) || choice < 0 ||
        choice >= (of_edge ? ways : instance.types()))
      kTransfers.breach("a guess of " + std::to_string(choice) + " for " +
                        (of_edge ? "edge " : "task ") + std::to_string(item) +
                        ", which there is not");
}

void require_prices(const Instance& instance, const proof::TransferStage& stage) {
  const std::size_t types = instance.types(), edges = instance.graph().edges();
  kTransfers.require_amounts(stage.loads, types, "prices of the loads");
  if (stage.task_flow.empty() != stage.edge_flow.empty() && edges > 0)
    kTransfers.breach("flow through tasks and on edges: expected both or neither");
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
  else if (!stage.raise.empty())
    kTransfers.require_raise(stage.raise, instance.types());
  else
    require_prices(instance, stage);
}

}  // namespace

double certified_bound(const Instance& instance, const hlp::Certificate& certificate) {
  constexpr double kTolerance = kExactTolerance;
  const int n = instance.tasks(), types = instance.types();
  const auto& weights = certificate.weights;
  const auto& flow = certificate.task_flow;
  if (static_cast<int>(weights.size()) != types + 1 || static_cast<int>(flow.size()) != n)
    kRelaxation.breach("wrong shape");
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) kRelaxation.breach("a weight is negative");
    sum += weight;
  }
  if (std::abs(sum - 1) > kTolerance) kRelaxation.breach("the weights sum to " + to_text(sum));

  std::vector<double> in(n, 0.0), out(n, 0.0);
  for (const hlp::EdgeFlow& edge : certificate.edge_flow) {
    kRelaxation.require_edge(instance, edge);
    out[edge.from] += edge.amount;
    in[edge.to] += edge.amount;
  }
  double begun = 0;  // what enters from the begin of the project
  double bound = 0;
  for (int task = 0; task < n; ++task) {
    if (!(flow[task] >= 0))
      kRelaxation.breach("negative flow through task " + std::to_string(task));
    if (in[task] > flow[task] + kTolerance || out[task] > flow[task] + kTolerance)
      kRelaxation.breach("flow is not conserved at task " + std::to_string(task));
    begun += std::max(0.0, flow[task] - in[task]);
    double least = kInfinity;
    for (int type = 0; type < types; ++type)
      if (instance.can_run(task, type))
        least = std::min(
            least, instance.time(task, type) * (weights[type] / instance.units(type) + flow[task]));
    bound += least;
  }
  if (begun > weights.back() + kTolerance)
    kRelaxation.breach("the flow is " + to_text(begun) + ", the path's weight " +
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
    if (!holds(instance, certificate.refutation)) kWindows.not_refuted(makespan);
    bound = std::max(bound, makespan);
  }
  const double grain = time_grain(instance);
  if (grain <= 0) return bound;
  const double by_relaxation = std::ceil(relaxation * (1 - kExactTolerance) / grain) * grain;
  return makespan == 0 ? by_relaxation : std::max(by_relaxation, least_above(makespan, grain));
}

bool refutes(const Instance& instance, const proof::TransferRefutation& refutation) {
  return Check(instance, refutation).refutes();
}

double certified_bound(const Instance& instance, const proof::TransfersCertificate& certificate) {
  const double bound = certified_bound(instance, certificate.windows);
  const double makespan = certificate.refutation.makespan;
  if (makespan == 0) return bound;
  kTransfers.require_makespan(makespan);
  for (const proof::TransferStage& stage : certificate.refutation.stages)
    require_stage(instance, stage);
  if (!refutes(instance, certificate.refutation)) kTransfers.not_refuted(makespan);
  return std::max(bound, makespan);
}

}  // namespace cosched::dags::check
