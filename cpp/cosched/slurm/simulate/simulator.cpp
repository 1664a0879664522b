#include "cosched/slurm/simulate/simulator.hpp"

#include <queue>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/livelock_guard.hpp"
#include "cosched/core/rng.hpp"
#include "cosched/slurm/clocks/backfill_clock.hpp"
#include "cosched/slurm/clocks/limit_clock.hpp"
#include "cosched/slurm/clocks/main_clock.hpp"
#include "cosched/slurm/plan/backfill_cycle.hpp"
#include "cosched/slurm/simulate/main_pass.hpp"
#include "cosched/slurm/simulate/outcome_fixes.hpp"

namespace cosched::slurm {
namespace {

// A reservation that ends at this second or later is endless: no job waits for its end.
constexpr Second kEndlessReservation = Second{1} << 40;

// Poll steps (a nanosecond each) of an event besides passes and cycles, which count their own.
constexpr std::int64_t kPollStepsPerEvent = 300;

// Times that each scheduler tries all pending jobs after the last change before the run counts as
// over.  The first try may have begun before the change; the third allows for random timing.
constexpr Second kTriesAfterLastChange = 3;

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
        attempt_by_job_(scenario.jobs().size()),
        is_requeued_(scenario.jobs().size()),
        completion_times_(scenario.suspends_jobs() ? scenario.jobs().size() : 0),
        remaining_times_(completion_times_.size()) {
    controller_.set_start_delays(clocks.start_delays);
    adopt_running_jobs();
    schedule_submissions();
    schedule_reservation_checks();
    // The registrations of the nodes ask for a pass.
    main_clock_->request_at_tick(loop_clocks_.controller_start);
  }

  Outcome run() && {
    count_started_watched_jobs();
    while (finished_count_ < scenario_.jobs().size() && !have_watched_jobs_started() &&
           !is_quiescent()) {
      poll_.count(kPollStepsPerEvent);
      step();
      count_started_watched_jobs();
    }
    return std::move(controller_).outcome();
  }

 private:
  // The end of a job, or of its epilog.
  struct JobEvent {
    double time;
    bool is_epilog;
    int job;
    int attempt;                 // which run of the job it is: jobs may run again
    bool is_terminated = false;  // by slurmctld
    bool operator>(const JobEvent& other) const {
      if (time != other.time) return time > other.time;
      if (is_epilog != other.is_epilog) return is_epilog > other.is_epilog;
      return job > other.job;
    }
  };

  // Nodes that come back, and when they register.
  struct Registration {
    double time;
    NodeBits nodes;
  };

  int job_count() const { return static_cast<int>(scenario_.jobs().size()); }

  // Counts the watched jobs that have started; the run is over when all have.
  void count_started_watched_jobs() {
    const std::vector<int>& watched_jobs = clocks_.watched_jobs;
    while (watched_started_ < watched_jobs.size() &&
           controller_.allocations().has_started(watched_jobs[watched_started_]))
      ++watched_started_;
  }

  bool have_watched_jobs_started() const {
    return watched_started_ > 0 && watched_started_ == clocks_.watched_jobs.size();
  }

  // --- the begin ---

  void adopt_running_jobs() {
    for (int job = 0; job < job_count(); ++job) {
      if (!scenario_.job(job).running_state) continue;
      controller_.adopt_running(job);
      schedule_ends({job}, scenario_.job(job).running_state->start);
    }
  }

  // Orders the submissions by time.  A submission at a whole second is somewhere in it, where the
  // host varies.
  void schedule_submissions() {
    for (int job = 0; job < job_count(); ++job)
      if (!scenario_.job(job).running_state) submission_order_.push_back(job);
    std::stable_sort(submission_order_.begin(), submission_order_.end(), [&](int a, int b) {
      return scenario_.job(a).submit < scenario_.job(b).submit;
    });
    double last_time = -kInfinity;
    for (const int job : submission_order_) {
      double time = scenario_.job(job).submit;
      if (clocks_.relative_noise > 0 && time == std::floor(time)) time += rng_.uniform();
      last_time = std::max(last_time, time);
      submission_times_.push_back(last_time);
    }
  }

  void schedule_reservation_checks() {
    for (const Reservation& reservation : scenario_.reservations()) {
      if (reservation.created_at < kInfinity && reservation.end < kEndlessReservation)
        last_possible_begin_ = std::max(last_possible_begin_, static_cast<double>(reservation.end));
      if (static_cast<double>(reservation.begin) > reservation.created_at)
        reservation_checks_.push_back(reservation_check_time(reservation.begin));
    }
    std::sort(reservation_checks_.begin(), reservation_checks_.end());
  }

  // When slurmctld sees that a reservation begins: it looks every five seconds.  The end of a
  // reservation asks for no pass.
  double reservation_check_time(Second begin) const {
    constexpr double kCheckPeriod = 5;
    const double since_start = static_cast<double>(begin) - clocks_.controller_start;
    return clocks_.controller_start + std::ceil(since_start / kCheckPeriod) * kCheckPeriod;
  }

  // --- events ---

  double next_submit_time() const {
    return next_submission_ < submission_order_.size() ? submission_times_[next_submission_]
                                                       : kInfinity;
  }

  double next_admin_time() const {
    return next_admin_event_ < scenario_.admin_events().size()
               ? scenario_.admin_events()[next_admin_event_].time
               : kInfinity;
  }

  double next_reservation_check_time() const {
    return next_reservation_check_ < reservation_checks_.size()
               ? reservation_checks_[next_reservation_check_]
               : kInfinity;
  }

  double next_registration_time() const {
    double next_time = kInfinity;
    for (const Registration& registration : pending_registrations_)
      next_time = std::min(next_time, registration.time);
    return next_time;
  }

  // Handles the next event.  Of equal times comes first: a pass of the decay thread, a job's end or
  // epilog, a submission, an administrator's event, a registration of nodes, a reservation check, a
  // main pass, a limit check, a tick; the backfill thread wakes only before all of them (RULES.md
  // 6.4).
  void step() {
    const double decay_pass = controller_.usage().next_pass_time();
    const bool is_decay_blocked = backfill_.is_reacquiring_locks(decay_pass);
    controller_.block_decay(is_decay_blocked);
    const double next_decay = is_decay_blocked ? kInfinity : decay_pass;
    const double next_job_event = job_events_.empty() ? kInfinity : job_events_.top().time;
    const double next_submit = next_submit_time();
    const double next_admin = next_admin_time();
    const double next_registration = next_registration_time();
    const double next_reservation_check = next_reservation_check_time();
    const double next_pass = main_clock_->next_pass_time();
    const double next_limit_check = limit_clock_.next_check_time();
    const double next_tick = main_clock_->next_requesting_tick();
    const double next_event =
        std::min({next_decay, next_job_event, next_submit, next_admin, next_registration,
                  next_reservation_check, next_pass, next_limit_check, next_tick});
    const double backfill_wake =
        backfill_.has_yielded() ? backfill_.resume_time() : backfill_clock_->wake_time();
    const bool is_backfill_first =
        !scenario_.settings().backfill.is_off && backfill_wake < next_event;
    livelock_guard_.check_round(
        is_backfill_first ? backfill_wake : next_event,
        static_cast<std::int64_t>(next_submission_ + finished_count_ + next_admin_event_ +
                                  next_reservation_check_));
    if (is_backfill_first) {
      wake_backfill(next_event);
    } else if (next_decay == next_event) {
      controller_.advance(next_decay);
    } else if (next_job_event == next_event) {
      process_job_event();
    } else if (next_submit == next_event) {
      const int job = submission_order_[next_submission_];
      ++next_submission_;
      submit(job, next_submit);
    } else if (next_admin == next_event) {
      const AdminEvent& event = scenario_.admin_events()[next_admin_event_];
      ++next_admin_event_;
      apply_admin_event(event);
    } else if (next_registration == next_event) {
      register_nodes(next_registration);
    } else if (next_reservation_check == next_event) {
      ++next_reservation_check_;
      on_nodes_changed(next_reservation_check);
    } else if (next_pass == next_event) {
      const bool is_full = main_clock_->begin_pass();
      schedule_ends(main_pass(controller_, select_, next_pass, is_full, trace_sink_), next_pass);
    } else if (next_limit_check == next_event) {
      check_limits(next_limit_check);
    } else {
      main_clock_->on_tick(next_tick);
    }
  }

  // True when no event can change anything: nothing runs or is submitted any more, and each
  // scheduler has tried all pending jobs since the last change.
  bool is_quiescent() const {
    const Settings& settings = scenario_.settings();
    if (!job_events_.empty() || next_submission_ < submission_order_.size() ||
        next_admin_event_ < scenario_.admin_events().size() ||
        next_reservation_check_ < reservation_checks_.size() || !pending_registrations_.empty())
      return false;
    const double last_change = std::max(last_change_, last_possible_begin_);
    const Second period = clocks_.periods.after(last_change, settings.backfill.interval) +
                          clocks_.periods.after(last_change, settings.main.interval) +
                          settings.main.batch_sched_delay;
    const auto patience = static_cast<double>(kTriesAfterLastChange * period);
    const double next_pass =
        std::min(main_clock_->next_requesting_tick(), main_clock_->next_pass_time());
    return next_pass > last_change + patience;
  }

  // --- submissions ---

  void submit(int job, double time) {
    last_change_ = time;
    if (is_refused(job, time)) {
      controller_.note_job_change(to_second(time));
      ++finished_count_;
      return;
    }
    main_clock_->request_at_tick(time);
    last_possible_begin_ = std::max(last_possible_begin_, scenario_.job(job).conditions.begin);
    controller_.submit(job, time);
  }

  // True for a job that could never run, or whose reservation does not exist.
  bool is_refused(int job_number, double time) {
    const Job& job = scenario_.job(job_number);
    if (job.conditions.reservation >= 0 &&
        !controller_.reservations().is_in_existing(job_number, time))
      return true;
    if (violates_submission_limits(job_number, time)) return true;
    if (!scenario_.shares_nodes() && job.node_set < 0) return false;
    const auto could_run_in = [&](int partition) {
      const QueueEntry entry{job_number, partition};
      return select_.could_run(entry, scenario_.partition(entry).nodes);
    };
    if (job.partitions.empty()) return !could_run_in(job.partition);
    return std::none_of(job.partitions.begin(), job.partitions.end(), could_run_in);
  }

  // Tasks of an array are one submission: all are refused, or none.
  bool violates_submission_limits(int job, double time) {
    const int array = scenario_.array_of(job);
    if (array >= 0 && array == last_submitted_array_) return is_array_refused_;
    const AccountingPolicy::Violation violation =
        controller_.policy().violation_at_submission(job, tasks_of_submission(array));
    if (violation) controller_.note_limit(job, time, *violation);
    last_submitted_array_ = array;
    is_array_refused_ = violation != nullptr;
    return is_array_refused_;
  }

  // How many jobs are submitted together with the one that is submitted now: the tasks of its array
  // that follow each other, or (array < 0) the job alone.
  int tasks_of_submission(int array) const {
    if (array < 0) return 1;
    int tasks = 0;
    for (std::size_t k = next_submission_ - 1; k < submission_order_.size(); ++k) {
      if (scenario_.array_of(submission_order_[k]) != array) break;
      ++tasks;
    }
    return tasks;
  }

  // --- nodes and administrators ---

  void on_nodes_changed(double time) {
    last_change_ = time;
    controller_.note_change(to_second(time));
    main_clock_->request_at_tick(time);
  }

  void apply_admin_event(const AdminEvent& event) {
    switch (event.kind) {
      case AdminEvent::Kind::release:
        controller_.release(event.job, event.time);
        break;
      case AdminEvent::Kind::down:
        take_down(event.nodes, event.time);
        break;
      case AdminEvent::Kind::drain:
        controller_.set_nodes_up(event.nodes, false);
        break;
      case AdminEvent::Kind::resume:
        resume_nodes(event.nodes, event.time);
        break;
      case AdminEvent::Kind::reserve:
        break;
    }
    on_nodes_changed(event.time);
  }

  // At its next tick slurmctld asks the nodes to register.
  void resume_nodes(const NodeBits& nodes, double time) {
    pending_registrations_.push_back(
        {main_clock_->next_tick(time) + with_jitter(clocks_.epilog_delay), nodes});
  }

  // The slurmd of some nodes have registered.
  void register_nodes(double time) {
    const auto is_registered = [&](const Registration& registration) {
      return registration.time <= time;
    };
    for (const Registration& registration : pending_registrations_)
      if (is_registered(registration)) controller_.set_nodes_up(registration.nodes, true);
    pending_registrations_.erase(
        std::remove_if(pending_registrations_.begin(), pending_registrations_.end(), is_registered),
        pending_registrations_.end());
    controller_.note_change(to_second(time));
  }

  // Nodes go down.  Their jobs are requeued, two minutes later at the earliest, or have failed.
  void take_down(const NodeBits& nodes, double time) {
    controller_.set_nodes_up(nodes, false);
    std::vector<int> running_jobs = controller_.allocations().running_jobs();
    // Jobs are requeued in the order in which they were submitted.
    std::sort(running_jobs.begin(), running_jobs.end());
    for (const int job : running_jobs) {
      if (!controller_.allocations().nodes(job).intersects(nodes)) continue;
      controller_.terminate(job, time, true);
      const double epilog_end = handle_terminated(time);
      if (scenario_.settings().job_ends.return_to_service != 2) continue;
      // ReturnToService=2: nodes that answer the order to end the job are up again.
      NodeBits answering_nodes = nodes;
      answering_nodes &= controller_.allocations().nodes(job);
      pending_registrations_.push_back({epilog_end, std::move(answering_nodes)});
    }
  }

  // --- ends of jobs ---

  // Schedules the epilogs of jobs that were terminated; returns when the last one is complete.
  double handle_terminated(double time) {
    double epilog_end = time;
    for (const ControllerState::TerminatedJob& terminated : controller_.take_terminated_jobs()) {
      const int job = terminated.job;
      ++attempt_by_job_[job];
      if (terminated.is_requeued) {
        is_requeued_[job] = 1;
        last_possible_begin_ =
            std::max(last_possible_begin_, static_cast<double>(terminated.earliest_begin));
      }
      epilog_end = epilog_time(time);
      job_events_.push({epilog_end, true, job, attempt_by_job_[job], true});
      last_change_ = time;
    }
    return epilog_end;
  }

  // When the epilog of a job is complete that slurmctld ended at `end`.  Its messages ask for a
  // pass at once.  If a recorded pass comes before the usual delay, the epilog ends just before it.
  double epilog_time(double end) {
    constexpr double kBeforePass = 0.001;  // s: from the last message to the pass
    const double usual_time = end + with_jitter(clocks_.epilog_delay);
    const double recorded_time = main_clock_->recorded_pass_time() - kBeforePass;
    return end < recorded_time ? std::min(usual_time, recorded_time) : usual_time;
  }

  void process_job_event() {
    const JobEvent event = job_events_.top();
    job_events_.pop();
    last_change_ = event.time;
    if (event.is_epilog) {
      complete_epilog(event);
    } else if (event.attempt == attempt_by_job_[event.job] &&
               controller_.allocations().is_running(event.job)) {
      end(event.job, event.time, false);
    }
  }

  void complete_epilog(const JobEvent& event) {
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

  void end(int job, double time, bool is_killed) {
    controller_.end(job, time, is_killed);
    const double epilog_end = epilog_end_of(job, time, is_killed);
    job_events_.push({epilog_end, true, job, attempt_by_job_[job], is_killed});
  }

  // When the epilog of a job that ends at `end` is complete.
  double epilog_end_of(int job, double end, bool is_killed) {
    const auto j = static_cast<std::size_t>(job);
    const bool is_recorded =
        j < clocks_.epilog_delays.size() && !std::isnan(clocks_.epilog_delays[j]);
    if (is_recorded) return end + clocks_.epilog_delays[j];
    return is_killed ? epilog_time(end) : end + with_jitter(clocks_.epilog_delay);
  }

  void schedule_ends(const std::vector<int>& started_jobs, double time) {
    if (!started_jobs.empty()) last_change_ = time;
    for (const int job : started_jobs) schedule_end(job, completion_time(job, time));
    handle_switches(time);
    handle_terminated(time);
  }

  void schedule_end(int job, double end) {
    job_events_.push({end, false, job, attempt_by_job_[job]});
    if (scenario_.suspends_jobs()) completion_times_[job] = end;
  }

  // A job that is suspended keeps its remaining time, and ends so long after it resumes.
  void handle_switches(double time) {
    for (const Gang::GangSwitch& gang_switch : controller_.take_gang_switches()) {
      const int job = gang_switch.job;
      ++attempt_by_job_[job];
      if (gang_switch.is_suspended)
        remaining_times_[job] = completion_times_[job] - time;
      else
        schedule_end(job, time + remaining_times_[job]);
    }
  }

  double completion_time(int job, double start) {
    const auto j = static_cast<std::size_t>(job);
    if (j < clocks_.run_lengths.size() && !std::isnan(clocks_.run_lengths[j]))
      return start + clocks_.run_lengths[j];
    return start + scenario_.job(job).runtime + with_jitter(clocks_.launch_delay);
  }

  double with_jitter(double delay) {
    if (clocks_.relative_noise <= 0) return delay;
    return delay * (1 + clocks_.relative_noise * (2 * rng_.uniform() - 1));
  }

  void check_limits(double time) {
    limit_clock_.on_check(time);
    for (const int job : controller_.overdue(to_second(time))) end(job, time, true);
    for (const int job : controller_.grace_expired(to_second(time))) controller_.preempt(job, time);
    handle_terminated(time);
  }

  // --- the backfill thread ---

  // The backfill thread wakes up.  Nothing else happens before `next_event`.
  void wake_backfill(double next_event) {
    if (backfill_.has_yielded()) {
      const double time = backfill_.resume_time();
      finish_backfill_slice(backfill_.resume(), time);
      return;
    }
    const double time = backfill_clock_->wake_time();
    const bool is_completing = controller_.waits_for_completion(to_second(time));
    const bool has_more_work =
        controller_.updates().has_changed_since(backfill_clock_->last_cycle_end());
    if (backfill_clock_->begin_cycle_or_sleep(is_completing, has_more_work, next_event))
      finish_backfill_slice(backfill_.run(time), time);
  }

  void finish_backfill_slice(const std::vector<int>& started_jobs, double time) {
    schedule_ends(started_jobs, time);
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
  Poll poll_;
  LivelockGuard livelock_guard_{"the simulator of Slurm"};

  // What happens, in the order of its times, and the next of each.
  std::vector<int> submission_order_;     // jobs
  std::vector<double> submission_times_;  // in that order
  std::size_t next_submission_ = 0;
  std::size_t next_admin_event_ = 0;
  std::vector<double> reservation_checks_;
  std::size_t next_reservation_check_ = 0;
  std::vector<Registration> pending_registrations_;
  std::priority_queue<JobEvent, std::vector<JobEvent>, std::greater<>> job_events_;

  // By job.
  std::vector<int> attempt_by_job_;  // events of earlier attempts are void
  std::vector<char> is_requeued_;    // and is completing
  // By job, where jobs are suspended: when it ends, and how long it still runs after a suspension.
  std::vector<double> completion_times_;
  std::vector<double> remaining_times_;

  std::size_t finished_count_ = 0;
  std::size_t watched_started_ = 0;  // the first so many watched jobs have started
  int last_submitted_array_ = -1;
  bool is_array_refused_ = false;  // the last submitted one
  double last_change_ = -kInfinity;
  // The last time at which a pending job may become ready.
  double last_possible_begin_ = -kInfinity;
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
