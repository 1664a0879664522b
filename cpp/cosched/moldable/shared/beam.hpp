// A beam search at prices of jobs.
#pragma once

#include "cosched/moldable/list/decoder.hpp"

namespace cosched::moldable::shared {

struct BeamOptions {
  /// States that are kept of each number of ended jobs.
  int width = 8;
  /// Sets of jobs with which each state continues.
  int branches = 8;
  /// The weight of the remaining value in the score, in addition to 1.
  double waste = 0.05;
};

/// For any prices u of jobs every schedule has
///
///   makespan = sum_i u_i + integral of (1 - worth(S(t))) dt,   worth(S) = sum_{i in S} u_i / (t_i
///   f_i),
///
/// S(t) being the jobs that run at time t.  At the prices of configuration_bound the integrand, the
/// waste, is never negative.  A state is the running jobs with their remaining work and the waiting
/// jobs.  At each end a state continues with the sets of most worth that contain its running jobs.
/// Of the states with the same number of ended jobs those of least score are kept, the score being
/// the time plus (1 + waste) times the remaining value at the prices, which compares states that
/// are ahead with those behind.
///
/// Requires an instance without releases.  Takes the operations that it used from `operations`;
/// returns no schedule where there were not enough.
std::optional<Placement> beam_search(const Instance& instance, const list::Decoder& decoder,
                                     const std::vector<double>& prices, const BeamOptions& options,
                                     std::int64_t& operations);

}  // namespace cosched::moldable::shared
