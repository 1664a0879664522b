// Clocks without overheads, for the tests of slurm.
#pragma once

#include "cosched/slurm/clocks/clocks.hpp"
#include "cosched/slurm/model/settings.hpp"

namespace cosched::slurm {

inline Clocks exact_clocks() {
  Clocks clocks;
  clocks.controller_start = 0;
  return clocks;
}

inline Settings::Main main_settings() {
  return to_settings({{"batch_sched_delay", 10}, {"sched_interval", 100}}).main;
}

}  // namespace cosched::slurm
