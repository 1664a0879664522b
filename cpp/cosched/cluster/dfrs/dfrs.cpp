#include "cosched/cluster/dfrs/dfrs.hpp"

#include <algorithm>
#include <vector>

#include "cosched/cluster/dfrs/average_yields.hpp"
#include "cosched/cluster/dfrs/greedy.hpp"
#include "cosched/cluster/dfrs/mcb8_search.hpp"
#include "cosched/cluster/dfrs/yields.hpp"

namespace cosched::cluster::dfrs {
namespace {

bool any_full(const Machine& machine) {
  for (const auto& node : machine.nodes())
    if (node.cpu_load > kCpuUnit) return true;
  return false;
}

Mapping running_mapping(const Machine& machine) {
  Mapping mapping;
  mapping.nodes = machine.node_count();
  mapping.cpu.reserve(machine.running().size());
  mapping.where.reserve(machine.running().size());
  for (const int rank : machine.running()) {
    mapping.cpu.push_back(machine.job(rank).cpu);
    mapping.where.push_back(&machine.job(rank).nodes);
  }
  return mapping;
}

std::vector<double> yields_of(const Machine& machine, Improve improve) {
  if (!any_full(machine)) return std::vector<double>(machine.running().size(), 1.0);
  const Mapping mapping = running_mapping(machine);
  switch (improve) {
    case Improve::none:
      return base_yields(mapping);
    case Improve::max_min:
      return max_min_yields(mapping);
    case Improve::average:
      return best_average_yields(mapping, base_yields(mapping),
                                 std::vector<double>(mapping.jobs(), 1.0));
  }
  return {};
}

// Yields in terms of z = inverse of the stretch estimated for the end of the period.
std::vector<double> stretch_yields(const Machine& machine, Improve improve, double period,
                                   double target) {
  const Mapping mapping = running_mapping(machine);
  std::vector<double> slope, offset, lower, weight;
  for (const int rank : machine.running()) {
    const double flow_then = machine.flow_time(rank) + period;
    slope.push_back(flow_then / period);
    offset.push_back(machine.job(rank).virtual_time / period);
    lower.push_back(std::clamp(slope.back() * target - offset.back(), 0.0, 1.0));
    weight.push_back(period / flow_then);
  }
  switch (improve) {
    case Improve::none:
      return lower;
    case Improve::max_min:
      return max_min_shares(mapping, slope, offset);
    case Improve::average:
      return best_average_yields(mapping, lower, weight);
  }
  return {};
}

}  // namespace

double Dfrs::remap_all(Machine& machine, std::optional<double> period) {
  const Remapped found = remap(machine, name_.limit, name_.limit_seconds, period, cut_);
  cut_ = found.cut;
  return found.target;
}

bool Dfrs::on_submission(int rank, Machine& machine) {
  switch (name_.on_submit) {
    case OnSubmit::none:
      machine.explain_wait(rank, Reason::next_period);
      return false;
    case OnSubmit::greedy:
      greedy_start(machine, rank);
      return true;
    case OnSubmit::greedy_p:
      greedy_displace(machine, rank, Displaced::paused);
      return true;
    case OnSubmit::greedy_pm:
      greedy_displace(machine, rank, Displaced::moved_or_paused);
      return true;
    case OnSubmit::mcb8:
      remap_all(machine, std::nullopt);
      if (machine.job(rank).status != Status::running)
        machine.explain_wait(rank, Reason::packed_out, -1, machine.priority(rank));
      return true;
  }
  return false;
}

bool Dfrs::on_event(const Event& event, Machine& machine) {
  switch (event.kind) {
    case EventKind::submission:
      return on_submission(event.jobs[0], machine);
    case EventKind::completion:
      if (!name_.on_completion) return false;
      if (name_.on_submit == OnSubmit::mcb8)
        remap_all(machine, std::nullopt);
      else
        greedy_resume(machine);
      return true;
    case EventKind::period:
      if (name_.periodic == Periodic::mcb8_stretch)
        target_ = remap_all(machine, period_);
      else
        remap_all(machine, std::nullopt);
      return true;
  }
  return false;
}

void Dfrs::allocate(Machine& machine) {
  const std::vector<double> yield = name_.periodic == Periodic::mcb8_stretch
                                        ? stretch_yields(machine, name_.improve, period_, target_)
                                        : yields_of(machine, name_.improve);
  for (std::size_t k = 0; k < yield.size(); ++k) machine.set_yield(machine.running()[k], yield[k]);
}

Outcome run_dfrs(const Instance& instance, const PolicyName& name, const SimulationOptions& options,
                 Trace* trace, DecisionLog* log) {
  require_memory_fits(instance);
  Dfrs policy(name, options.period);
  return simulate(instance, policy, options, trace, log);
}

}  // namespace cosched::cluster::dfrs
