// The machine with what only the simulator may do.
#pragma once

#include "cosched/cluster/dfrs/dfrs_machine.hpp"

namespace cosched::cluster::dfrs {

/// Lets time pass, submits and finishes jobs, charges penalties.
class SimulatedMachine : public DfrsMachine {
 public:
  using DfrsMachine::DfrsMachine;

  using DfrsMachine::advance;
  using DfrsMachine::finish;
  using DfrsMachine::set_penalty;
  using DfrsMachine::submit;
  using DfrsMachine::take_changes;
};

}  // namespace cosched::cluster::dfrs
