// A loop over events whose every round must change something.
#pragma once

#include <string>

#include "cosched/core/errors.hpp"

namespace cosched {

/// Throws SolverError that names the loop if its round has changed nothing: then the next round,
/// and each after it, would be the same.
inline void require_progress(bool has_progress, const char* loop) {
  if (!has_progress)
    throw SolverError(std::string(loop) +
                      ": nothing runs that could end, and jobs wait that nothing starts");
}

}  // namespace cosched
