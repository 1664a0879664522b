#include "cosched/bags/model/instance.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::bags {
namespace {

using std::to_string;

std::string describe_entry(const char* name, int i, int j, double value) {
  return std::string(name) + "[" + to_string(i) + ", " + to_string(j) + "] = " + to_text(value);
}

void check_integers(const std::vector<std::int64_t>& values, const char* name, const char* what,
                    std::int64_t max_sum) {
  if (values.empty())
    throw InvalidInstance(std::string(name) + " is empty: expected at least one " + what);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] < 0 || values[k] > max_sum)
      throw InvalidInstance(std::string(name) + "[" + to_string(k) + "] = " + to_string(values[k]) +
                            ": expected an integer in 0.." + to_string(max_sum));
    sum += values[k];  // cannot overflow: the last sum was <= most <= 2^53
    if (sum > max_sum)
      throw InvalidInstance(std::string(name) + ": expected at most " + to_string(max_sum) +
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
    throw InvalidInstance(describe_entry(name, i, j, value) +
                          ": expected a positive finite number of " + unit);
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
  check_price_and_cost();
  check_pairs(extensions.allowed);
  std::vector<double>& idle = extensions.idle_power;
  if (idle.empty()) idle.assign(machines_.size(), 0);
  set_joules(idle);
  check_sums();
  limit_power(idle, extensions.power_cap);
}

void Instance::check_price_and_cost() const {
  if (!(price_ >= 0) || price_ == kInfinity)
    throw InvalidInstance("price = " + to_text(price_) + ": expected a finite number >= 0");
  if (!(energy_cost_ >= 0) || energy_cost_ == kInfinity)
    throw InvalidInstance("energy_cost = " + to_text(energy_cost_) +
                          ": expected a finite price of a joule, >= 0");
}

// Checks times and powers of the allowed pairs, and makes the others infinite.
void Instance::check_pairs(const std::vector<char>& allowed) {
  if (!allowed.empty() && allowed.size() != static_cast<std::size_t>(etc_.size()))
    throw InvalidInstance("allowed has " + to_string(allowed.size()) + " entries: expected " +
                          to_string(etc_.size()));
  for (int i = 0; i < types(); ++i) {
    bool has_machine = false;
    for (int j = 0; j < machine_types(); ++j) {
      if (!allowed.empty() && !allowed[static_cast<std::size_t>(i) * machine_types() + j]) {
        etc_(i, j) = kInfinity;
        apc_(i, j) = kInfinity;
        continue;
      }
      has_machine = has_machine || machines_[j] > 0;
      check_positive("etc", i, j, etc_(i, j), "seconds");
      check_positive("apc", i, j, apc_(i, j), "watts");
    }
    if (!has_machine && counts_[i] > 0)
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
      if (!is_allowed(i, j)) continue;
      if (idle[j] > apc_(i, j))
        throw InvalidInstance("idle_power[" + to_string(j) + "] = " + to_text(idle[j]) +
                              " exceeds " + describe_entry("apc", i, j, apc_(i, j)) +
                              ": expected less power idle than busy");
      joules_(i, j) = (apc_(i, j) - idle[j]) * etc_(i, j);
    }
  }
}

void Instance::check_sums() {
  double seconds = 0, cost = 0, shortest = kInfinity;
  for (int i = 0; i < types(); ++i) {
    const auto n = static_cast<double>(counts_[i]);
    thriftiest_machine_types_.push_back(0);
    for (int j = 0; j < machine_types(); ++j) {
      if (!is_allowed(i, j)) continue;
      seconds += n * etc_(i, j);
      cost += n * etc_(i, j) * apc_(i, j) * std::max(1.0, energy_cost_);
      if (!std::isfinite(seconds) || !std::isfinite(cost))
        throw InvalidInstance(describe_entry("etc", i, j, etc_(i, j)) + " and " +
                              describe_entry("apc", i, j, apc_(i, j)) +
                              ": expected times and energies whose sums are finite");
      shortest = std::min(shortest, etc_(i, j));
      if (joules_(i, j) < joules_(i, thriftiest_machine_types_[i]))
        thriftiest_machine_types_[i] = j;
    }
    if (n > 0) least_joules_ += n * joules_(i, thriftiest_machine_types_[i]);
  }
  if (!std::isfinite(std::max(price_, cost) / shortest))
    throw InvalidInstance("price = " + to_text(price_) + " with times of " + to_text(shortest) +
                          " s: expected profit rates that are finite");
}

void Instance::limit_power(const std::vector<double>& idle, double power_cap) {
  for (int j = 0; j < machine_types(); ++j)
    idle_power_ += static_cast<double>(machines_[j]) * idle[j];
  if (!std::isfinite(idle_power_ * std::max(1.0, energy_cost_)))
    throw InvalidInstance("idle_power: expected a finite sum over all machines");
  if (!(power_cap > idle_power_))
    throw InvalidInstance("power_cap = " + to_text(power_cap) +
                          ": expected more watts than all machines draw idle, " +
                          to_text(idle_power_));
  power_above_idle_ = power_cap - idle_power_;
  double joules = 0;  // no assignment needs more, and each must end within a finite time
  for (int i = 0; i < types(); ++i)
    for (int j = 0; j < machine_types(); ++j)
      if (is_allowed(i, j)) joules += static_cast<double>(counts_[i]) * joules_(i, j);
  const double longest = joules / power_above_idle_;
  if (!std::isfinite(longest * std::max(1.0, idle_power_) * std::max(1.0, energy_cost_)))
    throw InvalidInstance("power_cap = " + to_text(power_cap) + ": expected more watts above the " +
                          to_text(idle_power_) + " drawn idle, so that times are finite");
}

}  // namespace cosched::bags
