#include "cosched/slurm/select/allocations.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cosched::slurm {

Allocations::Allocations(const Scenario& scenario)
    : scenario_(scenario),
      held_(scenario.jobs().size()),
      up_(scenario.machine().nodes),
      busy_(scenario.machine().nodes),
      cleaning_(scenario.machine().nodes),
      free_(scenario.machine()),
      cores_(scenario) {
  up_.add_range(0, scenario.machine().nodes);
  if (scenario.machine().down.any()) up_ -= scenario.machine().down;
}

void Allocations::start(int job, const Choice& choice, Second now) {
  Held& held = of(job);
  held.nodes = choice.nodes;
  held.since = held.turned = now;
  held.due = now + scenario_.job(job).limit;
  if (const int array = scenario_.job(job).conditions.array; array >= 0)
    held.place = std::exchange(rests_[array], ++places_);  // the others go to the end of the list
  held.suspended = false;
  held.ran = 0;
  held.state = State::running;
  ++changes_;
  if (scenario_.own_cores()) held.shares = choice.shares;
  if (scenario_.suspends()) {
    held.cores = choice.cores;
    held.part = choice.part;
  }
  take(job);
}

void Allocations::take(int job) {
  const Held& held = of(job);
  if (scenario_.own_cores()) {
    free_.take(held.shares);
    if (scenario_.suspends()) {
      cores_.take(held.part, held.cores);
      count_cores(held);
    }
    mark_busy(held);
  } else {
    busy_ |= held.nodes;
  }
  enlist(job);
}

void Allocations::enter(int job) {
  const int array = scenario_.job(job).conditions.array;
  if (array < 0)
    of(job).place = ++places_;
  else if (rests_.count(array) == 0)
    rests_[array] = ++places_;
}

void Allocations::enlist(int job) {
  const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
    const auto order = [&](int k) { return std::tuple(of(k).due, of(k).place, k); };
    return order(a) < order(b);
  });
  running_.insert(place, job);
}

void Allocations::end(int job, Second now) {
  Held& held = of(job);
  held.end = now;
  held.state = State::completing;
  ++changes_;
  give(job);
  cleaning_ |= held.nodes;
  completing_.push_back(job);
}

void Allocations::give(int job) {
  const Held& held = of(job);
  if (scenario_.own_cores()) {
    free_.give(held.shares);
    if (scenario_.suspends()) {
      cores_.give(held.part, held.cores);
      count_cores(held);
    }
    mark_busy(held);
  } else {
    busy_ -= held.nodes;
  }
  running_.erase(std::find(running_.begin(), running_.end(), job));
}

void Allocations::lift(int job) {
  ++lifts_;
  give(job);
  if (scenario_.suspends()) free_.keep(of(job).shares);
}

void Allocations::put_back(int job) {
  ++lifts_;
  if (scenario_.suspends()) free_.let_go(of(job).shares);
  take(job);
}

void Allocations::suspend(int job, Second now) {
  Held& held = of(job);
  ++changes_;
  held.suspended = true;
  held.ran += now - held.turned;
  held.turned = now;
}

void Allocations::resume(int job, Second now) {
  Held& held = of(job);
  ++changes_;
  held.suspended = false;
  held.turned = now;
  running_.erase(std::find(running_.begin(), running_.end(), job));
  held.due = now + scenario_.job(job).limit - held.ran;
  enlist(job);
}

void Allocations::clean(int job) {
  of(job).state = State::done;
  ++changes_;
  completing_.erase(std::find(completing_.begin(), completing_.end(), job));
  cleaning_ -= of(job).nodes;
  if (scenario_.own_cores())  // others may be completing there
    for (const int other : completing_) cleaning_ |= of(other).nodes;
}

void Allocations::set_up(const NodeBits& nodes, bool up) {
  ++changes_;
  if (up)
    up_ |= nodes;
  else
    up_ -= nodes;
}

bool Allocations::completing_since(Second since) const {
  return std::any_of(completing_.begin(), completing_.end(),
                     [&](int job) { return of(job).end >= since; });
}

// Cores that nobody has: several jobs may have one.
void Allocations::count_cores(const Held& held) {
  const NodeBits taken = cores_.taken();
  for (const Share& share : held.shares.nodes)
    free_.set_cores(share.node,
                    cores_.last(share.node) - cores_.first(share.node) -
                        taken.count_range(cores_.first(share.node), cores_.last(share.node)));
}

void Allocations::mark_busy(const Held& held) {
  for (const Share& share : held.shares.nodes)
    if (free_.some.has(share.node))
      busy_.remove(share.node);
    else
      busy_.add(share.node);
}

void EndOrder::refresh(const Allocations& allocations) {
  if (version_ == allocations.version()) return;
  version_ = allocations.version();
  jobs_ = allocations.running();
  due_.clear();
  words_.clear();
  for (const int job : jobs_) {
    const std::vector<std::uint64_t>& held = allocations.nodes(job).words();
    due_.push_back(allocations.due(job));
    words_.insert(words_.end(), held.begin(), held.end());
  }
}

EndOrder::Wanted::Wanted(const NodeBits& nodes)
    : words(nodes.words()), first(0), last(words.size()) {
  while (first < last && words[first] == 0) ++first;
  while (first < last && words[last - 1] == 0) --last;
}

}  // namespace cosched::slurm
