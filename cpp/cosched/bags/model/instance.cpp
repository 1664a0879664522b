#include "cosched/bags/model/instance.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::bags {
namespace {

using std::to_string;

std::string entry(const char* name, int i, int j, double value) {
  return std::string(name) + "[" + to_string(i) + ", " + to_string(j) + "] = " + to_text(value);
}

void check_integers(const std::vector<std::int64_t>& values, const char* name, const char* what,
                    std::int64_t most) {
  if (values.empty())
    throw InvalidInstance(std::string(name) + " is empty: expected at least one " + what);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] < 0 || values[k] > most)
      throw InvalidInstance(std::string(name) + "[" + to_string(k) + "] = " + to_string(values[k]) +
                            ": expected an integer in 0.." + to_string(most));
    sum += values[k];  // cannot overflow: the last sum was <= most <= 2^53
    if (sum > most)
      throw InvalidInstance(std::string(name) + ": expected at most " + to_string(most) +
                            " in all");
  }
  if (sum == 0) throw InvalidInstance(std::string(name) + " are all 0: expected at least one");
}

void check_shape(const Table& table, const char* name, int rows, int columns) {
  if (table.rows() != rows || table.cols() != columns)
    throw InvalidInstance(std::string(name) + " has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) +
                          "): expected a row a task type and a column a "
                          "machine type, (" +
                          to_string(rows) + ", " + to_string(columns) + ")");
}

void check_positive(const char* name, int i, int j, double value, const char* unit) {
  if (!(value > 0) || value == kInfinity)
    throw InvalidInstance(entry(name, i, j, value) + ": expected a positive finite number of " +
                          unit);
}

}  // namespace

Instance::Instance(std::vector<std::int64_t> counts, std::vector<std::int64_t> machines, Table etc,
                   Table apc, double price, double energy_cost, Extensions extensions)
    : counts_(std::move(counts)),
      machines_(std::move(machines)),
      etc_(std::move(etc)),
      apc_(std::move(apc)),
      price_(price),
      energy_cost_(energy_cost) {
  check_integers(counts_, "counts", "task type", kMostTasks);
  check_integers(machines_, "machines", "machine type", kMostMachines);
  check_shape(etc_, "etc", types(), machine_types());
  check_shape(apc_, "apc", types(), machine_types());
  check_money();
  close_pairs(extensions.allowed);
  std::vector<double>& idle = extensions.idle_power;
  if (idle.empty()) idle.assign(machines_.size(), 0);
  set_joules(idle);
  sum_up();
  limit_power(idle, extensions.power_cap);
}

void Instance::check_money() const {
  if (!(price_ >= 0) || price_ == kInfinity)
    throw InvalidInstance("price = " + to_text(price_) + ": expected a finite number >= 0");
  if (!(energy_cost_ >= 0) || energy_cost_ == kInfinity)
    throw InvalidInstance("energy_cost = " + to_text(energy_cost_) +
                          ": expected a finite price of a joule, >= 0");
}

// Checks times and powers of the allowed pairs, and makes the others infinite.
void Instance::close_pairs(const std::vector<char>& allowed) {
  if (!allowed.empty() && allowed.size() != static_cast<std::size_t>(etc_.size()))
    throw InvalidInstance("allowed has " + to_string(allowed.size()) + " entries: expected " +
                          to_string(etc_.size()));
  for (int i = 0; i < types(); ++i) {
    bool somewhere = false;
    for (int j = 0; j < machine_types(); ++j) {
      if (!allowed.empty() && !allowed[static_cast<std::size_t>(i) * machine_types() + j]) {
        etc_(i, j) = apc_(i, j) = kInfinity;
        continue;
      }
      somewhere = somewhere || machines_[j] > 0;
      check_positive("etc", i, j, etc_(i, j), "seconds");
      check_positive("apc", i, j, apc_(i, j), "watts");
    }
    if (!somewhere && counts_[i] > 0)
      throw InvalidInstance(
          "allowed[" + to_string(i) +
          "]: expected at least one machine type with machines for each task type");
  }
}

void Instance::set_joules(const std::vector<double>& idle) {
  if (idle.size() != machines_.size())
    throw InvalidInstance("idle_power has " + to_string(idle.size()) +
                          " entries: expected one a machine type, " + to_string(machines_.size()));
  joules_ = Table(types(), machine_types(), kInfinity);
  for (int j = 0; j < machine_types(); ++j) {
    if (!(idle[j] >= 0) || idle[j] == kInfinity)
      throw InvalidInstance("idle_power[" + to_string(j) + "] = " + to_text(idle[j]) +
                            ": expected a finite number of watts, >= 0");
    for (int i = 0; i < types(); ++i) {
      if (!allowed(i, j)) continue;
      if (idle[j] > apc_(i, j))
        throw InvalidInstance("idle_power[" + to_string(j) + "] = " + to_text(idle[j]) +
                              " exceeds " + entry("apc", i, j, apc_(i, j)) +
                              ": expected less power idle than busy");
      joules_(i, j) = (apc_(i, j) - idle[j]) * etc_(i, j);
    }
  }
}

void Instance::sum_up() {
  double seconds = 0, cost = 0, shortest = kInfinity;
  for (int i = 0; i < types(); ++i) {
    const auto n = static_cast<double>(counts_[i]);
    thriftiest_.push_back(0);
    for (int j = 0; j < machine_types(); ++j) {
      if (!allowed(i, j)) continue;
      seconds += n * etc_(i, j);
      cost += n * etc_(i, j) * apc_(i, j) * std::max(1.0, energy_cost_);
      if (!std::isfinite(seconds) || !std::isfinite(cost))
        throw InvalidInstance(entry("etc", i, j, etc_(i, j)) + " and " +
                              entry("apc", i, j, apc_(i, j)) +
                              ": expected times and energies whose sums are finite");
      shortest = std::min(shortest, etc_(i, j));
      if (joules_(i, j) < joules_(i, thriftiest_[i])) thriftiest_[i] = j;
    }
    if (n > 0) least_joules_ += n * joules_(i, thriftiest_[i]);
  }
  if (!std::isfinite(std::max(price_, cost) / shortest))
    throw InvalidInstance("price = " + to_text(price_) + " with times of " + to_text(shortest) +
                          " s: expected profit rates that are finite");
}

void Instance::limit_power(const std::vector<double>& idle, double power_cap) {
  for (int j = 0; j < machine_types(); ++j) idle_ += static_cast<double>(machines_[j]) * idle[j];
  if (!std::isfinite(idle_ * std::max(1.0, energy_cost_)))
    throw InvalidInstance("idle_power: expected a finite sum over all machines");
  if (!(power_cap > idle_))
    throw InvalidInstance("power_cap = " + to_text(power_cap) +
                          ": expected more watts than all machines draw idle, " + to_text(idle_));
  power_left_ = power_cap - idle_;
  double joules = 0;  // no assignment needs more, and each must end within a finite time
  for (int i = 0; i < types(); ++i)
    for (int j = 0; j < machine_types(); ++j)
      if (allowed(i, j)) joules += static_cast<double>(counts_[i]) * joules_(i, j);
  const double longest = joules / power_left_;
  if (!std::isfinite(longest * std::max(1.0, idle_) * std::max(1.0, energy_cost_)))
    throw InvalidInstance("power_cap = " + to_text(power_cap) + ": expected more watts above the " +
                          to_text(idle_) + " drawn idle, so that times are finite");
}

namespace {

// 0 of no machines.
double longest(const std::vector<double>& loads) {
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

}  // namespace

double joules_of(const Instance& instance, const Counts& counts) {
  double sum = 0;
  for (int i = 0; i < instance.types(); ++i)
    for (int j = 0; j < instance.machine_types(); ++j)
      if (counts(i, j) > 0) sum += static_cast<double>(counts(i, j)) * instance.joules(i, j);
  return sum;
}

Plan evaluated(const Instance& instance, Plan plan) {
  plan.joules = joules_of(instance, plan.counts);
  plan.makespan = instance.least_period(plan.joules);
  for (const std::vector<double>& loads : plan.loads)
    plan.makespan = std::max(plan.makespan, longest(loads));
  plan.energy = plan.joules + instance.idle_power() * plan.makespan;
  plan.profit_rate = instance.profit_rate(plan.joules, plan.makespan);
  return plan;
}

std::vector<int> list_machines(const Instance& instance, std::vector<int>& kind,
                               std::vector<int>& number) {
  std::vector<int> first(instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j) {
    first[j] = static_cast<int>(kind.size());
    for (int k = 0; k < instance.machines(j); ++k) {
      kind.push_back(j);
      number.push_back(k);
    }
  }
  return first;
}

Plan plan_of_runs(const Instance& instance, std::vector<Run> runs) {
  Plan plan;
  plan.counts = Counts(instance.types(), instance.machine_types());
  for (int j = 0; j < instance.machine_types(); ++j)
    plan.loads.emplace_back(instance.machines(j), 0.0);
  for (const auto& [i, j, k, n] : runs) {
    plan.counts(i, j) += n;
    plan.loads[j][k] += static_cast<double>(n) * instance.etc(i, j);
  }
  plan.runs = std::move(runs);
  return evaluated(instance, std::move(plan));
}

Timetable timetable(const Instance& instance, const Plan& plan) {
  double latest = 0;
  for (const std::vector<double>& loads : plan.loads) latest = std::max(latest, longest(loads));
  const bool waits = plan.makespan > latest;
  const std::size_t rows = plan.runs.size();
  Timetable table{std::vector<double>(rows), std::vector<double>(rows)};
  bool late = true;  // of the machine that ends at `last`
  for (std::size_t last = rows; last > 0;) {
    std::size_t first = last - 1;
    const Run& run = plan.runs[first];
    while (first > 0 && plan.runs[first - 1].machine == run.machine &&
           plan.runs[first - 1].machine_type == run.machine_type)
      --first;
    double now = waits && late ? plan.makespan - plan.loads[run.machine_type][run.machine] : 0;
    for (std::size_t r = first; r < last; ++r) {
      table.start[r] = now;
      now += static_cast<double>(plan.runs[r].count) *
             instance.etc(plan.runs[r].task_type, plan.runs[r].machine_type);
      table.end[r] = now;
    }
    if (waits && late) table.end[last - 1] = plan.makespan;  // now, up to rounding
    late = !late;
    last = first;
  }
  return table;
}

}  // namespace cosched::bags
