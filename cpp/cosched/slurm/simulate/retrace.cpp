#include "cosched/slurm/simulate/retrace.hpp"

#include "cosched/slurm/clocks/modelled_main_clock.hpp"
#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {
namespace {

// Events of one instant happen in this order.
enum class EventKind : char { end, submit, release, build_queue, start, sample };

struct RecordedEvent {
  double time;
  EventKind kind;
  int job;
  bool operator<(const RecordedEvent& other) const {
    if (time != other.time) return time < other.time;
    return kind != other.kind ? kind < other.kind : job < other.job;
  }
};

std::vector<RecordedEvent> recorded_events(const Scenario& scenario, const Clocks& clocks,
                                           const std::vector<RecordedRun>& runs,
                                           const std::vector<double>& sample_times) {
  std::vector<RecordedEvent> events;
  for (std::size_t j = 0; j < runs.size(); ++j) {
    const int job = static_cast<int>(j);
    events.push_back({scenario.job(job).submit, EventKind::submit, job});
    if (std::isnan(runs[j].start)) continue;
    events.push_back({runs[j].start, EventKind::start, job});
    if (!std::isnan(runs[j].end)) events.push_back({runs[j].end, EventKind::end, job});
  }
  for (const AdminEvent& event : scenario.admin_events())
    if (event.kind == AdminEvent::Kind::release)
      events.push_back({event.time, EventKind::release, event.job});
  for (const double time : clocks.cycle_times) events.push_back({time, EventKind::build_queue, 0});
  for (const double time : sample_times) events.push_back({time, EventKind::sample, 0});
  std::sort(events.begin(), events.end());
  return events;
}

// When slurmctld built its queue: at recorded cycles; at the passes that started jobs; between them
// at the passes that the rules demand.
class QueueBuilds {
 public:
  QueueBuilds(const Scenario& scenario, const Clocks& clocks, ControllerState& controller,
              const std::vector<RecordedEvent>& events)
      : controller_(controller),
        clock_(clocks.after_slurmdbd_start(), scenario.settings().main,
               scenario.settings().is_24_11),
        epilog_delay_(clocks.epilog_delay) {
    for (const RecordedEvent& event : events)
      if (event.kind == EventKind::start) start_times_.push_back(event.time);
    clock_.request_at_tick(clocks.controller_start + clocks.decay_after);
  }

  /// Makes the passes before that time.
  void run_passes_until(double time) {
    while (true) {
      const double tick = clock_.next_requesting_tick();
      const double pass = clock_.next_pass_time();
      if (std::min(tick, pass) >= time) return;
      if (tick < pass) {
        clock_.on_tick(tick);
      } else {
        clock_.begin_pass();
        build_at(pass);
      }
    }
  }

  void build_at(double time) {
    last_build_ = time;
    controller_.admit(time);
  }

  /// A job started: the first of its pass or cycle built the queue.
  void on_start(double time) {
    if (time - last_build_ > kPassDuration) build_at(time);
  }

  void request_pass(double time) { clock_.request_at_tick(time); }

  /// The last epilog message of a job has come, and asks for a pass.  If a job started soon after
  /// it, that was this pass.
  void on_end(double time) {
    const auto next_start = std::lower_bound(start_times_.begin(), start_times_.end(), time);
    if (next_start == start_times_.end() || *next_start > time + kPassDelay)
      clock_.request_now(time + epilog_delay_, false);
  }

 private:
  static constexpr double kPassDuration = 0.5;  // s that a pass takes at most
  static constexpr double kPassDelay = 4;       // s after a request at most

  ControllerState& controller_;
  ModelledMainClock clock_;
  const double epilog_delay_;
  std::vector<double> start_times_;
  double last_build_ = -kInfinity;
};

Sample sample_of(const ControllerState& controller, double time) {
  Sample sample{time, controller.usage().factors(),
                std::vector<double>(controller.scenario().jobs().size(),
                                    std::numeric_limits<double>::quiet_NaN())};
  for (const QueueEntry& entry : controller.queue().entries())
    sample.priorities[entry.job] = controller.queue().priority(entry.job);
  return sample;
}

}  // namespace

std::vector<Sample> retrace(const Scenario& scenario, const Clocks& clocks,
                            const std::vector<RecordedRun>& runs,
                            const std::vector<double>& sample_times) {
  ControllerState controller(scenario, clocks.controller_start, {},
                             clocks.controller_start + clocks.decay_after);
  const std::vector<RecordedEvent> events = recorded_events(scenario, clocks, runs, sample_times);
  QueueBuilds queue_builds(scenario, clocks, controller, events);
  std::vector<Sample> samples;
  NodeChoice choice(scenario.machine().nodes);
  QueueEntry entry{};
  for (const RecordedEvent& event : events) {
    queue_builds.run_passes_until(event.time);
    switch (event.kind) {
      case EventKind::end:
        controller.end(event.job, event.time, false);
        controller.complete_epilog(event.job, event.time);
        queue_builds.on_end(event.time);
        break;
      case EventKind::submit:
        controller.submit(event.job, event.time);
        queue_builds.request_pass(event.time);
        break;
      case EventKind::release:
        controller.release(event.job, event.time);
        queue_builds.request_pass(event.time);
        break;
      case EventKind::start:
        queue_builds.on_start(event.time);
        entry = {event.job, scenario.job(event.job).partition};
        choice.shares = runs[static_cast<std::size_t>(event.job)].shares;
        choice.set_nodes_from_shares();
        controller.set_cores(entry, choice);
        controller.start(entry, choice, event.time, Scheduler::main);
        controller.remove_from_queue(event.job);
        break;
      case EventKind::build_queue:
        queue_builds.build_at(event.time);
        for (const QueueEntry& waiting : controller.queue().entries())
          if (!controller.policy().violation_before_nodes(waiting))
            controller.mark_tested(waiting.job);
        break;
      case EventKind::sample:
        controller.advance(event.time);
        samples.push_back(sample_of(controller, event.time));
        break;
    }
  }
  return samples;
}

}  // namespace cosched::slurm
