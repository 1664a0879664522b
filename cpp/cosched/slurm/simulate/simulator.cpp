#include "cosched/slurm/simulate/simulator.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/livelock_guard.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/slurm/clocks/backfill_clock.hpp"
#include "cosched/slurm/clocks/limit_clock.hpp"
#include "cosched/slurm/clocks/main_clock.hpp"
#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/simulate/afterwards.hpp"
#include "cosched/slurm/simulate/main_pass.hpp"

namespace cosched::slurm {
namespace {

// Second of the end of a reservation that nothing waits for.
constexpr Second kEndless = Second{1} << 40;

class Simulator {
 public:
  Simulator(const Scenario& scenario, const Clocks& clocks, const RecordOptions& record,
            TraceSink* trace_sink, const SimulatorParams& params)
      : scenario_(scenario),
        clocks_(clocks),
        controller_(scenario, clocks.controller_start, record,
                    clocks.controller_start + clocks.decay_after),
        select_(scenario, controller_.allocations(), clocks.epoch, params.remembers_answers),
        trace_sink_(trace_sink),
        backfill_(clocks, controller_, select_, trace_sink),
        loop_clocks_(Usage::is_accounted(scenario) ? clocks.after_slurmdbd_start() : clocks),
        limit_clock_(loop_clocks_, scenario.settings().is_24_11),
        main_clock_(
            make_main_clock(loop_clocks_, scenario.settings().main, scenario.settings().is_24_11)),
        backfill_clock_(make_backfill_clock(clocks, scenario.settings().backfill.interval)),
        rng_(clocks.noise_seed),
        submission_order_(numbers_below(scenario.jobs().size())),
        attempt_by_job_(scenario.jobs().size()),
        is_requeued_(scenario.jobs().size()),
        completion_or_remaining_(scenario.suspends_jobs() ? scenario.jobs().size() : 0) {
    submission_order_.erase(
        std::remove_if(submission_order_.begin(), submission_order_.end(),
                       [&](int job) { return scenario.job(job).running_state.has_value(); }),
        submission_order_.end());
    std::stable_sort(submission_order_.begin(), submission_order_.end(),
                     [&](int a, int b) { return scenario.job(a).submit < scenario.job(b).submit; });
    controller_.set_start_delays(clocks.start_delays);
    adopt_running_jobs();
    place_submissions();
    for (const Reservation& one : scenario.reservations()) {
      if (one.created_at < kInfinity && one.end < kEndless)
        last_begin_time_ = std::max(last_begin_time_, static_cast<double>(one.end));
      if (static_cast<double>(one.begin) > one.created_at)
        reservation_checks_.push_back(reservation_check_time(one.begin));
    }
    std::sort(reservation_checks_.begin(), reservation_checks_.end());
    main_clock_->request_at_tick(
        loop_clocks_.controller_start);  // by the registrations of the nodes
  }

  Outcome run() && {
    while (finished_count_ < scenario_.jobs().size() && !watched_jobs_started() &&
           !is_quiescent()) {
      poll_.count(300);
      step();
    }
    return std::move(controller_).outcome();
  }

 private:
  struct Event {
    double time;
    bool is_epilog;
    int job;
    int attempt;                 // jobs may run again
    bool is_terminated = false;  // by slurmctld
    bool operator>(const Event& other) const {
      if (time != other.time) return time > other.time;
      if (is_epilog != other.is_epilog) return is_epilog > other.is_epilog;
      return job > other.job;
    }
  };

  // All jobs that are watched have started.
  bool watched_jobs_started() {
    while (watched_started_ < clocks_.watched_jobs.size() &&
           controller_.allocations().has_started(clocks_.watched_jobs[watched_started_]))
      ++watched_started_;
    return watched_started_ > 0 && watched_started_ == clocks_.watched_jobs.size();
  }

  static std::vector<int> numbers_below(std::size_t jobs) {
    std::vector<int> all(jobs);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void adopt_running_jobs() {
    for (const int job : numbers_below(scenario_.jobs().size())) {
      if (!scenario_.job(job).running_state) continue;
      controller_.adopt_running(job);
      schedule_ends({job}, scenario_.job(job).running_state->start);
    }
  }

  // Handles the next event.  Of equal times comes first: a pass of the decay thread, a job's end or
  // epilog, a submission, an administrator's event, a registration of nodes, a reservation check, a
  // main pass, a limit check, a tick; the backfill thread wakes only before all of them (RULES.md
  // 6.4).
  void step() {
    const double next_job_event = events_.empty() ? kInfinity : events_.top().time;
    const double next_submit_time = next_submission_ < submission_order_.size()
                                        ? submission_times_[next_submission_]
                                        : kInfinity;
    const double next_pass = main_clock_->next_pass_time();
    const double next_limit_check = limit_clock_.next_check_time(),
                 next_tick = main_clock_->next_requesting_tick();
    const double next_admin_event = next_admin_event_ < scenario_.admin_events().size()
                                        ? scenario_.admin_events()[next_admin_event_].time
                                        : kInfinity;
    const double next_reservation_check = next_reservation_check_ < reservation_checks_.size()
                                              ? reservation_checks_[next_reservation_check_]
                                              : kInfinity;
    const double next_registration = next_registration_time();
    const double next_decay_pass = controller_.usage().next_pass_time();
    const bool is_decay_blocked = backfill_.is_reacquiring_locks(next_decay_pass);
    controller_.block_decay(is_decay_blocked);
    const double decay_time = is_decay_blocked ? kInfinity : next_decay_pass;
    const double next_event =
        std::min({next_job_event, next_submit_time, next_pass, next_limit_check, next_tick,
                  next_admin_event, next_reservation_check, next_registration, decay_time});
    const double backfill_wake =
        backfill_.has_yielded() ? backfill_.resume_time() : backfill_clock_->wake_time();
    const bool is_backfill_first =
        !scenario_.settings().backfill.is_off && backfill_wake < next_event;
    livelock_guard_.check_round(
        is_backfill_first ? backfill_wake : next_event,
        static_cast<std::int64_t>(next_submission_ + finished_count_ + next_admin_event_ +
                                  next_reservation_check_));
    if (is_backfill_first) return wake_backfill(next_event);
    if (decay_time == next_event) {
      controller_.advance(decay_time);
    } else if (next_job_event == next_event) {
      process_job_event();
    } else if (next_submit_time == next_event) {
      submit(submission_order_[next_submission_++], next_submit_time);
    } else if (next_admin_event == next_event) {
      apply_admin_event(scenario_.admin_events()[next_admin_event_++]);
    } else if (next_registration == next_event) {
      register_nodes(next_registration);
    } else if (next_reservation_check == next_event) {
      ++next_reservation_check_;
      on_nodes_changed(next_reservation_check);
    } else if (next_pass == next_event) {
      const bool full = main_clock_->begin_pass();
      schedule_ends(main_pass(controller_, select_, next_pass, full, trace_sink_), next_pass);
    } else if (next_limit_check == next_event) {
      check_limits(next_limit_check);
    } else {
      main_clock_->on_tick(next_tick);
    }
  }

  // A submission at a whole second is somewhere in it, where the host varies.
  void place_submissions() {
    double last = -kInfinity;
    for (const int j : submission_order_) {
      const double told = scenario_.job(j).submit;
      const bool inside = clocks_.relative_noise > 0 && told == std::floor(told);
      last = std::max(last, inside ? told + rng_.uniform() : told);
      submission_times_.push_back(last);
    }
  }

  // Once every five seconds, slurmctld looks whether reservations begin; that one ends asks for no
  // pass.
  double reservation_check_time(Second change) const {
    constexpr double kEvery = 5;
    const double since = static_cast<double>(change) - clocks_.controller_start;
    return clocks_.controller_start + std::ceil(since / kEvery) * kEvery;
  }

  // Nothing runs or comes, and all that waits has been looked at since.
  bool is_quiescent() {
    const Settings& settings = scenario_.settings();
    if (!events_.empty() || next_submission_ < submission_order_.size() ||
        next_admin_event_ < scenario_.admin_events().size() ||
        next_reservation_check_ < reservation_checks_.size() || !pending_registrations_.empty())
      return false;
    const double last_change = std::max(last_change_, last_begin_time_);
    const auto patience =
        static_cast<double>(3 * (clocks_.periods.after(last_change, settings.backfill.interval) +
                                 clocks_.periods.after(last_change, settings.main.interval) +
                                 settings.main.batch_sched_delay));
    const double next =
        std::min(main_clock_->next_requesting_tick(), main_clock_->next_pass_time());
    return next > last_change + patience;
  }

  void submit(int job, double time) {
    last_change_ = time;
    if (is_refused(job, time)) {
      controller_.note_job_change(to_second(time));
      ++finished_count_;
      return;
    }
    main_clock_->request_at_tick(time);
    last_begin_time_ = std::max(last_begin_time_, scenario_.job(job).conditions.begin);
    controller_.submit(job, time);
  }

  // One that could never run, or wants a reservation that is not there.
  bool is_refused(int job, double time) {
    const Job& one = scenario_.job(job);
    if (one.conditions.reservation >= 0 && !controller_.reservations().is_in_existing(job, time))
      return true;
    if (violates_submission_limits(job, time)) return true;
    if (!scenario_.shares_nodes() && one.node_set < 0) return false;
    const auto runs = [&](int part) {
      return select_.could_run({job, part}, scenario_.partition(QueueEntry{job, part}).nodes);
    };
    return one.partitions.empty()
               ? !runs(one.partition)
               : std::none_of(one.partitions.begin(), one.partitions.end(), runs);
  }

  // Tasks of an array are one submission.
  bool violates_submission_limits(int job, double time) {
    const int array = scenario_.array_of(job);
    if (array >= 0 && array == last_submitted_array_) return is_array_refused_;
    int tasks = 0;
    for (std::size_t k = next_submission_ - 1; k < submission_order_.size(); ++k, ++tasks)
      if (array < 0 ? tasks > 0 : scenario_.array_of(submission_order_[k]) != array) break;
    const AccountingPolicy::Violation held =
        controller_.policy().violation_at_submission(job, tasks);
    if (held) controller_.note_limit(job, time, *held);
    last_submitted_array_ = array;
    return is_array_refused_ = held;
  }

  void on_nodes_changed(double time) {
    last_change_ = time;
    controller_.note_change(to_second(time));
    main_clock_->request_at_tick(time);
  }

  void apply_admin_event(const AdminEvent& outside) {
    switch (outside.kind) {
      case AdminEvent::Kind::release:
        controller_.release(outside.job, outside.time);
        break;
      case AdminEvent::Kind::down:
        take_down(outside.nodes, outside.time);
        break;
      case AdminEvent::Kind::drain:
        controller_.set_nodes_up(outside.nodes, false);
        break;
      case AdminEvent::Kind::resume:
        resume_nodes(outside.nodes, outside.time);
        break;
      case AdminEvent::Kind::reserve:
        break;
    }
    on_nodes_changed(outside.time);
  }

  // At its next tick slurmctld asks them whether they are there.
  void resume_nodes(const NodeBits& nodes, double time) {
    pending_registrations_.emplace_back(
        main_clock_->next_tick(time) + with_jitter(clocks_.epilog_delay), nodes);
  }

  // Nodes whose slurmd has answered, and when the next does.
  double next_registration_time() const {
    double due = kInfinity;
    for (const auto& [time, nodes] : pending_registrations_) due = std::min(due, time);
    return due;
  }
  void register_nodes(double time) {
    for (auto one = pending_registrations_.begin(); one != pending_registrations_.end();)
      if (one->first <= time) {
        controller_.set_nodes_up(one->second, true);
        one = pending_registrations_.erase(one);
      } else {
        ++one;
      }
    controller_.note_change(to_second(time));
  }

  // Their jobs run again, two minutes later at the earliest, or have failed.
  void take_down(const NodeBits& nodes, double time) {
    controller_.set_nodes_up(nodes, false);
    std::vector<int> running = controller_.allocations().running();
    std::sort(running.begin(), running.end());  // as they came, and so they wait again
    for (const int job : running) {
      if (!controller_.allocations().nodes(job).intersects(nodes)) continue;
      controller_.terminate(job, time, true);
      const double over = handle_terminated(time);
      if (scenario_.settings().job_ends.return_to_service != 2) continue;
      NodeBits answering = nodes;  // to the order to end the job
      answering &= controller_.allocations().nodes(job);
      pending_registrations_.emplace_back(over, std::move(answering));
    }
  }

  // Jobs that had to go: when the last one's nodes are clean.
  double handle_terminated(double time) {
    double over = time;
    for (const ControllerState::TerminatedJob& one : controller_.take_terminated_jobs()) {
      ++attempt(one.job);
      if (one.is_requeued) {
        is_requeued_[one.job] = 1;
        last_begin_time_ = std::max(last_begin_time_, static_cast<double>(one.earliest_begin));
      }
      over = epilog_time(time);
      events_.push({over, true, one.job, attempt(one.job), true});
      last_change_ = time;
    }
    return over;
  }

  // The nodes of a job that slurmctld stops.  Their messages ask for a pass at once: a recorded one
  // that comes sooner than they usually do is that.
  double epilog_time(double stopped) {
    constexpr double kBefore = 0.001;
    const double usual = stopped + with_jitter(clocks_.epilog_delay),
                 pass = main_clock_->recorded_pass_time() - kBefore;
    return stopped < pass ? std::min(usual, pass) : usual;
  }

  int& attempt(int job) { return attempt_by_job_[job]; }

  void process_job_event() {
    const Event event = events_.top();
    events_.pop();
    last_change_ = event.time;
    if (event.is_epilog) {
      complete_epilog(event);
    } else if (event.attempt == attempt(event.job) &&
               controller_.allocations().running(event.job)) {
      end(event.job, event.time, false);
    }
  }

  void complete_epilog(const Event& event) {
    controller_.complete_epilog(event.job, event.time);
    backfill_.on_epilog_complete(controller_.allocations().nodes(event.job));
    handle_switches(event.time);
    const bool is_requeued = is_requeued_[event.job] != 0;
    is_requeued_[event.job] = 0;
    if (is_requeued)
      controller_.mark_pending(event.job);
    else
      ++finished_count_;
    const Settings& settings = scenario_.settings();
    if (settings.main.defer || (!settings.job_ends.has_epilog && !event.is_terminated))
      main_clock_->request_at_tick(event.time);
    else
      main_clock_->request_now(event.time, false);
  }

  void end(int job, double time, bool killed) {
    controller_.end(job, time, killed);
    const auto j = static_cast<std::size_t>(job);
    const bool told = j < clocks_.epilog_delays.size() && !std::isnan(clocks_.epilog_delays[j]);
    const double over = told     ? time + clocks_.epilog_delays[j]
                        : killed ? epilog_time(time)
                                 : time + with_jitter(clocks_.epilog_delay);
    events_.push({over, true, job, attempt(job), killed});
  }

  void schedule_ends(const std::vector<int>& started, double time) {
    if (!started.empty()) last_change_ = time;
    for (const int j : started) run_until(j, completion_time(j, time));
    handle_switches(time);
    handle_terminated(time);
  }

  void run_until(int job, double end) {
    events_.push({end, false, job, attempt(job)});
    if (!completion_or_remaining_.empty()) completion_or_remaining_[job] = end;
  }

  // Jobs that stand still end by so much later.
  void handle_switches(double time) {
    for (const Gang::GangSwitch& one : controller_.take_gang_switches()) {
      ++attempt(one.job);
      double& work = completion_or_remaining_[one.job];
      if (one.is_suspended)
        work -= time;  // what is left of it
      else
        run_until(one.job, time + work);
    }
  }

  double completion_time(int job, double start) {
    const auto j = static_cast<std::size_t>(job);
    if (j < clocks_.run_lengths.size() && !std::isnan(clocks_.run_lengths[j]))
      return start + clocks_.run_lengths[j];
    return start + scenario_.job(job).runtime + with_jitter(clocks_.launch_delay);
  }

  double with_jitter(double usual) {
    return clocks_.relative_noise > 0
               ? usual * (1 + clocks_.relative_noise * (2 * rng_.uniform() - 1))
               : usual;
  }

  void check_limits(double time) {
    limit_clock_.on_check(time);
    for (const int job : controller_.overdue(to_second(time))) end(job, time, true);
    for (const int job : controller_.grace_expired(to_second(time))) controller_.preempt(job, time);
    handle_terminated(time);
  }

  // The backfill thread.  Nothing else happens before `first`.
  void wake_backfill(double first) {
    if (backfill_.has_yielded()) {
      const double time = backfill_.resume_time();
      return finish_backfill_slice(backfill_.resume(), time);
    }
    const double time = backfill_clock_->wake_time();
    if (!backfill_clock_->should_begin_cycle(
            controller_.waits_for_completion(to_second(time)),
            controller_.updates().has_changed_since(backfill_clock_->last_cycle_end()), first))
      return;
    finish_backfill_slice(backfill_.run(time), time);
  }
  void finish_backfill_slice(const std::vector<int>& started, double time) {
    schedule_ends(started, time);
    if (!backfill_.has_yielded()) backfill_clock_->on_cycle_end(backfill_.duration());
  }

  const Scenario& scenario_;
  const Clocks& clocks_;
  ControllerState controller_;
  Select select_;
  TraceSink* const trace_sink_;
  BackfillCycle backfill_;
  const Clocks loop_clocks_;
  LimitClock limit_clock_;
  const std::unique_ptr<MainClock> main_clock_;
  const std::unique_ptr<BackfillClock> backfill_clock_;
  Rng rng_;
  std::vector<int> submission_order_;     // jobs by submission
  std::vector<double> submission_times_;  // when, in that order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<int> attempt_by_job_;              // number of the job's valid end event
  std::vector<char> is_requeued_;                // and is completing
  std::vector<double> completion_or_remaining_;  // its end; of suspended jobs what is left
  std::vector<std::pair<double, NodeBits>>
      pending_registrations_;               // when nodes that were down are up again
  std::vector<double> reservation_checks_;  // when begins of reservations are seen
  std::size_t next_submission_ = 0, finished_count_ = 0, next_admin_event_ = 0,
              next_reservation_check_ = 0, watched_started_ = 0;
  LivelockGuard livelock_guard_{"the simulator of Slurm"};
  int last_submitted_array_ = -1;  // that was submitted
  bool is_array_refused_ = false;
  double last_change_ = -kInfinity, last_begin_time_ = -kInfinity;
  Poll poll_;
};

}  // namespace

Outcome simulate(const Scenario& scenario, const Clocks& clocks, const RecordOptions& record,
                 TraceSink* trace_sink, const SimulatorParams& params) {
  Outcome outcome = Simulator(scenario, clocks, record, trace_sink, params).run();
  trim_pauses_after_completion(scenario, clocks, outcome);
  propagate_blocks(scenario, outcome);
  return outcome;
}

}  // namespace cosched::slurm
