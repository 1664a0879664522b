// When each job may start: its release, and what a search says beyond it.
#pragma once

#include <vector>

#include "cosched/core/numeric.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::search {

/// Of each job: it starts within [first, last].  first >= its release; last may be infinite.
struct StartWindows {
  std::vector<double> first, last;

  explicit StartWindows(const Instance& instance)
      : first(instance.releases()), last(instance.jobs(), kInfinity) {}
};

}  // namespace cosched::moldable::search
