#include "cosched/slurm/clocks/main_clock.hpp"

#include "cosched/slurm/clocks/recorded_main_clock.hpp"

namespace cosched::slurm {

std::unique_ptr<MainClock> make_main_clock(const Clocks& clocks, const Settings::Main& settings,
                                           bool is_24_11) {
  if (clocks.main_passes.empty())
    return std::make_unique<ModelledMainClock>(clocks, settings, is_24_11);
  return std::make_unique<RecordedMainClock>(clocks, settings, is_24_11);
}

}  // namespace cosched::slurm
