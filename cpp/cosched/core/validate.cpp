#include "cosched/core/validate.hpp"

#include <tuple>

#include "cosched/core/interrupt.hpp"

namespace cosched {
namespace {

using std::to_string;

[[noreturn]] void breach(const std::string& text) { throw InvalidSchedule(text); }

bool at_most(double a, double b) { return leq(a, b, kValidateTolerance); }

void check_shape(const Schedule& s, const Requirements& need) {
  const std::size_t rows = s.rows();
  if (s.kind.size() != rows || s.start.size() != rows || s.end.size() != rows ||
      s.unit_begin.size() != rows + 1 || s.unit_begin.front() != 0 ||
      s.unit_begin.back() != static_cast<std::int64_t>(s.unit.size()) ||
      !std::is_sorted(s.unit_begin.begin(), s.unit_begin.end()))
    breach("the schedule's columns have different lengths");
  Poll poll;
  for (std::size_t r = 0; r < rows; ++r) {
    poll.count(8 + s.unit_begin[r + 1] - s.unit_begin[r]);
    const auto row = [r] { return "placement " + to_string(r); };
    if (s.task[r] < 0 || s.task[r] >= need.tasks)
      breach(row() + ": task " + to_string(s.task[r]) + " is not in 0.." +
             to_string(need.tasks - 1));
    if (s.kind[r] < 0 || s.kind[r] >= static_cast<int>(need.units.size()))
      breach(row() + ": resource type " + to_string(s.kind[r]) + " is not in 0.." +
             to_string(need.units.size() - 1));
    if (s.unit_begin[r] == s.unit_begin[r + 1])
      breach("task " + to_string(s.task[r]) + " has no unit");
    const int units = need.units[s.kind[r]];
    for (auto u = s.unit_begin[r]; u < s.unit_begin[r + 1]; ++u)
      if (s.unit[u] < 0 || s.unit[u] >= units)
        breach("task " + to_string(s.task[r]) + ": unit " + to_string(s.unit[u]) +
               " is not in 0.." + to_string(units - 1));
  }
}

// Row of each task's only placement.
std::vector<int> check_each_once(const Schedule& s, const Requirements& need) {
  std::vector<int> row(need.tasks, -1);
  for (std::size_t r = 0; r < s.rows(); ++r) {
    if (row[s.task[r]] >= 0) breach("task " + to_string(s.task[r]) + " is placed twice");
    row[s.task[r]] = static_cast<int>(r);
  }
  for (int task = 0; task < need.tasks; ++task)
    if (row[task] < 0) breach("task " + to_string(task) + " is not placed");
  return row;
}

void check_times(const Schedule& s, const Requirements& need, const std::vector<int>& row) {
  for (int task = 0; task < need.tasks; ++task) {
    if (task % 16384 == 0) check_interrupt();
    const int r = row[task];
    const auto name = [task] { return "task " + to_string(task); };
    if (!std::isfinite(s.start[r]) || !std::isfinite(s.end[r]))
      breach(name() + ": start " + to_text(s.start[r]) + " or end " + to_text(s.end[r]) +
             " is not finite");
    const double release = need.release.empty() ? 0 : need.release[task];
    if (s.start[r] < 0 || !at_most(release, s.start[r]))
      breach(name() + " starts at " + to_text(s.start[r]) + " before its release " +
             to_text(release));
    const int count = static_cast<int>(s.unit_begin[r + 1] - s.unit_begin[r]);
    const double duration = need.duration(task, s.kind[r], count);
    if (duration == kInfinity)
      breach(name() + " cannot run on " + to_string(count) + " units of type " +
             to_string(s.kind[r]));
    const bool slowed = need.sharing != nullptr && need.sharing->slows();  // check_shared() looks
    if (!slowed && !close(s.start[r] + duration, s.end[r], kValidateTolerance))
      breach(name() + " runs from " + to_text(s.start[r]) + " to " + to_text(s.end[r]) + " on " +
             to_string(count) + " units of type " + to_string(s.kind[r]) + ", it needs " +
             to_text(duration) + " s there");
  }
}

// A placement's hold on one unit; all units of all types have one numbering.
struct Use {
  std::int64_t unit;
  int row;
};

// Uses in buckets of neighbouring units, about `kUsesABucket` each, that can be sorted one by one.
std::vector<std::vector<Use>> uses_by_unit(const Schedule& s,
                                           const std::vector<std::int64_t>& first) {
  constexpr std::size_t kUsesABucket = 4096;
  const auto buckets = static_cast<std::int64_t>(s.unit.size() / kUsesABucket + 1);
  const std::int64_t width = (first.back() + buckets - 1) / buckets;
  std::vector<std::vector<Use>> uses(buckets);
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
  std::vector<std::int64_t> first{0};  // number of each type's unit 0
  for (const int units : need.units) first.push_back(first.back() + units);
  const auto order = [&](const Use& a, const Use& b) {
    return std::tuple(a.unit, s.start[a.row], s.end[a.row], s.task[a.row]) <
           std::tuple(b.unit, s.start[b.row], s.end[b.row], s.task[b.row]);
  };
  for (std::vector<Use>& uses : uses_by_unit(s, first)) {
    check_interrupt();
    std::sort(uses.begin(), uses.end(), order);
    for (std::size_t k = 1; k < uses.size(); ++k) {
      const auto [unit, row] = uses[k];
      const auto [unit0, row0] = uses[k - 1];
      if (unit != unit0) continue;
      if (row != row0 && at_most(s.end[row0], s.start[row])) continue;
      const std::string name =
          "unit " + to_string(unit - first[s.kind[row]]) + " of type " + to_string(s.kind[row]);
      if (row == row0) breach("task " + to_string(s.task[row]) + " has " + name + " twice");
      breach("tasks " + to_string(s.task[row0]) + " and " + to_string(s.task[row]) +
             " overlap on " + name + ": the first ends at " + to_text(s.end[row0]) +
             ", the second starts at " + to_text(s.start[row]));
    }
  }
}

void check_edges(const Schedule& s, const Requirements& need, const std::vector<int>& row) {
  for (std::size_t k = 0; k < need.edges.size(); ++k) {
    const auto& [before, after] = need.edges[k];
    const int from = row[before], to = row[after];
    if (!at_most(s.end[from], s.start[to]))
      breach("task " + to_string(after) + " starts at " + to_text(s.start[to]) +
             " before its predecessor " + to_string(before) + " ends at " + to_text(s.end[from]));
    if (!need.transfer) continue;
    const double seconds =
        need.transfer(static_cast<int>(k), s.kind[from], s.unit[s.unit_begin[from]], s.kind[to],
                      s.unit[s.unit_begin[to]]);
    if (!at_most(s.end[from] + seconds, s.start[to]))
      breach("task " + to_string(after) + " starts at " + to_text(s.start[to]) +
             " before the data of its predecessor " + to_string(before) + ", which ends at " +
             to_text(s.end[from]) + ", can arrive: the transfer takes " + to_text(seconds) + " s");
  }
}

int units_of(const Schedule& s, int r) {
  return static_cast<int>(s.unit_begin[r + 1] - s.unit_begin[r]);
}

void check_needs(const Schedule& s, const Sharing& sharing) {
  const int rows = static_cast<int>(s.rows());
  for (int at = 0; at < rows; ++at) {
    const double now = s.start[at];
    check_interrupt();
    for (int k = 0; k < sharing.resources(); ++k) {
      const Resource& resource = sharing.resource(k);
      double sum = 0;
      for (int r = 0; r < rows; ++r)
        if (at_most(s.start[r], now) && !at_most(s.end[r], now)) {
          const std::ptrdiff_t column = units_of(s, r) - 1;
          sum += resource.need(s.task[r], std::min(column, resource.need.cols() - 1));
        }
      if (!at_most(sum, resource.capacity))
        breach("at " + to_text(now) + ", when task " + to_string(s.task[at]) + " starts, " +
               to_text(sum) + " of " + resource.name + " is needed: the capacity is " +
               to_text(resource.capacity));
    }
  }
}

// Seconds that a second of work of row r takes beside the rows `running`.
double pace_of(const Schedule& s, const Sharing& sharing, int r, const std::vector<int>& running) {
  double pairs = 1, traffic = 0;
  for (const int other : running) {
    if (sharing.bandwidth()) {
      const Matrix<double>& demand = sharing.bandwidth()->demand;
      const std::ptrdiff_t column = units_of(s, other) - 1;
      traffic += demand(s.task[other], std::min(column, demand.cols() - 1));
    }
    if (other == r || !sharing.slowdowns()) continue;
    const double slower = std::max(1.0, sharing.slowdowns()->table(s.task[r], s.task[other]));
    switch (sharing.slowdowns()->rule) {
      case SlowdownRule::sum:
        pairs = pairs + slower - 1;
        break;
      case SlowdownRule::product:
        pairs = pairs * slower;
        break;
      case SlowdownRule::max:
        pairs = std::max(pairs, slower);
        break;
    }
  }
  if (!sharing.bandwidth() || running.size() == 1) return pairs;
  const double excess = traffic / sharing.bandwidth()->capacity - 1;
  if (excess <= 0) return pairs;
  return std::max(pairs, 1 + sharing.bandwidth()->stall[s.task[r]] * excess);
}

// Ends from starts: between two events everything goes on at its pace.
void check_ends(const Schedule& s, const Requirements& need) {
  constexpr double kDone = 1e-12;  // rounding: of a task's work, or of the time
  std::vector<int> by_start(s.rows()), running;
  for (std::size_t r = 0; r < s.rows(); ++r) by_start[r] = static_cast<int>(r);
  std::sort(by_start.begin(), by_start.end(),
            [&](int a, int b) { return s.start[a] < s.start[b]; });
  std::vector<double> alone(s.rows()), left(s.rows(), 1);
  for (std::size_t r = 0; r < s.rows(); ++r)
    alone[r] = need.duration(s.task[r], s.kind[r], units_of(s, static_cast<int>(r)));
  double now = 0;
  for (std::size_t next = 0; next < by_start.size() || !running.empty();) {
    check_interrupt();
    double until = next < by_start.size() ? s.start[by_start[next]] : kInfinity;
    std::vector<double> rate, end;
    for (const int r : running) {
      rate.push_back(1 / (alone[r] * pace_of(s, *need.sharing, r, running)));
      end.push_back(now + left[r] / rate.back());
      until = std::min(until, end.back());
    }
    std::vector<int> still;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const int r = running[k];
      left[r] -= (until - now) * rate[k];
      // Late and short: what is left may take less time than the clock can tell.
      if (left[r] > kDone && end[k] > until * (1 + kDone)) {
        still.push_back(r);
      } else if (!close(s.end[r], until, kValidateTolerance)) {
        breach("task " + to_string(s.task[r]) + " ends at " + to_text(s.end[r]) +
               ": beside what runs with it, it ends at " + to_text(until));
      }
    }
    running = std::move(still);
    now = until;
    while (next < by_start.size() && s.start[by_start[next]] <= now)
      running.push_back(by_start[next++]);
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
