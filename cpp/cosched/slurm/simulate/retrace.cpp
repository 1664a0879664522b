#include "cosched/slurm/simulate/retrace.hpp"

#include "cosched/slurm/state/tables.hpp"

namespace cosched::slurm {
namespace {

// Those of one instant in this order.
enum class Happens : char { end, submit, release, look, start, sample };

struct Moment {
  double time;
  Happens kind;
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
    all.push_back({scenario.job(job).submit, Happens::submit, job});
    if (std::isnan(lives[j].start)) continue;
    all.push_back({lives[j].start, Happens::start, job});
    if (!std::isnan(lives[j].end)) all.push_back({lives[j].end, Happens::end, job});
  }
  for (const Outside& one : scenario.outside())
    if (one.kind == Outside::Kind::release) all.push_back({one.time, Happens::release, one.job});
  for (const double time : clocks.cycles) all.push_back({time, Happens::look, 0});
  for (const double time : times) all.push_back({time, Happens::sample, 0});
  std::sort(all.begin(), all.end());
  return all;
}

// When queues were built: by recorded cycles; by the passes that started jobs; between them by
// those that the rules say there were.
class Looks {
 public:
  Looks(const Scenario& scenario, const Clocks& clocks, Tables& tables,
        const std::vector<Moment>& moments)
      : tables_(tables),
        clock_(clocks.behind_slurmdbd(), scenario.settings().main, scenario.settings().since_24),
        epilog_(clocks.epilog) {
    for (const Moment& one : moments)
      if (one.kind == Happens::start) starts_.push_back(one.time);
    clock_.request(clocks.controller_start + clocks.decay_after);
  }

  /// Passes before that time.
  void until(double time) {
    for (;;) {
      const double tick = clock_.tick_due(), pass = clock_.pass_due();
      if (std::min(tick, pass) >= time) return;
      if (tick < pass) {
        clock_.tick(tick);
      } else {
        clock_.begin_pass();
        at(pass);
      }
    }
  }
  void at(double time) {
    last_ = time;
    tables_.admit(time);
  }
  /// A job started: the first of its pass or cycle built the queue.
  void start(double time) {
    if (time - last_ > kOnePass) at(time);
  }
  void request(double time) { clock_.request(time); }
  /// The last message of a job has come: a pass that started a job soon was the one that it asked
  /// for.
  void end(double time) {
    const auto next = std::lower_bound(starts_.begin(), starts_.end(), time);
    if (next == starts_.end() || *next > time + kSoon) clock_.ask(time + epilog_, false);
  }

 private:
  static constexpr double kOnePass = 0.5, kSoon = 4;

  Tables& tables_;
  MainClock clock_;
  const double epilog_;
  std::vector<double> starts_;
  double last_ = -kInfinity;
};

Sample sample_of(const Tables& tables, double time) {
  Sample sample{
      time, tables.usage.factors(),
      std::vector<double>(tables.scenario.jobs().size(), std::numeric_limits<double>::quiet_NaN())};
  for (const Entry& entry : tables.queue.entries())
    sample.priority[entry.job] = tables.queue.priority(entry.job);
  return sample;
}

}  // namespace

std::vector<Sample> retrace(const Scenario& scenario, const Clocks& clocks,
                            const std::vector<Life>& lives, const std::vector<double>& times) {
  Tables tables(scenario, clocks.controller_start, {},
                clocks.controller_start + clocks.decay_after);
  const std::vector<Moment> moments = moments_of(scenario, clocks, lives, times);
  Looks looks(scenario, clocks, tables, moments);
  std::vector<Sample> samples;
  Choice choice(scenario.machine().nodes);
  for (const Moment& one : moments) {
    const auto job = static_cast<std::size_t>(one.job);
    looks.until(one.time);
    switch (one.kind) {
      case Happens::end:
        tables.end(one.job, one.time, false);
        tables.epilog(one.job, one.time);
        looks.end(one.time);
        break;
      case Happens::submit:
        tables.submit(one.job, one.time);
        looks.request(one.time);
        break;
      case Happens::release:
        tables.release(one.job, one.time);
        looks.request(one.time);
        break;
      case Happens::start:
        looks.start(one.time);
        choice.shares = lives[job].holds;
        choice.list_nodes();
        tables.set_cores({one.job, scenario.job(one.job).partition}, choice);
        tables.start({one.job, scenario.job(one.job).partition}, choice, one.time, Scheduler::main);
        tables.queue.drop([&](int other) { return other == one.job; });
        break;
      case Happens::look:
        looks.at(one.time);
        for (const Entry& entry : tables.queue.entries())
          if (!tables.policy.before_nodes(entry)) tables.queue.tested(entry.job);
        break;
      case Happens::sample:
        tables.advance(one.time);
        samples.push_back(sample_of(tables, one.time));
        break;
    }
  }
  return samples;
}

}  // namespace cosched::slurm
