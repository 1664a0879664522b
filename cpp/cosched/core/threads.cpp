#include "cosched/core/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cosched/core/assert.hpp"
#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

// How often the waiting thread calls check_interrupt().
constexpr std::chrono::milliseconds kInterruptInterval{50};

// Threads that work on one number after another.
class ThreadPool {
 public:
  ThreadPool(int count, int threads, const std::function<void(int)>& work)
      : count_(count), work_(work) {
    const double remaining_seconds = seconds_left();
    for (int k = 0; k < std::min(threads, count); ++k)
      threads_.emplace_back([this, remaining_seconds] {
        const ScopedTimeLimit limit(std::isfinite(remaining_seconds)
                                        ? std::optional(std::max(remaining_seconds, 0.0))
                                        : std::nullopt);
        const ScopedStop stop(should_stop_);
        work_on_numbers();
      });
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    should_stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns when all numbers are done.
  void wait(const std::function<void(int)>& report_done) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kInterruptInterval,
                        [&] { return first_error_ || done_count_ == count_; });
      const int done_count = done_count_;
      if (first_error_) std::rethrow_exception(first_error_);
      lock.unlock();
      check_interrupt();
      if (report_done) report_done(done_count);
      if (done_count == count_) return;
    }
  }

 private:
  void work_on_numbers() {
    for (int number = next_number_++; number < count_ && !should_stop_; number = next_number_++) {
      std::exception_ptr error;
      try {
        work_(number);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (error && !first_error_) first_error_ = error;
      // Only now: what other threads throw because they should stop is not the first error.
      if (first_error_) should_stop_ = true;
      ++done_count_;
      if (first_error_ || done_count_ == count_) changed_.notify_all();
    }
  }

  const int count_;
  const std::function<void(int)>& work_;
  std::atomic<int> next_number_{0};
  std::atomic<bool> should_stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int done_count_ = 0;
  std::exception_ptr first_error_;
  std::vector<std::thread> threads_;
};

}  // namespace

void in_threads(int count, int threads, const std::function<void(int)>& work,
                const std::function<void(int)>& report_done) {
  COSCHED_ASSERT(threads >= 1);
  ThreadPool pool(count, threads, work);
  pool.wait(report_done);
}

int usual_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace cosched
