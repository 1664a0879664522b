#include "cosched/cluster/slurm/allocations.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {

Allocations::Allocations(const Scenario& scenario)
    : scenario_(scenario),
      held_(scenario.jobs().size()),
      up_(scenario.machine().nodes),
      busy_(scenario.machine().nodes),
      cleaning_(scenario.machine().nodes),
      free_(scenario.machine()) {
  up_.add_range(0, scenario.machine().nodes);
  if (scenario.machine().down.any()) up_ -= scenario.machine().down;
}

void Allocations::start(int job, const Choice& choice, Second now) {
  Held& held = of(job);
  held.nodes = choice.nodes;
  held.due = now + scenario_.job(job).limit;
  held.state = State::running;
  ++changes_;
  if (scenario_.own_cores()) held.shares = choice.shares;
  take(job);
}

void Allocations::take(int job) {
  const Held& held = of(job);
  if (scenario_.own_cores()) {
    free_.take(held.shares);
    mark_busy(held);
  } else {
    busy_ |= held.nodes;
  }
  const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
    const Second x = due(a), y = due(b);
    return x != y ? x < y : a < b;
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
    mark_busy(held);
  } else {
    busy_ -= held.nodes;
  }
  running_.erase(std::find(running_.begin(), running_.end(), job));
}

void Allocations::lift(int job) {
  ++lifts_;
  give(job);
}

void Allocations::put_back(int job) {
  ++lifts_;
  take(job);
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

void Allocations::mark_busy(const Held& held) {
  for (const Share& share : held.shares.nodes)
    if (free_.cores[static_cast<std::size_t>(share.node)] > 0)
      busy_.remove(share.node);
    else
      busy_.add(share.node);
}

}  // namespace cosched::cluster::slurm
