// Replays of a plan under drawn times, each with a bound for these times.
#pragma once

#include "cosched/dags/hlp/certificate.hpp"
#include "cosched/dags/search/replay.hpp"

namespace cosched::dags::search {

struct ReplayDraws {
  std::vector<double> value;  ///< makespan of each draw
  std::vector<double> bound;  ///< of each draw; empty without a relaxation
};

/// Replays where the times of task j are factors(d, j) > 0 times those of `instance`, on every
/// type. `relaxation` (null: no bounds) is a proof of LP* for any of these times: since prices that
/// are good for one are good for the next, each draw's bound, windows_bound() and where data costs
/// time transfers_bound(), starts from it instead of a linear programme of its own, and ends within
/// a relative 1e-3 of what it could prove.
ReplayDraws replay_draws(const Instance& instance, const Plan& plan, ReplayRule rule,
                         const Table& factors, const hlp::HlpCertificate* relaxation);

}  // namespace cosched::dags::search
