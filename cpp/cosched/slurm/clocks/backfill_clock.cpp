#include "cosched/slurm/clocks/backfill_clock.hpp"

#include "cosched/slurm/clocks/recorded_backfill_clock.hpp"

namespace cosched::slurm {

std::unique_ptr<BackfillClock> make_backfill_clock(const Clocks& clocks, Second interval) {
  if (clocks.cycle_times.empty()) return std::make_unique<ModelledBackfillClock>(clocks, interval);
  return std::make_unique<RecordedBackfillClock>(clocks, interval);
}

}  // namespace cosched::slurm
