// What the independent validator (core/validate.hpp) checks a schedule of an instance against.
#pragma once

#include "cosched/core/validate.hpp"
#include "cosched/dags/model/instance.hpp"

namespace cosched::dags::check {

Requirements requirements(const Instance& instance);

}  // namespace cosched::dags::check
