// The greatest minimum yield once tasks are mapped to nodes (Casanova, Stillwell, Vivien 2011,
// sections 4.6 and 4.7).
#pragma once

#include <vector>

#include "cosched/cluster/dfrs/mapping.hpp"

namespace cosched::cluster::dfrs {

/// 1 / max(1, greatest node load) for every job: the greatest minimum yield.  O(tasks).
std::vector<double> base_yields(const Mapping& mapping);

/// opt=min, iterative max-min: raise the common yield, freeze the jobs of a node that is
/// full, go on with the others up to yield 1.  O(tasks + k log k), k = tasks on nodes of
/// load above 1 (times tasks a node).
std::vector<double> max_min_yields(const Mapping& mapping);

/// The same for job j's share max(0, slope[j] z - offset[j]), at most 1, raising z: with
/// slope = (ft + T)/T and offset = vt/T it is MCB8-stretch's opt=max.  Requires slope > 0 and
/// offset >= 0.
std::vector<double> max_min_shares(const Mapping& mapping, const std::vector<double>& slope,
                                   const std::vector<double>& offset);

}  // namespace cosched::cluster::dfrs
