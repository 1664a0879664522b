#include "cosched/slurm/queue/queue.hpp"

#include <limits>
#include <map>

#include "cosched/slurm/select/preempt.hpp"

namespace cosched::slurm {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();

bool limits_accrual(const Scenario& scenario) {
  const auto some = [](const Limits& of) {
    return of.group_accrue >= 0 || of.account_accrue >= 0 || of.user_accrue >= 0 || of.accrue >= 0;
  };
  const std::vector<Qos>& qos = scenario.machine().qos;
  const std::vector<Association>& accounts = scenario.accounts();
  return std::any_of(qos.begin(), qos.end(), some) ||
         std::any_of(accounts.begin(), accounts.end(),
                     [&](const Association& one) { return some(one.limits); });
}

}  // namespace

Queue::Queue(const Scenario& scenario, const Usage& usage)
    : scenario_(scenario),
      usage_(usage),
      priorities_(scenario),
      limited_(limits_accrual(scenario)),
      of_(scenario.jobs().size()) {}

bool Queue::before(Entry a, Entry b) const {
  if (scenario_.settings().preempt.enabled()) {  // whatever their priorities
    if (may_preempt(scenario_, a, b)) return true;
    if (may_preempt(scenario_, b, a)) return false;
  }
  const bool kept = scenario_.job(a.job).conditions.reservation >= 0;
  if (kept != (scenario_.job(b.job).conditions.reservation >= 0)) return kept;
  const int first = scenario_.part(a).tier, second = scenario_.part(b).tier;
  if (first != second) return first > second;
  const Submitted& x = of_[static_cast<std::size_t>(a.job)];
  const Submitted& y = of_[static_cast<std::size_t>(b.job)];
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.submit != y.submit) return x.submit < y.submit;
  return a.job < b.job;
}

void Queue::submit(int job, double time) {
  // Tasks of an array follow each other, with one priority.
  const int array = scenario_.job(job).conditions.array;
  if (const auto& known = scenario_.job(job).waiting)
    of_[static_cast<std::size_t>(job)] = {known->priority, whole(time), true, known->accrues};
  else if (array >= 0 && array == last_array_)
    of_[static_cast<std::size_t>(job)] = of_[static_cast<std::size_t>(job - 1)];
  else {
    of_[static_cast<std::size_t>(job)] = {0, whole(time), false, scenario_.job(job).submit};
    of_[static_cast<std::size_t>(job)].priority = computed(job, time, submitted_++);
    if (limited_) of_[static_cast<std::size_t>(job)].accrues = kNotYet;
  }
  last_array_ = array;
}

void Queue::prioritise(int job) {
  of_[static_cast<std::size_t>(job)].priority = computed(job, 0, submitted_++);  // has no age yet
}

double Queue::computed(int job, double time, int before) const {
  const double age = time - of_[static_cast<std::size_t>(job)].accrues;
  return priorities_.of(job, age, before, usage_.factor(job),
                        of_[static_cast<std::size_t>(job)].tested);
}

void Queue::resubmit(int job, double time, bool anew) {
  kept(job);
  if (anew) prioritise(job);
  of_[static_cast<std::size_t>(job)].submit = whole(time);
}

void Queue::enter(int job) {
  ++changes_;
  const auto add = [&](Entry entry) {
    const auto place =
        std::upper_bound(entries_.begin(), entries_.end(), entry,
                         [&](const Entry& a, const Entry& b) { return before(a, b); });
    entries_.insert(place, entry);
  };
  const Job& one = scenario_.job(job);
  if (one.partitions.empty()) add({job, one.partition});
  for (const int part : one.partitions) add({job, part});
}

void Queue::kept(int job) { ready(job, kNotYet); }

void Queue::ready(int job, double since) {
  const auto& known = scenario_.job(job).waiting;
  if (limited_ || (known && known->accrues < kNotYet)) return;
  of_[static_cast<std::size_t>(job)].accrues = since;
}

// What its age counts in: its QOS, its account and user there, its association and those above.
std::vector<Queue::Group> Queue::accrual_groups(int job) const {
  const Job& one = scenario_.job(job);
  const std::vector<Association>& all = scenario_.accounts();
  std::vector<Group> groups;
  if (one.qos >= 0) {
    int account = one.association;
    if (account >= 0 && all[static_cast<std::size_t>(account)].user)
      account = all[static_cast<std::size_t>(account)].parent;
    groups = {{0, one.qos, -1}, {1, one.qos, account}, {2, one.qos, one.user}};
  }
  for (int k = one.association; k >= 0; k = all[static_cast<std::size_t>(k)].parent)
    groups.push_back({3, k, -1});
  return groups;
}

// The first that is set, of its QOS, then of its association and those above; of one of these 24.11
// has the least.
std::pair<Queue::Group, int> Queue::accrual_limit(int job) const {
  const Job& one = scenario_.job(job);
  std::pair<Group, int> found{{}, std::numeric_limits<int>::max()};
  bool any = false;
  const auto look = [&](Group group, int limit) {
    if (limit < 0 || (any && !(scenario_.settings().since_24 && limit < found.second))) return;
    any = true;
    found = {group, limit};
  };
  const std::vector<Group> groups = accrual_groups(job);
  auto group = groups.begin();
  if (one.qos >= 0) {
    const Limits& own = scenario_.machine().qos[static_cast<std::size_t>(one.qos)];
    for (const int limit : {own.group_accrue, own.account_accrue, own.user_accrue})
      look(*group++, limit);
  }
  // That of one association is inherited where those below say nothing.
  int inherited = -1;
  for (auto level = group; level != groups.end() && inherited < 0; ++level)
    inherited = limits_of(*level).accrue;
  for (auto level = group; level != groups.end() && !any; ++level) {
    look(*level, limits_of(*level).group_accrue);
    if (level == group) look(*level, inherited);
  }
  return found;
}

const Limits& Queue::limits_of(const Group& association) const {
  return scenario_.accounts()[static_cast<std::size_t>(association[1])].limits;
}

// In order of the jobs, not of priority.
void Queue::count_ages(double time) {
  std::vector<int> waiting;
  for (const Entry& entry : entries_) waiting.push_back(entry.job);
  std::sort(waiting.begin(), waiting.end());
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  std::map<Group, int> counts;
  const auto count = [&](int job) {
    for (const Group& group : accrual_groups(job)) ++counts[group];
  };
  for (const int job : waiting)
    if (of_[static_cast<std::size_t>(job)].accrues < kNotYet) count(job);
  for (const int job : waiting) {
    double& since = of_[static_cast<std::size_t>(job)].accrues;
    const auto [which, most] = accrual_limit(job);
    if (since < kNotYet || counts[which] >= most) continue;
    count(job);
    since = time;
  }
}

void Queue::recalculate(const std::vector<int>& others) {
  if (!scenario_.settings().priority.multifactor) return;
  ++changes_;
  const auto when = static_cast<double>(usage_.last_pass());
  const auto anew = [&](int job) {
    of_[static_cast<std::size_t>(job)].priority = computed(job, when, 0);
  };
  for (const Entry& entry : entries_) anew(entry.job);
  for (const int job : others) anew(job);
  sort();
}

void Queue::sort() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return before(a, b); });
}

void Queue::restore(int job, double priority) {
  double& own = of_[static_cast<std::size_t>(job)].priority;
  restored_ = restored_ || own != priority;
  own = priority;
}

void Queue::settle() {
  if (std::exchange(restored_, false)) sort();
}

bool Queue::holds_back(int job, Second now) const {
  const Settings::Reserve& reserve = scenario_.settings().reserve;
  const Submitted& one = of_[static_cast<std::size_t>(job)];
  return now - one.submit < reserve.min_age || one.priority < reserve.min_priority;
}

}  // namespace cosched::slurm
