// local-search: the best schedule for one criterion of what the instance states.
#pragma once

#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

/// With precedence it is graph_search() (graph_search.hpp), where jobs share something
/// shared_search() (shared_search.hpp), else as follows.  Release dates are known in advance.
///
/// Never worse in its criterion than the caller's starts, gang and sequential, whatever the limit;
/// nor than the first schedules (starts.hpp), unless the limit ends these: they may take half a
/// second whatever the limit.
///
/// Then rounds of annealing (annealing.hpp) from the best so far, each four times as long as the
/// one before, so that more work or time is never worse; above the default work a round is several
/// annealings, in threads.  A round that does not fit into the work is not begun.  The search ends
/// when it meets a bound: the dual approximation's for the makespan, sum w_i (r_i + min t_i) for
/// the minsum.  For the makespan of rigid jobs that may fill the machine until the bound, half of
/// each round looks for such a schedule (full_machine_search.hpp).
///
/// Up to kExactJobs jobs prove() follows, with as much work; up to kMostProvedJobs where there is
/// more work than the default, with half of it.  A time limit allows the same steps in the same
/// order as work does, and more of them (rounds.hpp).  The result depends on instance, starts, seed
/// and work only, unless there is a time limit.  Throws InvalidInstance when work < 0.
SearchResult local_search(const Instance& instance, const SearchOptions& options);

}  // namespace cosched::moldable::search
