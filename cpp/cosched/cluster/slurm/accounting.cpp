#include "cosched/cluster/slurm/accounting.hpp"

#include <algorithm>
#include <cmath>

namespace cosched::cluster::slurm {

FairShare::FairShare(const Scenario& scenario)
    : scenario_(scenario),
      tree_(scenario.accounts().tree),
      children_(tree_.size()),
      last_(scenario.accounts().last_pass),
      period_(static_cast<double>(scenario.settings().priority.calc_period)) {
  // The constant and the first order are Slurm's.
  const double half_life = scenario.accounts().half_life;
  kept_ = half_life > 0 ? 1 - 0.693 / half_life : 1;
  int number = 0;
  for (const Association& one : tree_) {
    if (one.parent >= 0) children_[static_cast<std::size_t>(one.parent)].push_back(number);
    if (one.user) ++users_;
    ++number;
  }
}

void FairShare::pass(const Allocations& allocations) {
  const double now = due();
  const double kept = std::pow(kept_, now - last_);
  for (Association& one : tree_) one.usage *= kept;
  for (const int job : allocations.running())
    charge(job, allocations.due(job) - scenario_.job(job).limit, now);
  last_ = now;
  Rank place{users_, users_};
  rank(0, place, false);
}

void FairShare::end(int job, Second start, double time) {
  if (counts() && scenario_.accounts().charges_ends) charge(job, start, time);
}

void FairShare::charge(int job, Second start, double until) {
  const Job& one = scenario_.job(job);
  const double seconds = until - std::max(last_, static_cast<double>(start));
  if (seconds <= 0) return;
  const double usage = seconds * std::pow(kept_, seconds) * one.billing;
  for (int at = one.association; at >= 0; at = tree_[static_cast<std::size_t>(at)].parent)
    tree_[static_cast<std::size_t>(at)].usage += usage;
}

double FairShare::part(int job) const {
  const int own = scenario_.job(job).association;
  return own < 0 ? 0 : scenario_.accounts().weight * tree_.at(static_cast<std::size_t>(own)).factor;
}

// The level fair-share of an association among its siblings.
double FairShare::level(const Association& one, double all_shares) const {
  if (one.of_parent) return kInfinity;
  if (one.shares <= 0) return 0;
  const double above = tree_[static_cast<std::size_t>(one.parent)].usage;
  const double used = above > 0 ? one.usage / above : 0;
  return used > 0 ? one.shares / all_shares / used : kInfinity;
}

void FairShare::rank(int account, Rank& place, bool tied) {
  const std::vector<int>& siblings = children_[static_cast<std::size_t>(account)];
  double all_shares = 0;
  for (const int one : siblings) {
    const Association& own = tree_[static_cast<std::size_t>(one)];
    if (!own.of_parent) all_shares += own.shares;
  }
  struct Placed {
    double level;
    int number;
    bool user;
  };
  std::vector<Placed> order;
  for (const int one : siblings) {
    const Association& own = tree_[static_cast<std::size_t>(one)];
    order.push_back({level(own, all_shares), one, own.user});
  }
  std::stable_sort(order.begin(), order.end(), [](const Placed& a, const Placed& b) {
    return a.level != b.level ? a.level > b.level : a.user && !b.user;
  });
  // The first inherits a tie of its account; equal siblings share a rank.
  const Placed* before = nullptr;
  for (const Placed& one : order) {
    const bool equal = before == nullptr ? tied : before->level == one.level;
    before = &one;
    if (!one.user) {
      rank(one.number, place, equal);
      continue;
    }
    if (!equal) place.now = place.next;
    tree_[static_cast<std::size_t>(one.number)].factor = place.now / users_;
    --place.next;
  }
}

GroupCounts::GroupCounts(const Scenario& scenario)
    : scenario_(scenario), used_(scenario.accounts().groups.size(), Group{0, 0, 0}) {}

bool GroupCounts::allow(int job) const {
  const Job& one = scenario_.job(job);
  return std::all_of(one.groups.begin(), one.groups.end(), [&](int group) {
    const Group& limit = scenario_.accounts().groups[static_cast<std::size_t>(group)];
    const Group& used = used_[static_cast<std::size_t>(group)];
    return used.jobs + 1 <= limit.jobs && used.nodes + one.nodes <= limit.nodes &&
           used.cpus + one.counted_cpus <= limit.cpus;
  });
}

void GroupCounts::count(int job, int sign) {
  const Job& one = scenario_.job(job);
  for (const int group : one.groups) {
    Group& used = used_[static_cast<std::size_t>(group)];
    used.jobs += sign;
    used.nodes += sign * one.nodes;
    used.cpus += sign * one.counted_cpus;
  }
}

}  // namespace cosched::cluster::slurm
