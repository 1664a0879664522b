#include "cosched/cluster/slurm/allocations.hpp"

#include <algorithm>

namespace cosched::cluster::slurm {

Allocations::Allocations(const Scenario& scenario)
    : scenario_(scenario),
      held_(scenario.jobs().size()),
      up_(scenario.machine().nodes),
      busy_(scenario.machine().nodes),
      cleaning_(scenario.machine().nodes),
      free_cores_(scenario.machine().node_cores) {
  up_.add_range(0, scenario.machine().nodes);
}

void Allocations::start(int job, const NodeBits& nodes, Second now) {
  Held& held = of(job);
  held.nodes = nodes;
  held.due = now + scenario_.job(job).limit;
  held.state = State::running;
  ++changes_;
  if (scenario_.own_cores())
    take_cores(job);
  else
    busy_ |= held.nodes;
  const auto place = std::lower_bound(running_.begin(), running_.end(), job, [&](int a, int b) {
    const Second x = due(a), y = due(b);
    return x != y ? x < y : a < b;
  });
  running_.insert(place, job);
}

void Allocations::end(int job, Second now) {
  Held& held = of(job);
  held.end = now;
  held.state = State::ended;
  ++changes_;
  if (scenario_.own_cores())
    give_cores(job);
  else
    busy_ -= held.nodes;
  cleaning_ |= held.nodes;
  running_.erase(std::find(running_.begin(), running_.end(), job));
  completing_.push_back(job);
}

void Allocations::clean(int job) {
  cleaning_ -= of(job).nodes;
  ++changes_;
  completing_.erase(std::find(completing_.begin(), completing_.end(), job));
}

bool Allocations::completing_since(Second since) const {
  return std::any_of(completing_.begin(), completing_.end(),
                     [&](int job) { return of(job).end >= since; });
}

void Allocations::take_cores(int job) {
  Held& held = of(job);
  int left = scenario_.job(job).cpus;
  for (const int node : held.nodes.list()) {
    held.cores.push_back(std::min(left, free_cores_[node]));
    left -= held.cores.back();
    if ((free_cores_[node] -= held.cores.back()) == 0) busy_.add(node);
  }
}

void Allocations::give_cores(int job) {
  const Held& held = of(job);
  auto cores = held.cores.begin();
  for (const int node : held.nodes.list()) {
    free_cores_[node] += *cores++;
    busy_.remove(node);
  }
}

}  // namespace cosched::cluster::slurm
