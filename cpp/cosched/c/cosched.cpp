#include "cosched/c/cosched.h"

#include <cstring>
#include <exception>
#include <new>

#include "cosched/moldable/step/step.hpp"

namespace {

namespace step = cosched::moldable::step;

void say(const char* what, char* message, int size) {
  if (message == nullptr || size <= 0) return;
  const auto length = std::min(std::strlen(what), static_cast<std::size_t>(size) - 1);
  std::memcpy(message, what, length);
  message[length] = '\0';
}

void require(bool good, const char* what) {
  if (!good) throw cosched::InvalidInstance(what);
}

cosched::moldable::Instance ready_jobs(int jobs, int columns, const double* times, int processors) {
  require(columns > 0, "columns: expected at least one");
  require(times != nullptr, "times: expected jobs x columns seconds");
  cosched::Table table(jobs, columns);
  std::copy_n(times, static_cast<std::size_t>(jobs) * columns, table.data());
  return {cosched::Times(std::move(table)), std::vector<double>(jobs, 1.0), {}, processors};
}

}  // namespace

int cosched_step(int jobs, int columns, const double* times, int processors, const double* free_in,
                 double budget, double* state, int* owner, double* makespan, double* bound,
                 char* message, int message_size) {
  say("", message, message_size);
  try {
    require(processors > 0, "processors: expected at least one");
    require(owner != nullptr, "owner: expected room for a number a processor");
    require(jobs >= 0, "jobs: expected a number >= 0");
    std::vector<double> free(processors, 0.0);
    if (free_in != nullptr) std::copy_n(free_in, processors, free.begin());
    const step::StepState before{state == nullptr ? 0.0 : *state};
    if (jobs == 0) {
      step::check_arguments(free, budget, before);
      std::fill_n(owner, processors, -1);
      if (makespan != nullptr) *makespan = 0;
      if (bound != nullptr) *bound = 0;
      return 0;
    }
    const auto instance = ready_jobs(jobs, columns, times, processors);
    const auto next_step = step::step(instance, free, budget, before);
    const auto starts = step::assign_processors(next_step.plan, free);
    std::copy(starts.begin(), starts.end(), owner);
    if (state != nullptr) *state = next_step.state.ratio;
    if (makespan != nullptr) *makespan = next_step.makespan;
    if (bound != nullptr) *bound = next_step.bound;
    return 0;
  } catch (const cosched::Error& error) {
    say(error.what(), message, message_size);
    return 2;
  } catch (const std::exception& error) {  // of the library there is nothing but bad_alloc
    say(error.what(), message, message_size);
    return 1;
  }
}
