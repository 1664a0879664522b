// The DFRS policies of Casanova, Stillwell, Vivien 2011, sections 4.4 to 4.7.
#pragma once

#include <optional>

#include "cosched/cluster/dfrs/machine.hpp"
#include "cosched/cluster/dfrs/policy_name.hpp"
#include "cosched/cluster/dfrs/simulator.hpp"

namespace cosched::cluster::dfrs {

class Dfrs : public Policy {
 public:
  /// `period`: the T of MCB8-stretch; the simulator's period.
  Dfrs(const PolicyName& name, double period) : name_(name), period_(period) {}

  bool on_event(const Event& event, Machine& machine) override;
  void allocate(Machine& machine) override;
  bool periodic() const override { return name_.periodic != Periodic::none; }
  bool trusted() const override { return true; }

 private:
  bool on_submission(int rank, Machine& machine);
  double remap_all(Machine& machine, std::optional<double> period);  // the target reached

  PolicyName name_;
  double period_;
  double target_ = 0;  // of the last MCB8-stretch
  double cut_ = 0;     // of the last remap()
};

/// simulate() with Dfrs.  Throws InfeasibleError where a job can never fit in memory.
Outcome run_dfrs(const Instance& instance, const PolicyName& name,
                 const SimulationOptions& options = {}, Trace* trace = nullptr,
                 DecisionLog* log = nullptr);

}  // namespace cosched::cluster::dfrs
