#include "cosched/slurm/clocks/cycle_clock.hpp"

#include "cosched/slurm/clocks/recorded_cycle_clock.hpp"

namespace cosched::slurm {

std::unique_ptr<CycleClock> make_cycle_clock(const Clocks& clocks, std::size_t number) {
  if (number > clocks.slices.size()) return std::make_unique<ModelledCycleClock>(clocks);
  return std::make_unique<RecordedCycleClock>(clocks, clocks.slices[number - 1]);
}

}  // namespace cosched::slurm
