#include "cosched/cluster/slurm/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/numeric.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::cluster::slurm {
namespace {

constexpr Second kPeriodicTimeout = 30;  // between limit checks
// In force until the first pass has read the configuration.
constexpr Second kFirstDelay = 3, kFirstInterval = 60;

class Simulator {
 public:
  Simulator(const SlurmMachine& machine, const SlurmParameters& parameters,
            const std::vector<SlurmJob>& jobs, const SlurmClocks& clocks, const SlurmRecord& record)
      : jobs_(jobs),
        clocks_(clocks),
        controller_(machine, parameters, jobs, clocks, record.told, record.plans),
        loop_(clocks.controller_start + clocks.tick_offset),
        batch_delay_(whole(parameters["batch_sched_delay"])),
        sched_interval_(whole(parameters["sched_interval"])),
        bf_interval_(whole(parameters["bf_interval"])),
        min_interval_(parameters["sched_min_interval"]),
        defer_(parameters["defer"] != 0),
        rng_(clocks.noise_seed),
        order_(jobs.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return job(a).submit < job(b).submit; });
    place_submissions();
    last_sched_ = last_full_ = last_check_ = whole(clocks.controller_start);
    last_backfill_ = whole(clocks.controller_start);
    replay_cycles_ = !clocks.cycles.empty();
    replay_checks_ = !clocks.checks.empty();
    wake_ = clocks.controller_start + static_cast<double>(bf_interval_) + clocks.sleep_extra;
    if (replay_cycles_) wake_ = clocks.cycles[0];
    request(clocks.controller_start);  // by the registrations of the nodes
  }

  SlurmOutcome run() && {
    while (finished_ < jobs_.size()) {
      poll_.count(300);
      step();
    }
    return std::move(controller_).outcome();
  }

 private:
  struct Event {
    double time;
    bool epilog;
    int job;
    bool operator>(const Event& other) const {
      if (time != other.time) return time > other.time;
      if (epilog != other.epilog) return epilog > other.epilog;
      return job > other.job;
    }
  };

  const SlurmJob& job(int j) const { return jobs_[static_cast<std::size_t>(j)]; }

  // --- events: those of one instant in this order ---

  void step() {
    const double life = events_.empty() ? kInfinity : events_.top().time;
    const double coming = next_ < order_.size() ? coming_[next_] : kInfinity;
    const double check = check_due(), tick = tick_due();
    const double first = std::min({life, coming, pass_, check, tick});
    if (wake_ < first) return wake(first);
    if (life == first) {
      happen();
    } else if (coming == first) {
      submit();
    } else if (pass_ == first) {
      pass();
    } else if (check == first) {
      check_limits(check);
    } else {
      loop(tick);
    }
  }

  // A submission at a whole second is somewhere in it, where the host varies.
  void place_submissions() {
    double last = -kInfinity;
    for (const int j : order_) {
      const double told = job(j).submit;
      const bool inside = clocks_.noise > 0 && told == std::floor(told);
      last = std::max(last, inside ? told + rng_.uniform() : told);
      coming_.push_back(last);
    }
  }

  void submit() {
    const double time = coming_[next_];
    controller_.submit(order_[next_++], time);
    request(time);
  }

  void happen() {
    const Event event = events_.top();
    events_.pop();
    if (event.epilog) {
      controller_.epilog(event.job, event.time);
      ++finished_;
      if (defer_)
        request(event.time);
      else
        ask(event.time, false);
    } else if (controller_.runs(event.job)) {
      controller_.finish(event.job, event.time, false);
      events_.push({event.time + varied(clocks_.epilog), true, event.job});
    }
  }

  void after_starts(double time) {
    for (const int j : controller_.take_started())
      events_.push({time + job(j).runtime + varied(clocks_.launch), false, j});
  }

  double varied(double usual) {
    return clocks_.noise > 0 ? usual * (1 + clocks_.noise * (2 * rng_.uniform() - 1)) : usual;
  }

  // --- the background loop ---

  // The first tick at or after `time`.
  double tick_at(double time) const {
    const double ticks = std::max(1.0, std::ceil((time - loop_) / clocks_.tick_period));
    const double tick = loop_ + ticks * clocks_.tick_period;
    return tick >= time ? tick : tick + clocks_.tick_period;  // rounding
  }
  Second delay() const { return read_ ? batch_delay_ : kFirstDelay; }
  Second interval() const { return read_ ? sched_interval_ : kFirstInterval; }

  double check_due() const {
    if (replay_checks_) return check_ < clocks_.checks.size() ? clocks_.checks[check_] : kInfinity;
    return tick_at(static_cast<double>(last_check_ + kPeriodicTimeout));
  }
  void check_limits(double time) {
    ++check_;
    last_check_ = whole(time);
    controller_.check_limits(time);
    for (const int j : controller_.take_timed_out())
      events_.push({time + varied(clocks_.epilog), true, j});
  }

  double tick_due() const {
    double due = tick_at(static_cast<double>(last_full_ + interval()));
    if (requested_ < kInfinity)
      due =
          std::min(due, tick_at(std::max(requested_, static_cast<double>(last_sched_ + delay()))));
    return due;
  }
  void loop(double time) {
    const Second now = whole(time);
    const bool full = now - last_full_ >= interval();
    if (full) last_full_ = now;
    last_sched_ = now;
    requested_ = kInfinity;
    ask(time, full);
  }
  void request(double time) { requested_ = std::min(requested_, time); }

  // --- the main scheduler's own thread: requests that come too soon wait, as one ---

  void ask(double time, bool full) {
    pass_ = std::min(pass_, std::max(time, last_pass_ + min_interval_));
    full_ = full_ || full;
  }
  void pass() {
    const double time = std::exchange(pass_, kInfinity);
    last_pass_ = time;
    read_ = true;
    controller_.main_pass(time, std::exchange(full_, false));
    after_starts(time);
  }

  // --- the backfill thread ---

  // Requires that nothing else happens before `first`.
  void wake(double first) {
    const double time = wake_;
    if (replay_cycles_) {
      ++cycle_;
      cycle(time);
      wake_ = cycle_ < clocks_.cycles.size()
                  ? clocks_.cycles[cycle_]
                  : time + static_cast<double>(bf_interval_) + clocks_.sleep_extra;
      if (cycle_ >= clocks_.cycles.size()) replay_cycles_ = false;
      return;
    }
    const Second now = whole(time);
    const double nap = 1 + clocks_.sleep_extra;
    if (now - last_backfill_ < bf_interval_ || controller_.completing(now)) {
      wake_ = time + nap;
    } else if (!controller_.more_work(last_backfill_)) {
      wake_ = time + nap * std::max(1.0, std::ceil((first - time) / nap));
    } else {
      wake_ = cycle(time) + static_cast<double>(bf_interval_) + clocks_.sleep_extra;
    }
  }

  // Returns when the cycle is over.
  double cycle(double time) {
    controller_.backfill(time);
    after_starts(time);
    const double over = time + clocks_.cycle_cost;
    last_backfill_ = whole(over);
    return over;
  }

  const std::vector<SlurmJob>& jobs_;
  const SlurmClocks& clocks_;
  SlurmController controller_;
  double loop_;  // tick k is at loop_ + k tick_period
  Second batch_delay_, sched_interval_, bf_interval_;
  double min_interval_;
  bool defer_;
  Rng rng_;
  std::vector<int> order_;      // jobs by submission
  std::vector<double> coming_;  // when, in that order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t next_ = 0, finished_ = 0, check_ = 0, cycle_ = 0;
  Second last_sched_ = 0, last_full_ = 0, last_check_ = 0, last_backfill_ = 0;
  double requested_ = kInfinity, pass_ = kInfinity, last_pass_ = -kInfinity, wake_ = 0;
  bool full_ = false, read_ = false, replay_cycles_ = false, replay_checks_ = false;
  Poll poll_;
};

}  // namespace

SlurmOutcome simulate_slurm(const SlurmMachine& machine, const SlurmParameters& parameters,
                            const std::vector<SlurmJob>& jobs, const SlurmClocks& clocks,
                            const SlurmRecord& record) {
  return Simulator(machine, parameters, jobs, clocks, record).run();
}

}  // namespace cosched::cluster::slurm
