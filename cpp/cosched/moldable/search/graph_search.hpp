// local-search for moldable jobs with precedence.
#pragma once

#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

/// Lists with the allotments of round_work_path, allot_locally and every trade-off that the
/// programme asked for (graph/list.hpp); then annealing on order and counts, each job at its
/// earliest fit (active_search.hpp); up to kMostGraphJobs jobs prove_graph() follows, as
/// local_search() says.  Never worse than the caller's starts, nor than a list by bottom levels on
/// the fastest and on the cheapest counts, whatever the limit.
///
/// `operations`: breakpoints looked at in all, in place of options.work.  Throws InvalidInstance
/// where jobs slow each other.
SearchResult graph_search(const Instance& instance, const SearchOptions& options,
                          std::int64_t operations);

}  // namespace cosched::moldable::search
