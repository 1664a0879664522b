#include "cosched/cluster/slurm/policy.hpp"

namespace cosched::cluster::slurm {
namespace {

constexpr int kNoLimit = -1;
const Limits kNoLimits;

}  // namespace

Policy::Policy(const Scenario& scenario)
    : scenario_(scenario),
      any_(!scenario.accounts().empty() || !scenario.machine().qos.empty()),
      by_association_(scenario.accounts().size()),
      by_qos_(scenario.machine().qos.size()) {}

const Limits& Policy::qos(int job) const {
  const int which = scenario_.job(job).qos;
  return which < 0 ? kNoLimits : scenario_.machine().qos[static_cast<std::size_t>(which)];
}

Policy::Count Policy::of_user(int job) const {
  const Job& one = scenario_.job(job);
  const auto found = by_qos_and_user_.find({one.qos, one.user});
  return found == by_qos_and_user_.end() ? Count{} : found->second;
}

// A limit of the QOS stands in place of the association's of its kind.
template <class Allows>
bool Policy::nodes_allowed(int job, Allows allows) const {
  const Limits& own = qos(job);
  const int which = scenario_.job(job).qos;
  const auto holds = [&](int limit, int used) { return limit == kNoLimit || allows(limit, used); };
  if (which >= 0 && (!holds(own.group_nodes, by_qos_[static_cast<std::size_t>(which)].nodes) ||
                     !holds(own.user_nodes, of_user(job).nodes) || !holds(own.job_nodes, 0)))
    return false;
  const int association = scenario_.job(job).association;
  for (int k = association; k >= 0; k = scenario_.accounts()[static_cast<std::size_t>(k)].parent) {
    const Limits& limits = scenario_.accounts()[static_cast<std::size_t>(k)].limits;
    if (own.group_nodes == kNoLimit &&
        !holds(limits.group_nodes, by_association_[static_cast<std::size_t>(k)].nodes))
      return false;
    if (k == association && own.job_nodes == kNoLimit && !holds(limits.job_nodes, 0)) return false;
  }
  return true;
}

bool Policy::looks_at(int job) const {
  const Job& one = scenario_.job(job);
  const Limits& own = qos(job);
  if (own.user_jobs != kNoLimit) {
    if (of_user(job).jobs >= own.user_jobs) return false;
  } else if (one.association >= 0) {
    const auto k = static_cast<std::size_t>(one.association);
    const int most = scenario_.accounts()[k].limits.jobs;
    if (most != kNoLimit && by_association_[k].jobs >= most) return false;
  }
  return nodes_allowed(job, [&](int limit, int) { return one.nodes <= limit; });
}

bool Policy::lets_start(int job, int nodes) const {
  return nodes_allowed(job, [&](int limit, int used) { return used + nodes <= limit; });
}

void Policy::count(int job, int nodes, int jobs) {
  const Job& one = scenario_.job(job);
  const auto add = [&](Count& to) {
    to.nodes += nodes;
    to.jobs += jobs;
  };
  for (int k = one.association; k >= 0;
       k = scenario_.accounts()[static_cast<std::size_t>(k)].parent)
    add(by_association_[static_cast<std::size_t>(k)]);
  if (one.qos < 0) return;
  add(by_qos_[static_cast<std::size_t>(one.qos)]);
  add(by_qos_and_user_[{one.qos, one.user}]);
}

}  // namespace cosched::cluster::slurm
