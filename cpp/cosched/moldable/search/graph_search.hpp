// local-search and optimal for moldable jobs with precedence or resources.
#pragma once

#include "cosched/moldable/search/local_search.hpp"
#include "cosched/moldable/search/proof.hpp"

namespace cosched::moldable::search {

/// Throws InvalidInstance, `who` in the message, where jobs slow each other.
void require_no_slowdowns(const Instance& instance, const char* who);

/// Lists with the allotments of round_work_path, allot_locally and every trade-off that the
/// programme asked for; then annealing on order and counts, each job at its earliest fit
/// (active_search.hpp); up to kMostGraphJobs jobs prove_graph() follows, as local_search() says.
/// Never worse than the caller's starts, nor than a list by bottom levels on the fastest and on the
/// cheapest counts, whatever the limit.  `operations`: breakpoints looked at in all, in place of
/// options.work.  Throws as require_no_slowdowns().
SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations);

/// Jobs that graph_proof() takes.
inline constexpr int kMostGraphJobs = 12;

/// Whether prove_graph() is worth trying: few jobs, and no more counts than labels can look at.
bool is_graph_provable(const Instance& instance);

/// As prove() (proof.hpp), by labels that know precedence and resources (graph_labels.hpp), for
/// either criterion and any releases.  `start`: a schedule to be beaten.  Requires jobs that slow
/// nobody.  Exponential.
ProofResult prove_graph(const Instance& instance, const Placement& start,
                        const ProofOptions& options);

/// Tries to prove within a little of the work of a search, from simple lists and the caller's
/// starts: most instances of a few jobs take milliseconds.  Nothing where the proof is not asked
/// for, or not worth trying.
std::optional<ProofResult> prove_quickly(const Instance& instance, const SearchOptions& options);

/// A short search, then prove_graph().  Throws InvalidInstance above kMostGraphJobs, and as
/// require_no_slowdowns().
ProofResult graph_proof(const Instance& instance, const ProofOptions& options);

}  // namespace cosched::moldable::search
