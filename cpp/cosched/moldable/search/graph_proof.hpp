// Proofs of optimality for few jobs with precedence or resources.
#pragma once

#include "cosched/moldable/search/proof.hpp"
#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

/// Jobs that graph_proof() takes at most.
inline constexpr int kMostGraphJobs = 12;

/// Throws InvalidInstance, with the name of the `algorithm`, where jobs slow each other.
void require_no_slowdowns(const Instance& instance, const char* algorithm);

/// Whether prove_graph() is worth trying: few jobs, and no more counts than labels can look at.
bool is_graph_provable(const Instance& instance);

/// As prove() (proof.hpp), by labels that know precedence and resources (graph_labels.hpp), for
/// either criterion and any releases.  `start`: a schedule to be beaten.  Requires jobs that do not
/// slow each other.  Exponential in the number of jobs.
ProofResult prove_graph(const Instance& instance, const Placement& start,
                        const ProofOptions& options);

/// Tries to prove within a little of the work of a search, from simple lists and the caller's
/// starts: most instances of a few jobs take milliseconds.  Empty where the options ask for no
/// proof, or it is not worth trying.
std::optional<ProofResult> prove_quickly(const Instance& instance, const SearchOptions& options);

/// A short search, then prove_graph().  Throws InvalidInstance above kMostGraphJobs, and as
/// require_no_slowdowns().
ProofResult graph_proof(const Instance& instance, const ProofOptions& options);

}  // namespace cosched::moldable::search
