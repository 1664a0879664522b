// The machine with what only the simulator may do.
#pragma once

#include "cosched/cluster/dfrs/machine.hpp"

namespace cosched::cluster::dfrs {

/// Lets time pass, submits and finishes jobs, charges penalties.
class SimulatedMachine : public Machine {
 public:
  using Machine::Machine;

  using Machine::advance;
  using Machine::finish;
  using Machine::set_penalty;
  using Machine::submit;
  using Machine::take_changes;
};

}  // namespace cosched::cluster::dfrs
