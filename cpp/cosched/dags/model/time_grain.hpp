// Times that are whole multiples of one number: then so is the optimum.
#pragma once

#include "cosched/dags/model/instance.hpp"

namespace cosched::dags {

/// The greatest number that all finite times are whole multiples of, and so is the optimum; 0 where
/// there is none of a useful size.
double time_grain(const Instance& instance);

/// The least multiple of `grain` above a makespan that is refuted; the makespan itself for grain 0.
double least_multiple_above(double refuted, double grain);

}  // namespace cosched::dags
