// local-search and optimal for moldable jobs with precedence and resources: the makespan.
#pragma once

#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

/// Throws InvalidInstance, `who` in the message, where slow-downs or another objective are asked
/// for.
void require_graph_known(const Instance& instance, Objective objective, const char* who);

/// Lists with the allotments of round_work_path, allot_locally and every trade-off that the
/// programme asked for; then annealing on order and counts, each job at its earliest fit, the best
/// justified. Never worse than the caller's starts, nor than a list by bottom levels on the fastest
/// and on the cheapest counts, whatever the limit.  `operations`: breakpoints looked at in all, in
/// place of options.work.  Throws as require_graph_known().
SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations);

/// Jobs that graph_proof() takes.
inline constexpr int kMostGraphJobs = 12;

/// graph_search() on a little of the work, then branch and bound over jobs in the order of their
/// starts, each at its earliest fit that is not before the last start (some optimal schedule is one
/// of these).  Where work or time is over, `bound` is the programme's.  Exponential.  Throws
/// InvalidInstance above kMostGraphJobs, and as require_graph_known().
Proof graph_proof(const Instance& instance, const ProofOptions& options);

}  // namespace cosched::moldable::search
