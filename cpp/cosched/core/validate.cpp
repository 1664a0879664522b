#include "cosched/core/validate.hpp"

#include <tuple>

#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

using std::to_string;

[[noreturn]] void throw_breach(const std::string& text) { throw InvalidSchedule(text); }

bool is_at_most(double a, double b) { return leq(a, b, kValidateTolerance); }

void check_shape(const Schedule& s, const Requirements& need) {
  const std::size_t rows = s.rows();
  if (s.kind.size() != rows || s.start.size() != rows || s.end.size() != rows ||
      s.unit_begin.size() != rows + 1 || s.unit_begin.front() != 0 ||
      s.unit_begin.back() != static_cast<std::int64_t>(s.unit.size()) ||
      !std::is_sorted(s.unit_begin.begin(), s.unit_begin.end()))
    throw_breach("the schedule's columns have different lengths");
  Poll poll;
  for (std::size_t r = 0; r < rows; ++r) {
    poll.count(8 + s.unit_begin[r + 1] - s.unit_begin[r]);
    const auto row = [r] { return "placement " + to_string(r); };
    if (s.task[r] < 0 || s.task[r] >= need.tasks)
      throw_breach(row() + ": task " + to_string(s.task[r]) + " is not in 0.." +
                   to_string(need.tasks - 1));
    if (s.kind[r] < 0 || s.kind[r] >= static_cast<int>(need.units.size()))
      throw_breach(row() + ": resource type " + to_string(s.kind[r]) + " is not in 0.." +
                   to_string(need.units.size() - 1));
    if (s.unit_begin[r] == s.unit_begin[r + 1])
      throw_breach("task " + to_string(s.task[r]) + " has no unit");
    const int units = need.units[s.kind[r]];
    for (auto u = s.unit_begin[r]; u < s.unit_begin[r + 1]; ++u)
      if (s.unit[u] < 0 || s.unit[u] >= units)
        throw_breach("task " + to_string(s.task[r]) + ": unit " + to_string(s.unit[u]) +
                     " is not in 0.." + to_string(units - 1));
  }
}

// Row of each task's only placement.
std::vector<int> check_each_once(const Schedule& s, const Requirements& need) {
  std::vector<int> row(need.tasks, -1);
  for (std::size_t r = 0; r < s.rows(); ++r) {
    if (row[s.task[r]] >= 0) throw_breach("task " + to_string(s.task[r]) + " is placed twice");
    row[s.task[r]] = static_cast<int>(r);
  }
  for (int task = 0; task < need.tasks; ++task)
    if (row[task] < 0) throw_breach("task " + to_string(task) + " is not placed");
  return row;
}

void check_times(const Schedule& s, const Requirements& need, const std::vector<int>& row) {
  for (int task = 0; task < need.tasks; ++task) {
    if (task % 16384 == 0) check_interrupt();
    const int r = row[task];
    const auto name = [task] { return "task " + to_string(task); };
    if (!std::isfinite(s.start[r]) || !std::isfinite(s.end[r]))
      throw_breach(name() + ": start " + to_text(s.start[r]) + " or end " + to_text(s.end[r]) +
                   " is not finite");
    const double release = need.release.empty() ? 0 : need.release[task];
    if (s.start[r] < 0 || !is_at_most(release, s.start[r]))
      throw_breach(name() + " starts at " + to_text(s.start[r]) + " before its release " +
                   to_text(release));
    const int count = static_cast<int>(s.unit_begin[r + 1] - s.unit_begin[r]);
    const double duration = need.duration(task, s.kind[r], count);
    if (duration == kInfinity)
      throw_breach(name() + " cannot run on " + to_string(count) + " units of type " +
                   to_string(s.kind[r]));
    const bool has_slowdowns = need.sharing != nullptr && need.sharing->slows();
    // With slow-downs, check_ends() checks the end.
    if (!has_slowdowns && !close(s.start[r] + duration, s.end[r], kValidateTolerance))
      throw_breach(name() + " runs from " + to_text(s.start[r]) + " to " + to_text(s.end[r]) +
                   " on " + to_string(count) + " units of type " + to_string(s.kind[r]) +
                   ", it needs " + to_text(duration) + " s there");
  }
}

// A placement that uses a unit; the units of all types are numbered together.
struct UnitUse {
  std::int64_t unit;
  int row;
};

// Uses in buckets of neighbouring units, about kUsesPerBucket each, that can be sorted one by one.
std::vector<std::vector<UnitUse>> bucket_uses(const Schedule& s,
                                              const std::vector<std::int64_t>& first) {
  constexpr std::size_t kUsesPerBucket = 4096;
  const auto buckets = static_cast<std::int64_t>(s.unit.size() / kUsesPerBucket + 1);
  const std::int64_t width = (first.back() + buckets - 1) / buckets;
  std::vector<std::vector<UnitUse>> uses(buckets);
  Poll poll;
  for (std::size_t r = 0; r < s.rows(); ++r) {
    poll.count(8 + 4 * (s.unit_begin[r + 1] - s.unit_begin[r]));
    for (auto u = s.unit_begin[r]; u < s.unit_begin[r + 1]; ++u) {
      const std::int64_t unit = first[s.kind[r]] + s.unit[u];
      uses[unit / width].push_back({unit, static_cast<int>(r)});
    }
  }
  return uses;
}

void check_units(const Schedule& s, const Requirements& need) {
  std::vector<std::int64_t> first{0};  // by type: the number of its unit 0
  for (const int units : need.units) first.push_back(first.back() + units);
  const auto order = [&](const UnitUse& a, const UnitUse& b) {
    return std::tuple(a.unit, s.start[a.row], s.end[a.row], s.task[a.row]) <
           std::tuple(b.unit, s.start[b.row], s.end[b.row], s.task[b.row]);
  };
  for (std::vector<UnitUse>& uses : bucket_uses(s, first)) {
    check_interrupt();
    std::sort(uses.begin(), uses.end(), order);
    for (std::size_t k = 1; k < uses.size(); ++k) {
      const auto [unit, row] = uses[k];
      const auto [unit0, row0] = uses[k - 1];
      if (unit != unit0) continue;
      if (row != row0 && is_at_most(s.end[row0], s.start[row])) continue;
      const std::string name =
          "unit " + to_string(unit - first[s.kind[row]]) + " of type " + to_string(s.kind[row]);
      if (row == row0) throw_breach("task " + to_string(s.task[row]) + " has " + name + " twice");
      throw_breach("tasks " + to_string(s.task[row0]) + " and " + to_string(s.task[row]) +
                   " overlap on " + name + ": the first ends at " + to_text(s.end[row0]) +
                   ", the second starts at " + to_text(s.start[row]));
    }
  }
}

void check_edges(const Schedule& s, const Requirements& need, const std::vector<int>& row) {
  for (std::size_t k = 0; k < need.edges.size(); ++k) {
    const auto& [before, after] = need.edges[k];
    const int from = row[before];
    const int to = row[after];
    if (!is_at_most(s.end[from], s.start[to]))
      throw_breach("task " + to_string(after) + " starts at " + to_text(s.start[to]) +
                   " before its predecessor " + to_string(before) + " ends at " +
                   to_text(s.end[from]));
    if (!need.transfer) continue;
    const double seconds =
        need.transfer(static_cast<int>(k), s.kind[from], s.unit[s.unit_begin[from]], s.kind[to],
                      s.unit[s.unit_begin[to]]);
    if (!is_at_most(s.end[from] + seconds, s.start[to]))
      throw_breach("task " + to_string(after) + " starts at " + to_text(s.start[to]) +
                   " before the data of its predecessor " + to_string(before) + ", which ends at " +
                   to_text(s.end[from]) + ", can arrive: the transfer takes " + to_text(seconds) +
                   " s");
  }
}

int units_of(const Schedule& s, int r) {
  return static_cast<int>(s.unit_begin[r + 1] - s.unit_begin[r]);
}

void check_needs(const Schedule& s, const Sharing& sharing) {
  const int rows = static_cast<int>(s.rows());
  for (int starting_row = 0; starting_row < rows; ++starting_row) {
    const double now = s.start[starting_row];
    check_interrupt();
    for (int k = 0; k < sharing.resources(); ++k) {
      const Resource& resource = sharing.resource(k);
      double sum = 0;
      for (int r = 0; r < rows; ++r)
        if (is_at_most(s.start[r], now) && !is_at_most(s.end[r], now)) {
          const std::ptrdiff_t column = units_of(s, r) - 1;
          sum += resource.need(s.task[r], std::min(column, resource.need.cols() - 1));
        }
      if (!is_at_most(sum, resource.capacity))
        throw_breach("at " + to_text(now) + ", when task " + to_string(s.task[starting_row]) +
                     " starts, " + to_text(sum) + " of " + resource.name +
                     " is needed: the capacity is " + to_text(resource.capacity));
    }
  }
}

// The factor by which row r is slowed while the rows `running`, with it among them, run.
double slowdown_of(const Schedule& s, const Sharing& sharing, int r,
                   const std::vector<int>& running) {
  double pair_factor = 1;
  double traffic = 0;
  for (const int other : running) {
    if (sharing.bandwidth()) {
      const Matrix<double>& demand = sharing.bandwidth()->demand;
      const std::ptrdiff_t column = units_of(s, other) - 1;
      traffic += demand(s.task[other], std::min(column, demand.cols() - 1));
    }
    if (other == r || !sharing.slowdowns()) continue;
    const double factor = std::max(1.0, sharing.slowdowns()->table(s.task[r], s.task[other]));
    switch (sharing.slowdowns()->rule) {
      case SlowdownRule::sum:
        pair_factor = pair_factor + factor - 1;
        break;
      case SlowdownRule::product:
        pair_factor = pair_factor * factor;
        break;
      case SlowdownRule::max:
        pair_factor = std::max(pair_factor, factor);
        break;
    }
  }
  if (!sharing.bandwidth() || running.size() == 1) return pair_factor;
  const double excess = traffic / sharing.bandwidth()->capacity - 1;
  if (excess <= 0) return pair_factor;
  return std::max(pair_factor, 1 + sharing.bandwidth()->stall[s.task[r]] * excess);
}

// Computes the ends from the starts: between two events every task has a constant rate.
void check_ends(const Schedule& s, const Requirements& need) {
  constexpr double kRounding = kSumTolerance;  // relative: of a task's work, or of the time
  std::vector<int> by_start(s.rows());         // rows
  std::vector<int> running;                    // rows
  for (std::size_t r = 0; r < s.rows(); ++r) by_start[r] = static_cast<int>(r);
  std::sort(by_start.begin(), by_start.end(),
            [&](int a, int b) { return s.start[a] < s.start[b]; });
  std::vector<double> alone(s.rows());         // s, without slow-downs
  std::vector<double> remaining(s.rows(), 1);  // part of the work
  for (std::size_t r = 0; r < s.rows(); ++r)
    alone[r] = need.duration(s.task[r], s.kind[r], units_of(s, static_cast<int>(r)));
  double now = 0;
  for (std::size_t next = 0; next < by_start.size() || !running.empty();) {
    check_interrupt();
    double event_time = next < by_start.size() ? s.start[by_start[next]] : kInfinity;
    std::vector<double> rate;  // by position in `running`
    std::vector<double> end;
    for (const int r : running) {
      rate.push_back(1 / (alone[r] * slowdown_of(s, *need.sharing, r, running)));
      end.push_back(now + remaining[r] / rate.back());
      event_time = std::min(event_time, end.back());
    }
    std::vector<int> unfinished;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const int r = running[k];
      remaining[r] -= (event_time - now) * rate[k];
      // Of a short task at a late time, the remaining work may take less than the clock can tell.
      if (remaining[r] > kRounding && end[k] > event_time * (1 + kRounding)) {
        unfinished.push_back(r);
      } else if (!close(s.end[r], event_time, kValidateTolerance)) {
        throw_breach("task " + to_string(s.task[r]) + " ends at " + to_text(s.end[r]) +
                     ": beside what runs with it, it ends at " + to_text(event_time));
      }
    }
    running = std::move(unfinished);
    now = event_time;
    while (next < by_start.size() && s.start[by_start[next]] <= now) {
      running.push_back(by_start[next]);
      ++next;
    }
  }
}

void check_shared(const Schedule& s, const Requirements& need) {
  if (need.sharing == nullptr) return;
  check_needs(s, *need.sharing);
  if (need.sharing->slows()) check_ends(s, need);
}

}  // namespace

void validate(const Schedule& schedule, const Requirements& requirements) {
  check_shape(schedule, requirements);
  const std::vector<int> row = check_each_once(schedule, requirements);
  check_times(schedule, requirements, row);
  check_units(schedule, requirements);
  check_edges(schedule, requirements, row);
  check_shared(schedule, requirements);
}

}  // namespace cosched
