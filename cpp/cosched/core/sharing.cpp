#include "cosched/core/sharing.hpp"

#include "cosched/core/interrupt.hpp"
#include "cosched/core/progress.hpp"

namespace cosched {
namespace {

using std::to_string;

// Ends so close are one event: what rounding parts would be slowed for no time.
constexpr double kOneEvent = 1e-13;

std::string entry_of(const std::string& name, std::ptrdiff_t i, std::ptrdiff_t j, double value) {
  return name + "[" + to_string(i) + ", " + to_string(j) + "] = " + to_text(value);
}

void require_shape(const Matrix<double>& table, int tasks, const std::string& name) {
  if (table.rows() != tasks || table.cols() < 1)
    throw InvalidInstance(name + " has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) + "): expected a row for each of " +
                          to_string(tasks) + " tasks");
}

void require_amounts(const Matrix<double>& table, int tasks, const std::string& name) {
  require_shape(table, tasks, name);
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < table.cols(); ++j)
      if (!(table(i, j) >= 0) || table(i, j) == kInfinity)
        throw InvalidInstance(entry_of(name, i, j, table(i, j)) +
                              ": expected a finite number >= 0");
}

void require_slowdowns(const Slowdowns& slowdowns, int tasks) {
  const Matrix<double>& table = slowdowns.table;
  if (table.rows() != tasks || table.cols() != tasks)
    throw InvalidInstance("slowdowns has shape (" + to_string(table.rows()) + ", " +
                          to_string(table.cols()) + "): expected (" + to_string(tasks) + ", " +
                          to_string(tasks) + ")");
  for (int i = 0; i < tasks; ++i)
    for (int j = 0; j < tasks; ++j)
      if (i != j && (!(table(i, j) > 0) || table(i, j) == kInfinity))
        throw InvalidInstance(entry_of("slowdowns", i, j, table(i, j)) +
                              ": expected time beside / time alone, a finite number > 0");
}

void require_bandwidth(const Bandwidth& bandwidth, int tasks) {
  require_amounts(bandwidth.demand, tasks, "bandwidth.demand");
  if (!(bandwidth.capacity > 0))
    throw InvalidInstance("bandwidth.capacity = " + to_text(bandwidth.capacity) +
                          ": expected a number > 0");
  for (int i = 0; i < tasks; ++i)
    for (std::ptrdiff_t j = 0; j < bandwidth.demand.cols(); ++j)
      if (!leq(bandwidth.demand(i, j), bandwidth.capacity))
        throw InvalidInstance(entry_of("bandwidth.demand", i, j, bandwidth.demand(i, j)) +
                              ": expected at most the capacity " + to_text(bandwidth.capacity) +
                              ": alone a task cannot draw more");
  if (static_cast<int>(bandwidth.stall.size()) != tasks)
    throw InvalidInstance("bandwidth.stall has " + to_string(bandwidth.stall.size()) +
                          " entries: expected " + to_string(tasks));
  for (int i = 0; i < tasks; ++i)
    if (!(bandwidth.stall[i] >= 0 && bandwidth.stall[i] <= 1))
      throw InvalidInstance("bandwidth.stall[" + to_string(i) +
                            "] = " + to_text(bandwidth.stall[i]) + ": expected a share in 0..1");
}

bool constant_rows(const Matrix<double>& table) {
  for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
    for (std::ptrdiff_t j = 1; j < table.cols(); ++j)
      if (table(i, j) != table(i, 0)) return false;
  return true;
}

Matrix<double> rows_of(const Matrix<double>& table, const std::vector<int>& chosen) {
  Matrix<double> rows(static_cast<std::ptrdiff_t>(chosen.size()), table.cols());
  for (std::size_t k = 0; k < chosen.size(); ++k)
    rows.set_row(static_cast<std::ptrdiff_t>(k), table.row(chosen[k]));
  return rows;
}

bool no_worse(const Sharing& sharing, int i, const Choice& a, const Choice& b) {
  if (a.procs > b.procs || a.time > b.time) return false;
  if (sharing.load(i, a.procs) > sharing.load(i, b.procs)) return false;
  for (int r = 0; r < sharing.resources(); ++r)
    if (sharing.need(r, i, a.procs) > sharing.need(r, i, b.procs)) return false;
  return true;
}

}  // namespace

Sharing::Sharing(int tasks, std::vector<Resource> resources, std::optional<Slowdowns> slowdowns,
                 std::optional<Bandwidth> bandwidth)
    : tasks_(tasks),
      resources_(std::move(resources)),
      slowdowns_(std::move(slowdowns)),
      bandwidth_(std::move(bandwidth)) {
  for (const Resource& resource : resources_) {
    require_amounts(resource.need, tasks, "resources." + resource.name);
    if (!(resource.capacity >= 0))
      throw InvalidInstance("capacity." + resource.name + " = " + to_text(resource.capacity) +
                            ": expected a number >= 0");
    same_on_all_counts_ = same_on_all_counts_ && constant_rows(resource.need);
  }
  if (slowdowns_) {
    require_slowdowns(*slowdowns_, tasks);
    excess_ = Matrix<double>(tasks, tasks);
    for (int i = 0; i < tasks; ++i)
      for (int j = 0; j < tasks; ++j)
        if (i != j) excess_(i, j) = std::max(slowdowns_->table(i, j), 1.0) - 1;
  }
  if (bandwidth_) {
    require_bandwidth(*bandwidth_, tasks);
    same_on_all_counts_ = same_on_all_counts_ && constant_rows(bandwidth_->demand);
  }
}

bool Sharing::fits(const Run* set, int count) const {
  for (int r = 0; r < resources(); ++r) {
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += need(r, set[k].task, set[k].procs);
    if (!leq(sum, capacity(r))) return false;
  }
  return true;
}

std::vector<double> Sharing::factors(const std::vector<Run>& set) const {
  std::vector<double> result;
  double load_of_all = 0;
  for (const Run& run : set) load_of_all += load(run.task, run.procs);
  for (const Run& run : set) {
    double pairs = 1;
    for (const Run& other : set)
      if (other.task != run.task)
        pairs = with_companion(rule(), pairs, excess(run.task, other.task));
    const double waiting =
        set.size() > 1 ? 1 + stall(run.task) * std::max(0.0, load_of_all - 1) : 1;
    result.push_back(std::max(pairs, waiting));
  }
  return result;
}

std::vector<double> Sharing::ends(const std::vector<Run>& pack) const {
  Running running(this);
  for (const Run& run : pack) running.start(run, 0);
  std::vector<double> end_of(pack.size());
  while (running.size() > 0)
    for (const Running::Ended& ended : running.finish())
      for (std::size_t k = 0; k < pack.size(); ++k)
        if (pack[k].task == ended.task) end_of[k] = ended.end;
  return end_of;
}

std::shared_ptr<const Sharing> Sharing::without_slowdowns() const {
  if (resources_.empty()) return nullptr;
  return std::make_shared<const Sharing>(tasks_, resources_, std::nullopt, std::nullopt);
}

Sharing Sharing::select(const std::vector<int>& chosen) const {
  std::vector<Resource> resources = resources_;
  for (Resource& resource : resources) resource.need = rows_of(resource.need, chosen);
  std::optional<Slowdowns> slowdowns = slowdowns_;
  if (slowdowns) {
    const auto n = static_cast<std::ptrdiff_t>(chosen.size());
    slowdowns->table = Matrix<double>(n, n, 1);
    for (std::ptrdiff_t a = 0; a < n; ++a)
      for (std::ptrdiff_t b = 0; b < n; ++b)
        if (a != b) slowdowns->table(a, b) = slowdowns_->table(chosen[a], chosen[b]);
  }
  std::optional<Bandwidth> bandwidth = bandwidth_;
  if (bandwidth) {
    bandwidth->demand = rows_of(bandwidth_->demand, chosen);
    bandwidth->stall.clear();
    for (const int i : chosen) bandwidth->stall.push_back(bandwidth_->stall[i]);
  }
  return Sharing(static_cast<int>(chosen.size()), std::move(resources), std::move(slowdowns),
                 std::move(bandwidth));
}

std::vector<Choice> choices(const Sharing& sharing, int i, int procs,
                            const std::function<double(int)>& given) {
  std::vector<Choice> kept;
  Poll poll;
  for (int q = 1; q <= procs; ++q) {
    const Choice choice{q, given(q)};
    if (choice.time == kInfinity || !sharing.fits_alone(i, q)) continue;
    poll.count(static_cast<std::int64_t>(kept.size()) + 1);
    const bool beaten = sharing.same_on_all_counts()
                            ? !kept.empty() && kept.back().time <= choice.time
                            : std::any_of(kept.begin(), kept.end(), [&](const Choice& other) {
                                return no_worse(sharing, i, other, choice);
                              });
    if (!beaten) kept.push_back(choice);
  }
  return kept;
}

void Running::start(const Run& run, double now) {
  runs_.push_back(run);
  members_.push_back({run.alone, now, 1, now + run.alone});
  slow(now);
}

double Running::next_end() const {
  double next = kInfinity;
  for (const Member& member : members_) next = std::min(next, member.end);
  return next;
}

const std::vector<Running::Ended>& Running::finish() {
  const double now = next_end(), last = now + kOneEvent * std::abs(now);
  ended_.clear();
  std::size_t kept = 0;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (members_[k].end <= last) {
      ended_.push_back({runs_[k].task, members_[k].end});
      continue;
    }
    members_[kept] = members_[k];
    runs_[kept++] = runs_[k];
  }
  require_progress(!ended_.empty(), "tasks side by side");
  members_.resize(kept);
  runs_.resize(kept);
  slow(now);
  return ended_;
}

// What a task has done counts at its old factor; where that stays, its end does, to the bit.
void Running::slow(double now) {
  if (sharing_ == nullptr || !sharing_->slows()) return;
  const std::vector<double> factors = sharing_->factors(runs_);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    Member& member = members_[k];
    if (factors[k] == member.factor) continue;
    member.left = std::max(0.0, member.left - (now - member.since) / member.factor);
    member.since = now;
    member.factor = factors[k];
    member.end = now + member.left * member.factor;
  }
}

}  // namespace cosched
