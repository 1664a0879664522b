#include "cosched/slurm/simulate/simulator.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/simulate/afterwards.hpp"
#include "cosched/slurm/simulate/main_pass.hpp"

namespace cosched::slurm {
namespace {

// Second of the end of a reservation that nothing waits for.
constexpr Second kEndless = Second{1} << 40;

class Simulator {
 public:
  Simulator(const Scenario& scenario, const Clocks& clocks, const Record& record)
      : scenario_(scenario),
        host_(clocks),
        tables_(scenario, clocks.controller_start, record,
                clocks.controller_start + clocks.decay_after),
        select_(scenario, tables_.allocations, clocks.epoch),
        backfill_(clocks, tables_, select_),
        loop_(Usage::runs(scenario) ? clocks.behind_slurmdbd() : clocks),
        limit_clock_(loop_, scenario.settings().since_24),
        main_clock_(loop_, scenario.settings().main, scenario.settings().since_24),
        backfill_clock_(clocks, scenario.settings().backfill.interval),
        rng_(clocks.noise_seed),
        order_(all_of(scenario.jobs().size())),
        attempts_(scenario.jobs().size()),
        requeued_(scenario.jobs().size()),
        work_(scenario.suspends() ? scenario.jobs().size() : 0) {
    order_.erase(std::remove_if(order_.begin(), order_.end(),
                                [&](int job) { return scenario.job(job).running.has_value(); }),
                 order_.end());
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return scenario.job(a).submit < scenario.job(b).submit; });
    tables_.delays = clocks.delays;
    hold_running();
    place_submissions();
    for (const Reservation& one : scenario.reservations()) {
      if (one.created < kInfinity && one.end < kEndless)
        last_begin_ = std::max(last_begin_, static_cast<double>(one.end));
      if (static_cast<double>(one.begin) > one.created) looks_.push_back(node_look(one.begin));
    }
    std::sort(looks_.begin(), looks_.end());
    main_clock_.request(loop_.controller_start);  // by the registrations of the nodes
  }

  Outcome run() && {
    while (finished_ < scenario_.jobs().size() && !seen() && !hopeless()) {
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
    int attempt;           // jobs may run again
    bool stopped = false;  // by slurmctld
    bool operator>(const Event& other) const {
      if (time != other.time) return time > other.time;
      if (epilog != other.epilog) return epilog > other.epilog;
      return job > other.job;
    }
  };

  // All jobs that are watched have started.
  bool seen() {
    while (watched_ < host_.watched.size() && tables_.allocations.started(host_.watched[watched_]))
      ++watched_;
    return watched_ > 0 && watched_ == host_.watched.size();
  }

  static std::vector<int> all_of(std::size_t jobs) {
    std::vector<int> all(jobs);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void hold_running() {
    for (const int job : all_of(scenario_.jobs().size())) {
      if (!scenario_.job(job).running) continue;
      tables_.hold(job);
      launch({job}, scenario_.job(job).running->start);
    }
  }

  // Those of one instant happen in this order.
  void step() {
    const double life = events_.empty() ? kInfinity : events_.top().time;
    const double coming = next_ < order_.size() ? coming_[next_] : kInfinity;
    const double pass = main_clock_.pass_due();
    const double check = limit_clock_.due(), tick = main_clock_.tick_due();
    const double outside =
        outside_ < scenario_.outside().size() ? scenario_.outside()[outside_].time : kInfinity;
    const double look = look_ < looks_.size() ? looks_[look_] : kInfinity;
    const double up = answer_due();
    const double due = tables_.usage.next_pass();
    tables_.locked = backfill_.waits(due);
    const double decay = tables_.locked ? kInfinity : due;
    const double first = std::min({life, coming, pass, check, tick, outside, look, up, decay});
    const double awake = backfill_.rests() ? backfill_.resumes() : backfill_clock_.wakes_at();
    const bool wakes = !scenario_.settings().backfill.off && awake < first;
    progress_.round(wakes ? awake : first,
                    static_cast<std::int64_t>(next_ + finished_ + outside_ + look_));
    if (wakes) return wake(first);
    if (decay == first) {
      tables_.advance(decay);
    } else if (life == first) {
      happen();
    } else if (coming == first) {
      submit(order_[next_++], coming);
    } else if (outside == first) {
      act(scenario_.outside()[outside_++]);
    } else if (up == first) {
      answer(up);
    } else if (look == first) {
      ++look_;
      nodes_changed(look);
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

  // Once every five seconds, slurmctld looks whether reservations begin; that one ends asks for no
  // pass.
  double node_look(Second change) const {
    constexpr double kEvery = 5;
    const double since = static_cast<double>(change) - host_.controller_start;
    return host_.controller_start + std::ceil(since / kEvery) * kEvery;
  }

  // Nothing runs or comes, and all that waits has been looked at since.
  bool hopeless() {
    const Settings& settings = scenario_.settings();
    if (!events_.empty() || next_ < order_.size() || outside_ < scenario_.outside().size() ||
        look_ < looks_.size() || !answers_.empty())
      return false;
    const double last_change = std::max(changed_, last_begin_);
    const auto patience =
        static_cast<double>(3 * (host_.periods.after(last_change, settings.backfill.interval) +
                                 host_.periods.after(last_change, settings.main.interval) +
                                 settings.main.batch_sched_delay));
    const double next = std::min(main_clock_.tick_due(), main_clock_.pass_due());
    return next > last_change + patience;
  }

  void submit(int job, double time) {
    changed_ = time;
    if (refused(job, time)) {
      tables_.updates.jobs = whole(time);
      ++finished_;
      return;
    }
    main_clock_.request(time);
    last_begin_ = std::max(last_begin_, scenario_.job(job).conditions.begin);
    tables_.submit(job, time);
  }

  // One that could never run, or wants a reservation that is not there.
  bool refused(int job, double time) {
    const Job& one = scenario_.job(job);
    if (one.conditions.reservation >= 0 && !tables_.reservations.holds(job, time)) return true;
    if (over_limits(job, time)) return true;
    if (!scenario_.own_cores() && one.set < 0) return false;
    const auto runs = [&](int part) {
      return select_.could_run({job, part}, scenario_.part(Entry{job, part}).nodes);
    };
    return one.partitions.empty()
               ? !runs(one.partition)
               : std::none_of(one.partitions.begin(), one.partitions.end(), runs);
  }

  // Tasks of an array are one submission.
  bool over_limits(int job, double time) {
    const int array = scenario_.array(job);
    if (array >= 0 && array == last_array_) return array_refused_;
    int tasks = 0;
    for (std::size_t k = next_ - 1; k < order_.size(); ++k, ++tasks)
      if (array < 0 ? tasks > 0 : scenario_.array(order_[k]) != array) break;
    const Policy::Held held = tables_.policy.at_submission(job, tasks);
    if (held) tables_.journal.hold(job, time, *held);
    last_array_ = array;
    return array_refused_ = held;
  }

  void nodes_changed(double time) {
    changed_ = time;
    tables_.updates.both(whole(time));
    main_clock_.request(time);
  }

  void act(const Outside& outside) {
    switch (outside.kind) {
      case Outside::Kind::release:
        tables_.release(outside.job, outside.time);
        break;
      case Outside::Kind::down:
        lose(outside.nodes, outside.time);
        break;
      case Outside::Kind::drain:
        tables_.allocations.set_up(outside.nodes, false);
        break;
      case Outside::Kind::resume:
        resume(outside.nodes, outside.time);
        break;
      case Outside::Kind::reserve:
        break;
    }
    nodes_changed(outside.time);
  }

  // At its next tick slurmctld asks them whether they are there.
  void resume(const NodeBits& nodes, double time) {
    answers_.emplace_back(main_clock_.next_tick(time) + varied(host_.epilog), nodes);
  }

  // Nodes whose slurmd has answered, and when the next does.
  double answer_due() const {
    double due = kInfinity;
    for (const auto& [time, nodes] : answers_) due = std::min(due, time);
    return due;
  }
  void answer(double time) {
    for (auto one = answers_.begin(); one != answers_.end();)
      if (one->first <= time) {
        tables_.allocations.set_up(one->second, true);
        one = answers_.erase(one);
      } else {
        ++one;
      }
    tables_.updates.both(whole(time));
  }

  // Their jobs run again, two minutes later at the earliest, or have failed.
  void lose(const NodeBits& nodes, double time) {
    tables_.allocations.set_up(nodes, false);
    std::vector<int> running = tables_.allocations.running();
    std::sort(running.begin(), running.end());  // as they came, and so they wait again
    for (const int job : running) {
      if (!tables_.allocations.nodes(job).meets(nodes)) continue;
      tables_.stop(job, time, true);
      const double over = see_stopped(time);
      if (scenario_.settings().ends.return_to_service != 2) continue;
      NodeBits answering = nodes;  // to the order to end the job
      answering &= tables_.allocations.nodes(job);
      answers_.emplace_back(over, std::move(answering));
    }
  }

  // Jobs that had to go: when the last one's nodes are clean.
  double see_stopped(double time) {
    double over = time;
    for (const Tables::Stopped& one : std::exchange(tables_.stopped, {})) {
      ++attempt(one.job);
      if (one.again) {
        requeued_[one.job] = 1;
        last_begin_ = std::max(last_begin_, static_cast<double>(one.begin));
      }
      over = cleaned_at(time);
      events_.push({over, true, one.job, attempt(one.job), true});
      changed_ = time;
    }
    return over;
  }

  // The nodes of a job that slurmctld stops.  Their messages ask for a pass at once: a recorded one
  // that comes sooner than they usually do is that.
  double cleaned_at(double stopped) {
    constexpr double kBefore = 0.001;
    const double usual = stopped + varied(host_.epilog),
                 pass = main_clock_.recorded_pass() - kBefore;
    return stopped < pass ? std::min(usual, pass) : usual;
  }

  int& attempt(int job) { return attempts_[job]; }

  void happen() {
    const Event event = events_.top();
    events_.pop();
    changed_ = event.time;
    if (event.epilog) {
      clean(event);
    } else if (event.attempt == attempt(event.job) && tables_.allocations.running(event.job)) {
      end(event.job, event.time, false);
    }
  }

  void clean(const Event& event) {
    tables_.epilog(event.job, event.time);
    backfill_.cleaned(tables_.allocations.nodes(event.job));
    see_turned(event.time);
    if (std::exchange(requeued_[event.job], 0))
      tables_.allocations.forget(event.job);
    else
      ++finished_;
    const Settings& settings = scenario_.settings();
    if (settings.main.defer || (!settings.ends.epilog && !event.stopped))
      main_clock_.request(event.time);
    else
      main_clock_.ask(event.time, false);
  }

  void end(int job, double time, bool killed) {
    tables_.end(job, time, killed);
    const auto j = static_cast<std::size_t>(job);
    const bool told = j < host_.epilogs.size() && !std::isnan(host_.epilogs[j]);
    const double over = told     ? time + host_.epilogs[j]
                        : killed ? cleaned_at(time)
                                 : time + varied(host_.epilog);
    events_.push({over, true, job, attempt(job), killed});
  }

  void launch(const std::vector<int>& started, double time) {
    if (!started.empty()) changed_ = time;
    for (const int j : started) run_until(j, end_of_work(j, time));
    see_turned(time);
    see_stopped(time);
  }

  void run_until(int job, double end) {
    events_.push({end, false, job, attempt(job)});
    if (!work_.empty()) work_[job] = end;
  }

  // Jobs that stand still end by so much later.
  void see_turned(double time) {
    for (const Gang::Turn& one : std::exchange(tables_.turned, {})) {
      ++attempt(one.job);
      double& work = work_[one.job];
      if (one.suspended)
        work -= time;  // what is left of it
      else
        run_until(one.job, time + work);
    }
  }

  double end_of_work(int job, double start) {
    const auto j = static_cast<std::size_t>(job);
    if (j < host_.lengths.size() && !std::isnan(host_.lengths[j])) return start + host_.lengths[j];
    return start + scenario_.job(job).runtime + varied(host_.launch);
  }

  double varied(double usual) {
    return host_.noise > 0 ? usual * (1 + host_.noise * (2 * rng_.uniform() - 1)) : usual;
  }

  void check_limits(double time) {
    limit_clock_.checked(time);
    for (const int job : tables_.overdue(whole(time))) end(job, time, true);
    for (const int job : tables_.doomed(whole(time))) tables_.preempt(job, time);
    see_stopped(time);
  }

  // The backfill thread.  Nothing else happens before `first`.
  void wake(double first) {
    if (backfill_.rests()) {
      const double time = backfill_.resumes();
      return planned(backfill_.resume(), time);
    }
    const double time = backfill_clock_.wakes_at();
    if (!backfill_clock_.begins_cycle(tables_.completing(whole(time)),
                                      tables_.updates.since(backfill_clock_.last_end()), first))
      return;
    planned(backfill_.run(time), time);
  }
  void planned(const std::vector<int>& started, double time) {
    launch(started, time);
    if (!backfill_.rests()) backfill_clock_.cycle_over(backfill_.cost());
  }

  const Scenario& scenario_;
  const Clocks& host_;
  Tables tables_;
  Select select_;
  BackfillCycle backfill_;
  const Clocks loop_;
  LimitClock limit_clock_;
  MainClock main_clock_;
  BackfillClock backfill_clock_;
  Rng rng_;
  std::vector<int> order_;      // jobs by submission
  std::vector<double> coming_;  // when, in that order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<int> attempts_;                         // how often a job has been requeued
  std::vector<char> requeued_;                        // and is completing
  std::vector<double> work_;                          // its end; of suspended jobs what is left
  std::vector<std::pair<double, NodeBits>> answers_;  // when nodes that were down are up again
  std::vector<double> looks_;                         // when begins of reservations are seen
  std::size_t next_ = 0, finished_ = 0, outside_ = 0, look_ = 0, watched_ = 0;
  Progress progress_{"the twin of Slurm"};
  int last_array_ = -1;  // that was submitted
  bool array_refused_ = false;
  double changed_ = -kInfinity, last_begin_ = -kInfinity;
  Poll poll_;
};

}  // namespace

Outcome simulate(const Scenario& scenario, const Clocks& clocks, const Record& record) {
  Outcome outcome = Simulator(scenario, clocks, record).run();
  keep_pauses_of_work(scenario, clocks, outcome);
  bar_those_behind(scenario, outcome);
  return outcome;
}

}  // namespace cosched::slurm
