#include "cosched/core/threads.hpp"

#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

constexpr std::chrono::milliseconds kLook{50};  // at signals, from the thread that waits

// Threads that take one number after another.
class Pool {
 public:
  Pool(int count, int threads, const std::function<void(int)>& work) : count_(count), work_(work) {
    const double left = seconds_left();
    for (int k = 0; k < std::min(threads, count); ++k)
      threads_.emplace_back([this, left] {
        const ScopedTimeLimit limit(std::isfinite(left) ? std::optional(std::max(left, 0.0))
                                                        : std::nullopt);
        const ScopedStop stop(stop_);
        take();
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
  void take() {
    for (int number = next_++; number < count_ && !stop_; number = next_++) {
      std::exception_ptr error;
      try {
        work_(number);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (error && !error_) error_ = error;
      if (error_) stop_ = true;  // not before: what others throw for it is not the first error
      ++done_;
      if (error_ || done_ == count_) changed_.notify_all();
    }
  }

  const int count_;
  const std::function<void(int)>& work_;
  std::atomic<int> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int done_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace

void in_threads(int count, int threads, const std::function<void(int)>& work,
                const std::function<void(int)>& done) {
  Pool pool(count, threads, work);
  pool.wait(done);
}

int usual_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace cosched
