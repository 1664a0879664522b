#include "cosched/cluster/slurm/retrace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cosched/cluster/slurm/tables.hpp"
#include "cosched/core/errors.hpp"

namespace cosched::cluster::slurm {
namespace {

// Those of one instant in this order.
enum class Kind : char { end, submit, release, look, start, sample };

struct Moment {
  double time;
  Kind kind;
  int job;
  bool operator<(const Moment& other) const {
    if (time != other.time) return time < other.time;
    return kind != other.kind ? kind < other.kind : job < other.job;
  }
};

std::vector<Moment> moments_of(const Scenario& scenario, const Clocks& clocks,
                               const std::vector<Life>& lives, const std::vector<double>& times) {
  std::vector<Moment> all;
  for (std::size_t j = 0; j < lives.size(); ++j) {
    const int job = static_cast<int>(j);
    all.push_back({scenario.job(job).submit, Kind::submit, job});
    if (std::isnan(lives[j].start)) continue;
    all.push_back({lives[j].start, Kind::start, job});
    if (!std::isnan(lives[j].end)) all.push_back({lives[j].end, Kind::end, job});
  }
  for (const Outside& one : scenario.outside())
    if (one.kind == Outside::Kind::release) all.push_back({one.time, Kind::release, one.job});
  for (const double time : clocks.cycles) all.push_back({time, Kind::look, 0});
  for (const double time : times) all.push_back({time, Kind::sample, 0});
  std::sort(all.begin(), all.end());
  return all;
}

Sample sample_of(const Tables& tables, double time) {
  Sample sample{
      time, tables.usage.factors(),
      std::vector<double>(tables.scenario.jobs().size(), std::numeric_limits<double>::quiet_NaN())};
  for (const Entry& entry : tables.queue.entries())
    sample.priority[static_cast<std::size_t>(entry.job)] = tables.queue.priority(entry.job);
  return sample;
}

}  // namespace

std::vector<Sample> retrace(const Scenario& scenario, const Clocks& clocks,
                            const std::vector<Life>& lives, const std::vector<double>& times) {
  if (scenario.own_cores()) throw InvalidInstance("slurm: expected jobs on whole nodes");
  Tables tables(scenario, clocks.controller_start, {},
                clocks.controller_start + clocks.decay_after);
  std::vector<Sample> samples;
  Choice choice(scenario.machine().nodes);
  for (const Moment& one : moments_of(scenario, clocks, lives, times)) {
    const auto job = static_cast<std::size_t>(one.job);
    switch (one.kind) {
      case Kind::end:
        tables.end(one.job, one.time, false);
        tables.epilog(one.job, one.time);
        break;
      case Kind::submit:
        tables.submit(one.job, one.time);
        break;
      case Kind::release:
        tables.release(one.job, one.time);
        break;
      case Kind::start:
        choice.nodes.clear();
        for (const int node : lives[job].nodes) choice.nodes.add(node);
        tables.start({one.job, scenario.job(one.job).partition}, choice, one.time, Scheduler::main);
        tables.queue.drop([&](int other) { return other == one.job; });
        break;
      case Kind::look:
        for (const Entry& entry : tables.queue.entries()) tables.queue.tested(entry.job);
        break;
      case Kind::sample:
        tables.advance(one.time);
        samples.push_back(sample_of(tables, one.time));
        continue;
    }
    tables.admit(one.time);
  }
  return samples;
}

}  // namespace cosched::cluster::slurm
