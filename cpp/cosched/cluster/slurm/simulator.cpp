#include "cosched/cluster/slurm/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "cosched/cluster/slurm/backfill_cycle.hpp"
#include "cosched/cluster/slurm/main_pass.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/rng.hpp"

namespace cosched::cluster::slurm {
namespace {

class Simulator {
 public:
  Simulator(const Scenario& scenario, const Clocks& clocks, const Record& record)
      : scenario_(scenario),
        host_(clocks),
        tables_(scenario, clocks.controller_start, record),
        select_(scenario, tables_.allocations, clocks.epoch),
        backfill_(clocks, tables_, select_),
        limit_clock_(clocks),
        main_clock_(clocks, scenario.settings().main),
        backfill_clock_(clocks, scenario.settings().backfill.interval),
        rng_(clocks.noise_seed),
        order_(scenario.jobs().size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return scenario.job(a).submit < scenario.job(b).submit; });
    place_submissions();
    main_clock_.request(clocks.controller_start);  // by the registrations of the nodes
  }

  Outcome run() && {
    while (finished_ < order_.size()) {
      poll_.count(300);
      step();
    }
    return std::move(tables_.journal).outcome();
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

  // Those of one instant happen in this order.
  void step() {
    const double life = events_.empty() ? kInfinity : events_.top().time;
    const double coming = next_ < order_.size() ? coming_[next_] : kInfinity;
    const double pass = main_clock_.pass_due();
    const double check = limit_clock_.due(), tick = main_clock_.tick_due();
    const double first = std::min({life, coming, pass, check, tick});
    if (backfill_clock_.wakes_at() < first) return wake(first);
    if (life == first) {
      happen();
    } else if (coming == first) {
      tables_.submit(order_[next_++], coming);
      main_clock_.request(coming);
    } else if (pass == first) {
      const bool full = main_clock_.begin_pass();
      launch(main_pass(tables_, select_, pass, full), pass);
    } else if (check == first) {
      check_limits(check);
    } else {
      main_clock_.tick(tick);
    }
  }

  // A submission at a whole second is somewhere in it, where the host varies.
  void place_submissions() {
    double last = -kInfinity;
    for (const int j : order_) {
      const double told = scenario_.job(j).submit;
      const bool inside = host_.noise > 0 && told == std::floor(told);
      last = std::max(last, inside ? told + rng_.uniform() : told);
      coming_.push_back(last);
    }
  }

  void happen() {
    const Event event = events_.top();
    events_.pop();
    if (event.epilog) {
      tables_.epilog(event.job, event.time);
      ++finished_;
      if (scenario_.settings().main.defer)
        main_clock_.request(event.time);
      else
        main_clock_.ask(event.time, false);
    } else if (!tables_.allocations.ended(event.job)) {
      end(event.job, event.time, false);
    }
  }

  void end(int job, double time, bool killed) {
    tables_.end(job, time, killed);
    events_.push({time + varied(host_.epilog), true, job});
  }

  void launch(const std::vector<int>& started, double time) {
    for (const int j : started)
      events_.push({time + scenario_.job(j).runtime + varied(host_.launch), false, j});
  }

  double varied(double usual) {
    return host_.noise > 0 ? usual * (1 + host_.noise * (2 * rng_.uniform() - 1)) : usual;
  }

  void check_limits(double time) {
    limit_clock_.checked(time);
    for (const int job : tables_.overdue(whole(time))) end(job, time, true);
  }

  // The backfill thread.  Nothing else happens before `first`.
  void wake(double first) {
    const double time = backfill_clock_.wakes_at();
    if (!backfill_clock_.begins_cycle(tables_.completing(whole(time)),
                                      tables_.updates.since(backfill_clock_.last_end()), first))
      return;
    launch(backfill_.run(time), time);
    backfill_clock_.cycle_over();
  }

  const Scenario& scenario_;
  const Clocks& host_;
  Tables tables_;
  Select select_;
  BackfillCycle backfill_;
  LimitClock limit_clock_;
  MainClock main_clock_;
  BackfillClock backfill_clock_;
  Rng rng_;
  std::vector<int> order_;      // jobs by submission
  std::vector<double> coming_;  // when, in that order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t next_ = 0, finished_ = 0;
  Poll poll_;
};

}  // namespace

Outcome simulate(const Scenario& scenario, const Clocks& clocks, const Record& record) {
  return Simulator(scenario, clocks, record).run();
}

}  // namespace cosched::cluster::slurm
