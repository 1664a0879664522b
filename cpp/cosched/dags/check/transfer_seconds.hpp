// Seconds that data needs between two units, from the raw numbers alone.
#pragma once

#include <functional>
#include <vector>

#include "cosched/dags/model/transfers.hpp"

namespace cosched::dags::check {

/// Seconds of an edge between two units, from the raw numbers alone.
std::function<double(int edge, int from_type, int from_unit, int to_type, int to_unit)>
transfer_seconds(const std::vector<int>& units, const std::vector<double>& data,
                 const Links& links);

}  // namespace cosched::dags::check
