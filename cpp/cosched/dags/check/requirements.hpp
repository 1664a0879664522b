// What the independent validator (core/validate.hpp) checks a schedule of an instance against.
#pragma once

#include <functional>
#include <vector>

#include "cosched/core/validate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::check {

Requirements requirements(const Instance& instance);

/// Seconds of an edge between two units, from the raw numbers alone.
std::function<double(int edge, int from_type, int from_unit, int to_type, int to_unit)>
transfer_seconds(const std::vector<int>& units, const std::vector<double>& data,
                 const Links& links);

}  // namespace cosched::dags::check
