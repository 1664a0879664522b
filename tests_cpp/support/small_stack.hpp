// Work on a small stack: what recurses once a task does not come back from it.
#pragma once

#include <pthread.h>

#include <exception>
#include <functional>
#include <stdexcept>

namespace cosched::tests {

/// Calls work() in a thread with a stack of 128 kB, and throws what it throws.
inline void run_on_small_stack(const std::function<void()>& work) {
  struct Call {
    const std::function<void()>& work;
    std::exception_ptr failure;
  } call{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    auto& of = *static_cast<Call*>(argument);
    try {
      of.work();
    } catch (...) {
      of.failure = std::current_exception();
    }
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, &call) != 0)
    throw std::runtime_error("no thread with a small stack");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace cosched::tests
