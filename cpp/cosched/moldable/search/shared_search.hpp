// local-search for jobs that share the machine.
#pragma once

#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

/// The search of SharedListSearch (shared_list_search.hpp), from lists of several allotments by
/// decreasing time and by Smith's rule under every threshold of bans, gang, the algorithms of the
/// family, the caller's starts, and after each round from what the search finds for jobs that do
/// not slow each other: never worse than any of them.
///
/// Where jobs share resources alone, up to kMostGraphJobs jobs prove_graph() follows
/// (graph_proof.hpp).  The result depends on instance, starts, seed and work only, unless there is
/// a time limit.
SearchResult shared_search(const Instance& instance, const SearchOptions& options);

}  // namespace cosched::moldable::search
