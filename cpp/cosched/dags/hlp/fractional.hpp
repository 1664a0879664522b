// Durations and loads under a fractional allocation.
#pragma once

#include <vector>

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::hlp {

/// Duration sum_q p_jq x_jq of each task (0 times infinity is 0).
std::vector<double> fractional_durations(const Instance& instance, const Table& x);

/// Loads sum_j p_jq x_jq / m_q.
std::vector<double> fractional_loads(const Instance& instance, const Table& x);

}  // namespace cosched::dags::hlp
