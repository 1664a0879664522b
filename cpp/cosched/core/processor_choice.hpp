// The numbers of processors on which a task may run together with others.
#pragma once

#include <functional>
#include <vector>

#include "cosched/core/sharing.hpp"

namespace cosched {

/// A number of processors on which a task can run.
struct ProcessorChoice {
  int procs;
  double time;  // its run time there without slow-downs, s
};

/// The processor counts of task i, which takes time_on(q) seconds on q of `procs` processors, by
/// increasing processors: those on which it fits, without the dominated ones: another is no worse
/// in processors, time, needs and traffic.  O(procs) where needs and traffic are the same on all
/// counts.
std::vector<ProcessorChoice> find_processor_choices(const Sharing& sharing, int i, int procs,
                                                    const std::function<double(int)>& time_on);

/// The old names, which some callers still use.
using Choice = ProcessorChoice;
inline std::vector<Choice> choices(const Sharing& sharing, int i, int procs,
                                   const std::function<double(int)>& time_on) {
  return find_processor_choices(sharing, i, procs, time_on);
}

}  // namespace cosched
