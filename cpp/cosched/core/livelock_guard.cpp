#include "cosched/core/livelock_guard.hpp"

#include "cosched/core/progress.hpp"

namespace cosched {

void LivelockGuard::check_round(double time, std::int64_t done) {
  require_progress(time < std::numeric_limits<double>::infinity(), loop_);
  count_round(time > last_time_ || done != last_done_);
  require_progress(!is_stalled(), loop_);
  last_time_ = time;
  last_done_ = done;
}

}  // namespace cosched
