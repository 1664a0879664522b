#include "cosched/cluster/model/instance.hpp"

#include <numeric>

#include "cosched/cluster/model/units.hpp"
#include "cosched/core/errors.hpp"
#include "cosched/core/numeric.hpp"

namespace cosched::cluster {
namespace {

[[noreturn]] void throw_invalid_entry(const char* column, int row, const std::string& value,
                                      const std::string& expected) {
  throw InvalidInstance("jobs." + std::string(column) + "[" + std::to_string(row) + "] = " + value +
                            ": expected " + expected,
                        column, row);
}

void require_length(const char* column, std::size_t length, std::size_t expected) {
  if (length != expected)
    throw InvalidInstance("jobs." + std::string(column) + " has " + std::to_string(length) +
                          " rows: expected " + std::to_string(expected) + " as in jobs.submit");
}

void require_length_or_none(const char* column, std::size_t length, std::size_t expected) {
  if (length != 0) require_length(column, length, expected);
}

void require_times(const char* column, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= 0) || values[i] == kInfinity)
      throw_invalid_entry(column, static_cast<int>(i), to_text(values[i]),
                          "a finite number of seconds >= 0");
}

// A job may have no limit.
void require_limits(const char* column, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= 0))
      throw_invalid_entry(column, static_cast<int>(i), to_text(values[i]),
                          "seconds >= 0, or inf for no limit");
}

void require_fractions(const char* column, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0 && values[i] <= 1))
      throw_invalid_entry(column, static_cast<int>(i), to_text(values[i]),
                          "a fraction of a node in (0, 1]");
}

void require_valid_columns(const Jobs& jobs) {
  const std::size_t n = jobs.submit.size();
  if (n == 0) throw InvalidInstance("jobs has no rows: expected at least one job");
  if (n > 1'000'000'000) throw InvalidInstance("jobs has more than 1,000,000,000 rows");
  require_length("tasks", jobs.tasks.size(), n);
  require_length("cpu", jobs.cpu.size(), n);
  require_length("memory", jobs.memory.size(), n);
  require_length("runtime", jobs.runtime.size(), n);
  require_length_or_none("estimate", jobs.estimate.size(), n);
  require_length_or_none("id", jobs.id.size(), n);
  require_length_or_none("line", jobs.line.size(), n);
  require_times("submit", jobs.submit);
  for (std::size_t i = 0; i < n; ++i)
    if (jobs.tasks[i] < 1)
      throw_invalid_entry("tasks", static_cast<int>(i), std::to_string(jobs.tasks[i]),
                          "at least 1 task");
  require_fractions("cpu", jobs.cpu);
  require_fractions("memory", jobs.memory);
  require_times("runtime", jobs.runtime);
  require_limits("estimate", jobs.estimate);
}

}  // namespace

std::string Jobs::name_of(int job) const {
  const bool has_id = job >= 0 && static_cast<std::size_t>(job) < id.size();
  return "job " + (has_id ? id[job] : std::to_string(job));
}

std::string Jobs::location_of(int job) const {
  std::string text = source.empty() ? "" : source + ": ";
  text += name_of(job);
  if (!line.empty()) text += " (line " + std::to_string(line[job]) + ")";
  return text;
}

Instance::Instance(Jobs jobs, int nodes) : jobs_(std::move(jobs)), nodes_(nodes) {
  if (nodes < 1)
    throw InvalidInstance("nodes = " + std::to_string(nodes) + ": expected at least 1");
  if (nodes > kMaxNodes)
    throw InvalidInstance("nodes = " + std::to_string(nodes) + ": expected at most " +
                          std::to_string(kMaxNodes));
  require_valid_columns(jobs_);
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto& submit = jobs_.submit;
  if (!std::is_sorted(submit.begin(), submit.end()))
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return submit[a] < submit[b]; });
  for (int j = 0; j < size(); ++j) total_work_ += jobs_.runtime[j] * jobs_.cpu[j] * jobs_.tasks[j];
}

void require_batch_fits(const Instance& instance) {
  const auto& tasks = instance.jobs().tasks;
  for (int j = 0; j < instance.size(); ++j)
    if (tasks[j] > instance.nodes())
      throw InfeasibleError(instance.jobs().location_of(j) + ": needs " + std::to_string(tasks[j]) +
                            " nodes, the machine has " + std::to_string(instance.nodes()) +
                            "; drop it with --drop too-wide");
}

void require_memory_fits(const Instance& instance) {
  const Jobs& jobs = instance.jobs();
  for (int j = 0; j < instance.size(); ++j) {
    const std::int64_t task_slots = instance.nodes() * slots(memory_units(jobs.memory[j]), 0);
    if (jobs.tasks[j] > task_slots)
      throw InfeasibleError(jobs.location_of(j) + ": has " + std::to_string(jobs.tasks[j]) +
                            " tasks of memory " + to_text(jobs.memory[j]) +
                            ", the empty machine holds " + std::to_string(task_slots) +
                            "; drop it with --drop too-wide");
  }
}

double bounded_stretch(double submit, double end, double runtime, double threshold) {
  return std::max(end - submit, threshold) / std::max(runtime, threshold);
}

}  // namespace cosched::cluster
