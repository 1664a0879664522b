// Schedules by a beam search at prices of jobs.
#pragma once

#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

/// For prices u of jobs, whatever a schedule does,
///
///   makespan = sum_i u_i + integral of 1 - worth(what runs at t),   worth(c) = sum_{i in c} u_i /
///   (t_i f_i(c)):
///
/// at the prices of configuration_bound the integrand, waste, is never negative.  States are what
/// runs, and what is left; at each end a state goes on with the sets of most worth that start more,
/// and of the states with so many jobs ended the `width` of least score are kept: the time, and
/// what is left at the prices, and `waste` for each unit of it, so that states that are ahead
/// compare with those behind.
struct BeamOptions {
  int width = 8;
  int branches = 8;  // of a state
  double waste = 0.05;
};

/// Requires an instance without releases.  Takes what it looked at from `operations`; nothing where
/// they are not enough.
std::optional<Placement> beam_search(const Instance& instance, const list::Decoder& decoder,
                                     const std::vector<double>& prices, const BeamOptions& options,
                                     std::int64_t& operations);

}  // namespace cosched::moldable::shared
