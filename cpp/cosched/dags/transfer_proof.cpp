// What a TransfersCertificate proves, by transfer_checker.hpp.
#include <algorithm>
#include <limits>
#include <string>

#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/dags/transfer_checker.hpp"
#include "cosched/dags/transfers_bound.hpp"

namespace cosched::dags {
namespace {

[[noreturn]] void breach(const std::string& text) {
  throw SolverError("transfers certificate: " + text);
}

void require_finite(const std::vector<double>& amounts, std::size_t count, const char* name,
                    double least) {
  if (amounts.size() != count) breach(std::string(name) + " has the wrong length");
  for (const double amount : amounts)
    if (!(amount >= least && amount < kInfinity))
      breach(std::string(name) + " has " + to_text(amount) + ": expected a finite number" +
             (least == 0 ? " >= 0" : ""));
}

void require_guesses(const Instance& instance, const std::vector<TransferGuess>& guesses) {
  const int ways = instance.types() * (instance.types() + 1);
  for (const auto& [of_edge, item, choice] : guesses)
    if (item < 0 || item >= (of_edge ? instance.graph().edges() : instance.tasks()) || choice < 0 ||
        choice >= (of_edge ? ways : instance.types()))
      breach("a guess of " + std::to_string(choice) + " for " + (of_edge ? "edge " : "task ") +
             std::to_string(item) + ", which there is not");
}

void require_weights(const std::vector<double>& weights, std::size_t types) {
  require_finite(weights, types, "weights of load heads", 0);
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (sum > 1 + 1e-15 * static_cast<double>(types))
    breach("weights of load heads sum to " + to_text(sum));
}

void require_interval(const Interval& interval, double price, int types) {
  if (interval.type < 0 || interval.type >= types || !(price >= 0) || !(price < kInfinity) ||
      !(interval.begin >= 0) || !(interval.end > interval.begin) || !(interval.end < kInfinity))
    breach("a bad interval");
}

void require_prices(const Instance& instance, const TransferStage& stage) {
  constexpr double kLeast = -std::numeric_limits<double>::max();
  const std::size_t types = instance.types(), edges = instance.graph().edges();
  require_finite(stage.loads, types, "prices of the loads", 0);
  if (stage.task_flow.empty() != stage.edge_flow.empty() && edges > 0)
    breach("flow through tasks and on edges: expected both or neither");
  if (!stage.task_flow.empty()) {
    require_finite(stage.task_flow, instance.tasks(), "flow through tasks", 0);
    require_finite(stage.edge_flow, edges, "flow on edges", 0);
  }
  if (!stage.shift.empty()) require_finite(stage.shift, edges * types, "shifts", kLeast);
  for (const auto& [interval, price] : stage.intervals)
    require_interval(interval, price, instance.types());
}

// Numbers and shapes of a stage, before anything is made of them.
void require_stage(const Instance& instance, const TransferStage& stage) {
  if (!stage.guesses.empty())
    require_guesses(instance, stage.guesses);
  else if (!stage.raise.empty())
    require_weights(stage.raise, instance.types());
  else
    require_prices(instance, stage);
}

}  // namespace

double certified_bound(const Instance& instance, const TransfersCertificate& certificate) {
  const double bound = certified_bound(instance, certificate.windows);
  const double makespan = certificate.refutation.makespan;
  if (makespan == 0) return bound;
  if (!(makespan > 0 && makespan < kInfinity)) breach("a makespan of " + to_text(makespan));
  for (const TransferStage& stage : certificate.refutation.stages) require_stage(instance, stage);
  const TransferRefutation& refutation = certificate.refutation;
  if (!TransferChecker(instance, makespan, refutation.clusters).refutes(refutation.stages))
    breach("a makespan of " + to_text(makespan) + " is not refuted");
  return std::max(bound, makespan);
}

}  // namespace cosched::dags
