#include "cosched/bags/check/validate.hpp"

#include <tuple>

#include "cosched/core/errors.hpp"

namespace cosched::bags::check {
namespace {

using std::to_string;

[[noreturn]] void throw_breach(std::size_t row, const std::string& text) {
  throw InvalidSchedule("row " + to_string(row) + ": " + text);
}

void check_lengths(const ScheduleRows& rows) {
  const std::size_t n = rows.task_type.size();
  if (rows.machine_type.size() != n || rows.machine.size() != n || rows.count.size() != n ||
      rows.start.size() != n || rows.end.size() != n)
    throw InvalidSchedule("columns of different lengths");
}

void check_range(std::size_t row, const char* name, std::int64_t value, std::int64_t end) {
  if (value < 0 || value >= end)
    throw_breach(row, std::string(name) + " = " + to_string(value) +
                          (end > 0 ? ": expected 0.." + to_string(end - 1)
                                   : ": there is none of that type"));
}

void check_row(const Instance& instance, const ScheduleRows& rows, std::size_t r) {
  check_range(r, "task_type", rows.task_type[r], instance.types());
  check_range(r, "machine_type", rows.machine_type[r], instance.machine_types());
  const auto i = static_cast<int>(rows.task_type[r]), j = static_cast<int>(rows.machine_type[r]);
  check_range(r, "machine", rows.machine[r], instance.all_machines()[j]);
  if (rows.count[r] < 1 || rows.count[r] > instance.counts()[i])
    throw_breach(r, "count = " + to_string(rows.count[r]) + ": expected 1.." +
                        to_string(instance.counts()[i]) + " tasks of type " + to_string(i));
  const double seconds = instance.etc()(i, j);
  if (!(seconds < kInfinity))
    throw_breach(r, "task type " + to_string(i) + " may not run on machine type " + to_string(j));
  const double start = rows.start[r], end = rows.end[r];
  if (!(start >= 0) || !(end < kInfinity))
    throw_breach(r,
                 "runs from " + to_text(start) + " to " + to_text(end) + ": expected finite times");
  const double length = static_cast<double>(rows.count[r]) * seconds;
  // The difference of two large times carries their rounding.
  if (!(std::abs(end - start - length) <= kValidateTolerance * std::max(length, end)))
    throw_breach(r, "lasts " + to_text(end - start) + " s: expected " + to_string(rows.count[r]) +
                        " tasks of " + to_text(seconds) + " s");
}

void check_totals(const Instance& instance, const ScheduleRows& rows) {
  std::vector<std::int64_t> remaining_tasks = instance.counts();
  for (std::size_t r = 0; r < rows.count.size(); ++r) {
    remaining_tasks[rows.task_type[r]] -= rows.count[r];
    if (remaining_tasks[rows.task_type[r]] < 0)
      throw_breach(r, "more than the " + to_string(instance.counts()[rows.task_type[r]]) +
                          " tasks of type " + to_string(rows.task_type[r]));
  }
  for (std::size_t i = 0; i < remaining_tasks.size(); ++i)
    if (remaining_tasks[i] > 0)
      throw InvalidSchedule(to_string(remaining_tasks[i]) + " tasks of type " + to_string(i) +
                            " are not scheduled");
}

void check_overlaps(const ScheduleRows& rows) {
  std::vector<std::size_t> order(rows.count.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto machine_and_time = [&](std::size_t r) {
    return std::tuple(rows.machine_type[r], rows.machine[r], rows.start[r], rows.end[r]);
  };
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return machine_and_time(a) < machine_and_time(b); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const std::size_t a = order[k - 1], b = order[k];
    if (rows.machine_type[a] != rows.machine_type[b] || rows.machine[a] != rows.machine[b])
      continue;
    if (!leq(rows.end[a], rows.start[b], kValidateTolerance))
      throw_breach(b, "starts at " + to_text(rows.start[b]) + " on machine " +
                          to_string(rows.machine[b]) + " of type " +
                          to_string(rows.machine_type[b]) + ", which row " + to_string(a) +
                          " holds until " + to_text(rows.end[a]));
  }
}

void check_power(const Instance& instance, const ScheduleRows& rows) {
  if (instance.power_above_idle() == kInfinity) return;
  double makespan = 0, joules = 0;
  for (std::size_t r = 0; r < rows.count.size(); ++r) {
    makespan = std::max(makespan, rows.end[r]);
    joules += static_cast<double>(rows.count[r]) *
              instance.joules(static_cast<int>(rows.task_type[r]),
                              static_cast<int>(rows.machine_type[r]));
  }
  if (!leq(joules, instance.power_above_idle() * makespan, kValidateTolerance))
    throw InvalidSchedule("draws " + to_text(joules / makespan + instance.idle_power()) +
                          " W on average: the power cap is " +
                          to_text(instance.power_above_idle() + instance.idle_power()) + " W");
}

}  // namespace

void validate(const Instance& instance, const ScheduleRows& rows) {
  check_lengths(rows);
  for (std::size_t r = 0; r < rows.count.size(); ++r) check_row(instance, rows, r);
  check_totals(instance, rows);
  check_overlaps(rows);
  check_power(instance, rows);
}

}  // namespace cosched::bags::check
