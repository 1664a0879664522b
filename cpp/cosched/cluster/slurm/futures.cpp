#include "cosched/cluster/slurm/futures.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "cosched/cluster/slurm/simulator.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched::cluster::slurm {
namespace {

constexpr std::chrono::milliseconds kLook{50};  // at signals, from the thread that waits

Outcome outcome_of(const Scenario& scenario, int there, const Future& future) {
  if (future.coming.empty() && there == static_cast<int>(scenario.jobs().size()))
    return simulate(scenario, future.clocks, {});
  std::vector<std::pair<int, double>> later;
  Clocks clocks = future.clocks;
  clocks.lengths.resize(static_cast<std::size_t>(there), std::numeric_limits<double>::quiet_NaN());
  for (const Coming& one : future.coming) {
    later.emplace_back(one.like, one.submit);
    clocks.lengths.push_back(one.length);
  }
  return simulate(scenario.with(there, later), clocks, {});
}

// Threads that take one number after another.
class Pool {
 public:
  template <class Work>
  Pool(int count, int threads, Work work) : count_(count) {
    const double left = seconds_left();
    for (int k = 0; k < std::min(threads, count); ++k)
      threads_.emplace_back([this, work, left] {
        const ScopedTimeLimit limit(std::isfinite(left) ? std::optional(std::max(left, 0.0))
                                                        : std::nullopt);
        take(work);
      });
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    stop_ = true;
    for (std::thread& one : threads_) one.join();
  }

  void wait(const std::function<void(int)>& done) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kLook, [&] { return error_ || done_ == count_; });
      const int over = done_;
      if (error_) std::rethrow_exception(error_);
      lock.unlock();
      check_interrupt();
      if (done) done(over);
      if (over == count_) return;
    }
  }

 private:
  template <class Work>
  void take(Work work) {
    for (int number = next_++; number < count_ && !stop_; number = next_++) {
      std::exception_ptr error;
      try {
        work(number);
      } catch (...) {
        error = std::current_exception();
        stop_ = true;
      }
      const std::lock_guard lock(mutex_);
      if (error && !error_) error_ = error;
      ++done_;
      if (error_ || done_ == count_) changed_.notify_all();
    }
  }

  const int count_;
  std::atomic<int> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int done_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace

Runs simulate_all(const Scenario& scenario, int there, const std::vector<Future>& futures,
                  int threads, const std::function<void(int)>& done) {
  const auto rows = static_cast<std::ptrdiff_t>(futures.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  Runs runs{Table(rows, there, none), Table(rows, there, none), Table(rows, there, 0)};
  Pool pool(static_cast<int>(rows), threads, [&](int number) {
    const Outcome outcome = outcome_of(scenario, there, futures[static_cast<std::size_t>(number)]);
    for (int j = 0; j < there; ++j) {
      const auto job = static_cast<std::size_t>(j);
      runs.start(number, j) = outcome.start[job];
      if (outcome.killed[job]) runs.killed(number, j) = outcome.end[job];
    }
    for (const Pause& pause : outcome.pauses)
      if (pause.job < there && std::isfinite(pause.until))
        runs.paused(number, pause.job) += pause.until - pause.from;
  });
  pool.wait(done);
  return runs;
}

}  // namespace cosched::cluster::slurm
