#include "cosched/cluster/dfrs/dfrs.hpp"

#include <algorithm>
#include <optional>

#include "cosched/cluster/dfrs/average_yields.hpp"
#include "cosched/cluster/dfrs/greedy.hpp"
#include "cosched/cluster/dfrs/max_min_yields.hpp"
#include "cosched/cluster/dfrs/remap.hpp"
#include "cosched/cluster/model/units.hpp"

namespace cosched::cluster::dfrs {
namespace {

bool has_overloaded_node(const DfrsMachine& machine) {
  for (const DfrsMachine::NodeAccount& node : machine.nodes())
    if (node.cpu_load > kCpuUnit) return true;
  return false;
}

Mapping running_mapping(const DfrsMachine& machine) {
  Mapping mapping;
  mapping.nodes = machine.node_count();
  mapping.cpu.reserve(machine.running().size());
  mapping.nodes_of_job.reserve(machine.running().size());
  for (const int rank : machine.running()) {
    mapping.cpu.push_back(machine.job(rank).cpu);
    mapping.nodes_of_job.push_back(&machine.job(rank).nodes);
  }
  return mapping;
}

// By running job.
std::vector<double> compute_yields(const DfrsMachine& machine, Improve improve) {
  if (!has_overloaded_node(machine)) return std::vector<double>(machine.running().size(), 1.0);
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

// The yields for z = target, the inverse of the stretch estimated for the end of the period.
std::vector<double> compute_stretch_yields(const DfrsMachine& machine, Improve improve,
                                           double period, double target) {
  const Mapping mapping = running_mapping(machine);
  std::vector<double> slope;
  std::vector<double> offset;
  std::vector<double> lower;
  std::vector<double> weight;
  for (const int rank : machine.running()) {
    const double flow_at_end = machine.flow_time(rank) + period;
    slope.push_back(flow_at_end / period);
    offset.push_back(machine.job(rank).virtual_time / period);
    lower.push_back(std::clamp(slope.back() * target - offset.back(), 0.0, 1.0));
    weight.push_back(period / flow_at_end);
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

class DfrsPolicy : public Policy {
 public:
  // `period`: the T of MCB8-stretch; the simulator's period.
  DfrsPolicy(const PolicyName& name, double period) : name_(name), period_(period) {}

  bool on_event(const PolicyEvent& event, DfrsMachine& machine) override {
    switch (event.kind) {
      case PolicyEventKind::submission:
        return on_submission(event.jobs[0], machine);
      case PolicyEventKind::completion:
        if (!name_.on_completion) return false;
        if (name_.on_submit == OnSubmit::mcb8)
          remap_all(machine, std::nullopt);
        else
          resume_greedily(machine);
        return true;
      case PolicyEventKind::period:
        if (name_.periodic == Periodic::mcb8_stretch)
          stretch_target_ = remap_all(machine, period_);
        else
          remap_all(machine, std::nullopt);
        return true;
    }
    return false;
  }

  void allocate(DfrsMachine& machine) override {
    const std::vector<double> yields =
        name_.periodic == Periodic::mcb8_stretch
            ? compute_stretch_yields(machine, name_.improve, period_, stretch_target_)
            : compute_yields(machine, name_.improve);
    for (std::size_t k = 0; k < yields.size(); ++k)
      machine.set_yield(machine.running()[k], yields[k]);
  }

  bool is_periodic() const override { return name_.periodic != Periodic::none; }
  bool is_trusted() const override { return true; }

 private:
  bool on_submission(int rank, DfrsMachine& machine) {
    switch (name_.on_submit) {
      case OnSubmit::none:
        machine.explain_wait(rank, Reason::next_period);
        return false;
      case OnSubmit::greedy:
        start_greedily(machine, rank);
        return true;
      case OnSubmit::greedy_p:
        start_displacing(machine, rank, Displacement::pause);
        return true;
      case OnSubmit::greedy_pm:
        start_displacing(machine, rank, Displacement::move_or_pause);
        return true;
      case OnSubmit::mcb8:
        remap_all(machine, std::nullopt);
        if (machine.job(rank).status != JobStatus::running)
          machine.explain_wait(rank, Reason::packed_out, -1, machine.priority(rank));
        return true;
    }
    return false;
  }

  // Returns the target that was reached.
  double remap_all(DfrsMachine& machine, std::optional<double> period) {
    const RemapResult result =
        remap(machine, name_.limit, name_.limit_seconds, period, priority_cut_);
    priority_cut_ = result.priority_cut;
    return result.target;
  }

  PolicyName name_;
  double period_;
  double stretch_target_ = 0;  // of the last MCB8-stretch
  double priority_cut_ = 0;    // of the last remap()
};

}  // namespace

SimulationOutcome run_dfrs(const Instance& instance, const PolicyName& name,
                           const SimulationOptions& options, Trace* trace, DecisionLog* log) {
  require_memory_fits(instance);
  DfrsPolicy policy(name, options.period);
  return simulate(instance, policy, options, trace, log);
}

}  // namespace cosched::cluster::dfrs
