#include "cosched/core/processor_choice.hpp"

#include <algorithm>

#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

// Whether a takes no more than b of anything.
bool is_no_worse(const Sharing& sharing, int i, const ProcessorChoice& a,
                 const ProcessorChoice& b) {
  if (a.procs > b.procs || a.time > b.time) return false;
  if (sharing.load(i, a.procs) > sharing.load(i, b.procs)) return false;
  for (int r = 0; r < sharing.resources(); ++r)
    if (sharing.need(r, i, a.procs) > sharing.need(r, i, b.procs)) return false;
  return true;
}

}  // namespace

std::vector<ProcessorChoice> find_processor_choices(const Sharing& sharing, int i, int procs,
                                                    const std::function<double(int)>& time_on) {
  std::vector<ProcessorChoice> undominated;
  Poll poll;
  for (int q = 1; q <= procs; ++q) {
    const ProcessorChoice choice{q, time_on(q)};
    if (choice.time == kInfinity || !sharing.fits_alone(i, q)) continue;
    poll.count(static_cast<std::int64_t>(undominated.size()) + 1);
    const bool is_dominated = sharing.same_on_all_counts()
                                  ? !undominated.empty() && undominated.back().time <= choice.time
                                  : std::any_of(undominated.begin(), undominated.end(),
                                                [&](const ProcessorChoice& other) {
                                                  return is_no_worse(sharing, i, other, choice);
                                                });
    if (!is_dominated) undominated.push_back(choice);
  }
  return undominated;
}

}  // namespace cosched
