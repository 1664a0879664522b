#include "cosched/slurm/simulate/retrace.hpp"

#include "cosched/slurm/clocks/modelled_main_clock.hpp"
#include "cosched/slurm/state/controller_state.hpp"

namespace cosched::slurm {
namespace {

// Those of one instant in this order.
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
                                           const std::vector<RecordedRun>& lives,
                                           const std::vector<double>& times) {
  std::vector<RecordedEvent> all;
  for (std::size_t j = 0; j < lives.size(); ++j) {
    const int job = static_cast<int>(j);
    all.push_back({scenario.job(job).submit, EventKind::submit, job});
    if (std::isnan(lives[j].start)) continue;
    all.push_back({lives[j].start, EventKind::start, job});
    if (!std::isnan(lives[j].end)) all.push_back({lives[j].end, EventKind::end, job});
  }
  for (const AdminEvent& one : scenario.admin_events())
    if (one.kind == AdminEvent::Kind::release)
      all.push_back({one.time, EventKind::release, one.job});
  for (const double time : clocks.cycle_times) all.push_back({time, EventKind::build_queue, 0});
  for (const double time : times) all.push_back({time, EventKind::sample, 0});
  std::sort(all.begin(), all.end());
  return all;
}

// When queues were built: by recorded cycles; by the passes that started jobs; between them by
// those that the rules say there were.
class QueueBuilds {
 public:
  QueueBuilds(const Scenario& scenario, const Clocks& clocks, ControllerState& controller,
              const std::vector<RecordedEvent>& moments)
      : controller_(controller),
        clock_(clocks.after_slurmdbd_start(), scenario.settings().main,
               scenario.settings().is_24_11),
        epilog_delay_(clocks.epilog_delay) {
    for (const RecordedEvent& one : moments)
      if (one.kind == EventKind::start) start_times_.push_back(one.time);
    clock_.request_at_tick(clocks.controller_start + clocks.decay_after);
  }

  /// Passes before that time.
  void run_passes_until(double time) {
    for (;;) {
      const double tick = clock_.next_requesting_tick(), pass = clock_.next_pass_time();
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
    if (time - last_build_ > kOnePass) build_at(time);
  }
  void request(double time) { clock_.request_at_tick(time); }
  /// The last message of a job has come: a pass that started a job soon was the one that it asked
  /// for.
  void on_end(double time) {
    const auto next = std::lower_bound(start_times_.begin(), start_times_.end(), time);
    if (next == start_times_.end() || *next > time + kSoon)
      clock_.request_now(time + epilog_delay_, false);
  }

 private:
  static constexpr double kOnePass = 0.5, kSoon = 4;

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
                            const std::vector<RecordedRun>& lives,
                            const std::vector<double>& times) {
  ControllerState controller(scenario, clocks.controller_start, {},
                             clocks.controller_start + clocks.decay_after);
  const std::vector<RecordedEvent> moments = recorded_events(scenario, clocks, lives, times);
  QueueBuilds looks(scenario, clocks, controller, moments);
  std::vector<Sample> samples;
  NodeChoice choice(scenario.machine().nodes);
  for (const RecordedEvent& one : moments) {
    const auto job = static_cast<std::size_t>(one.job);
    looks.run_passes_until(one.time);
    switch (one.kind) {
      case EventKind::end:
        controller.end(one.job, one.time, false);
        controller.complete_epilog(one.job, one.time);
        looks.on_end(one.time);
        break;
      case EventKind::submit:
        controller.submit(one.job, one.time);
        looks.request(one.time);
        break;
      case EventKind::release:
        controller.release(one.job, one.time);
        looks.request(one.time);
        break;
      case EventKind::start:
        looks.on_start(one.time);
        choice.shares = lives[job].shares;
        choice.set_nodes_from_shares();
        controller.set_cores({one.job, scenario.job(one.job).partition}, choice);
        controller.start({one.job, scenario.job(one.job).partition}, choice, one.time,
                         Scheduler::main);
        controller.remove_from_queue(one.job);
        break;
      case EventKind::build_queue:
        looks.build_at(one.time);
        for (const QueueEntry& entry : controller.queue().entries())
          if (!controller.policy().violation_before_nodes(entry)) controller.mark_tested(entry.job);
        break;
      case EventKind::sample:
        controller.advance(one.time);
        samples.push_back(sample_of(controller, one.time));
        break;
    }
  }
  return samples;
}

}  // namespace cosched::slurm
