#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable {
namespace {

std::string describe_entry(const char* name, int i, double value) {
  return std::string(name) + "[" + std::to_string(i) + "] = " + to_text(value);
}

void require_nonnegative_entries(const std::vector<double>& values, const char* name, int jobs) {
  if (static_cast<int>(values.size()) != jobs)
    throw InvalidInstance(std::string(name) + " has " + std::to_string(values.size()) +
                          " entries for " + std::to_string(jobs) + " jobs");
  for (int i = 0; i < jobs; ++i)
    if (!(values[i] >= 0) || values[i] == kInfinity)
      throw InvalidInstance(describe_entry(name, i, values[i]) + ": expected a finite number >= 0");
}

void require_profile(const Downey& profile, int i, int machines) {
  if (!(profile.sequential_time > 0) || profile.sequential_time == kInfinity)
    throw InvalidInstance(describe_entry("t1", i, profile.sequential_time) +
                          ": expected a positive finite number of seconds");
  if (!(profile.parallelism >= 1) || profile.parallelism == kInfinity)
    throw InvalidInstance(describe_entry("A", i, profile.parallelism) +
                          ": expected a finite number >= 1");
  if (!(profile.variance >= 0) || profile.variance == kInfinity)
    throw InvalidInstance(describe_entry("sigma", i, profile.variance) +
                          ": expected a finite number >= 0");
  // The formula's own products, and the least time, must be ordinary numbers.
  if (profile.parallelism * (profile.variance + 1) * machines == kInfinity ||
      !(profile.time(machines) > 0))
    throw InvalidInstance(describe_entry("t1", i, profile.sequential_time) + ", " +
                          describe_entry("A", i, profile.parallelism) + ", " +
                          describe_entry("sigma", i, profile.variance) +
                          ": so extreme that times on 1.." + std::to_string(machines) +
                          " processors overflow or vanish");
}

// Columns above m can never be used.
Times keep_first_columns(Times times, std::optional<int> machines) {
  if (!machines || *machines < 1 || *machines >= times.procs()) return times;
  Table columns(times.tasks(), *machines);
  for (int i = 0; i < times.tasks(); ++i)
    std::copy_n(times.table().row(i).begin(), *machines, columns.row(i).begin());
  return Times(std::move(columns));
}

}  // namespace

double Downey::speedup(int q) const {
  const double a = parallelism, s = variance;
  if (s <= 1) {
    if (q <= a) return a * q / (a + s * (q - 1) / 2);
    // Divided by q, so that it rises with q even where s is so small that only rounding is left.
    if (q <= 2 * a - 1) return a / (s * (a - 0.5) / q + (1 - s / 2));
    return a;
  }
  if (q <= a + a * s - s) return q * a * (s + 1) / (s * (q + a - 1) + a);
  return a;
}

Instance::Instance(const Times& times, std::vector<double> weights, std::vector<double> release,
                   std::optional<int> machines)
    : Instance(std::optional<Times>(keep_first_columns(times, machines)), {}, std::move(weights),
               std::move(release), machines.value_or(times.procs())) {}

Instance::Instance(std::vector<Downey> profiles, std::vector<double> weights,
                   std::vector<double> release, int machines)
    : Instance(std::nullopt, std::move(profiles), std::move(weights), std::move(release),
               machines) {}

Instance::Instance(std::optional<Times> times, std::vector<Downey> profiles,
                   std::vector<double> weights, std::vector<double> release, int machines)
    : times_(std::move(times)),
      profiles_(std::move(profiles)),
      weights_(std::move(weights)),
      releases_(std::move(release)),
      machines_(machines),
      columns_(times_ ? times_->procs() : machines) {
  if (releases_.empty()) releases_.assign(weights_.size(), 0);
  require_valid();
  for (const double r : releases_) has_releases_ = has_releases_ || r > 0;
  fill_cheapest_procs();
}

void Instance::require_valid() const {
  if (machines_ < 1 || machines_ > kMostMachines)
    throw InvalidInstance("machines = " + std::to_string(machines_) + ": expected 1.." +
                          std::to_string(kMostMachines));
  const int n = times_ ? times_->tasks() : static_cast<int>(profiles_.size());
  if (n == 0) throw InvalidInstance("no jobs: expected at least one");
  for (int i = 0; i < static_cast<int>(profiles_.size()); ++i)
    require_profile(profiles_[i], i, machines_);
  require_nonnegative_entries(weights_, "weights", n);
  require_nonnegative_entries(releases_, "release", n);
  double longest = 0, latest = 0, weight = 0;
  if (times_) longest = longest_finite(times_->table());
  for (const Downey& profile : profiles_) longest = std::max(longest, profile.sequential_time);
  for (const double r : releases_) latest = std::max(latest, r);
  for (const double w : weights_) weight += w;
  // No solver builds anything longer than a few times this, or adds up more work.
  const double horizon = 8 * (latest + longest * n) * machines_;
  if (horizon * std::max(weight, 1.0) == kInfinity)
    throw InvalidInstance("times, weights or releases are so large that sums of them overflow");
}

void Instance::fill_cheapest_procs() {
  if (!times_) return;
  bool monotone = true;
  for (int i = 0; i < jobs() && monotone; ++i) {
    double most = 0;  // on fewer processors
    for (int q = 1; q <= columns_ && monotone; ++q) {
      monotone = work(i, q) >= most * (1 - kMonotoneTolerance);
      most = std::max(most, work(i, q));
    }
  }
  if (monotone) return;
  cheapest_procs_.resize(static_cast<std::size_t>(jobs()) * columns_);
  for (int i = 0; i < jobs(); ++i) {
    int* cheapest =
        &cheapest_procs_[static_cast<std::size_t>(i) * columns_];  // [q - 1], as the rows are
    for (int q = columns_, best = columns_; q >= 1; --q) {
      if (work(i, q) <= work(i, best)) best = q;
      cheapest[q - 1] = best;
    }
  }
}

int Instance::gamma(int i, double d) const {
  return time(i, 1) <= d ? 1 : fewest_procs_above(i, 1, d);
}

// Formulas are monotone up to rounding only, so what is no faster may seem to be: it is looked for
// above q, and the count grows whatever rounding says.
int Instance::next_faster_procs(int i, int q) const {
  return q >= columns_ ? 0 : fewest_procs_above(i, q, std::nextafter(time(i, q), 0.0));
}

int Instance::fewest_procs_above(int i, int low, double d) const {
  if (!(time(i, columns_) <= d)) return 0;
  int high = columns_;  // t(low) > d >= t(high)
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (time(i, middle) <= d)
      high = middle;
    else
      low = middle;
  }
  return high;
}

int Instance::cheapest_procs(int i, double d) const {
  const int q = gamma(i, d);
  return q == 0 ? 0 : cheapest_procs_from(i, q);
}

double Instance::least_area(int i, double d) const {
  const int q = cheapest_procs(i, d);
  return q == 0 ? kInfinity : work(i, q);
}

void Instance::require_no_releases(const char* algorithm) const {
  if (!has_releases_) return;
  int i = 0;
  while (releases_[i] == 0) ++i;
  throw InvalidInstance(describe_entry("release", i, releases_[i]) + ": " + algorithm +
                        " is off-line; on-line batches (online) handle release dates");
}

void Instance::require_no_edges(const char* algorithm) const {
  if (graph_ != nullptr)
    throw InvalidInstance(std::string(algorithm) +
                          " does not know edges: expected jobs that wait for nobody");
}

Instance Instance::with_sharing(std::shared_ptr<const Sharing> sharing) const {
  if (sharing)
    require_each_fits(*sharing, jobs(), machines(), [&](int i, int q) { return exact_time(i, q); });
  Instance copy = *this;
  copy.sharing_ = std::move(sharing);
  return copy;
}

Instance Instance::with_precedence(std::shared_ptr<const TaskGraph> graph) const {
  if (graph && graph->tasks() != jobs())
    throw InvalidInstance("the graph has " + std::to_string(graph->tasks()) + " jobs: expected " +
                          std::to_string(jobs()));
  Instance copy = *this;
  copy.graph_ = std::move(graph);
  return copy;
}

Instance Instance::select(const std::vector<int>& jobs) const {
  Instance selection = select_independent(jobs);
  if (!sharing_) return selection;
  return selection.with_sharing(std::make_shared<const Sharing>(sharing_->select(jobs)));
}

Instance Instance::select_independent(const std::vector<int>& chosen) const {
  std::vector<double> weights;
  std::vector<Downey> profiles;
  for (const int i : chosen) {
    if (i < 0 || i >= jobs())
      throw InvalidInstance("job " + std::to_string(i) + " is not in 0.." +
                            std::to_string(jobs() - 1));
    weights.push_back(weights_[i]);
    if (!times_) profiles.push_back(profiles_[i]);
  }
  if (!times_) return Instance(std::move(profiles), std::move(weights), {}, machines_);
  Table rows(static_cast<std::ptrdiff_t>(chosen.size()), columns_);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    rows.set_row(static_cast<std::ptrdiff_t>(k), times_->table().row(chosen[k]));
  return Instance(Times(std::move(rows)), std::move(weights), {}, machines_);
}

}  // namespace cosched::moldable
