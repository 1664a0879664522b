#include "cosched/packs/model/instance.hpp"

namespace cosched::packs {
namespace {

void require_no_overflow(const Times& times) {
  const Table& table = times.table();
  const double longest = longest_finite(table);
  if (std::isfinite(longest * times.tasks() * times.procs())) return;
  const auto place = std::find(table.begin(), table.end(), longest) - table.begin();
  throw InvalidInstance("times[" + std::to_string(place / table.cols()) + ", " +
                        std::to_string(place % table.cols()) + "] = " + to_text(longest) +
                        ": expected times whose sum over " + std::to_string(times.tasks()) +
                        " tasks and " + std::to_string(times.procs()) +
                        " processors is a finite number");
}

int clamped(const Times& times, int max_tasks) {
  if (max_tasks < 1)
    throw InvalidInstance("max_tasks = " + std::to_string(max_tasks) +
                          ": expected at least one task a pack");
  return std::min({max_tasks, times.tasks(), times.procs()});
}

// A sum of n positive terms, each with a few roundings, is off by at most (n + 4) rounding units:
// twice that is taken off.
double rounded_down(double sum, int terms) {
  return sum * (1 - 2 * (terms + 4.0) * std::numeric_limits<double>::epsilon());
}

}  // namespace

Instance::Instance(Times times, int max_tasks, std::shared_ptr<const Sharing> sharing)
    : times_(std::move(times)),
      max_tasks_(clamped(times_, max_tasks)),
      sharing_(std::move(sharing)) {
  require_no_overflow(times_);
  if (sharing_)
    require_each_fits(*sharing_, times_.tasks(), times_.procs(),
                      [&](int i, int q) { return times_.given(i, q); });
}

Instance Instance::alone() const {
  if (!sharing_ || sharing_->resources() == 0) return Instance(times_, max_tasks_);
  Table fitting = times_.table();
  for (int i = 0; i < tasks(); ++i)
    for (int q = 1; q <= procs(); ++q)
      if (!sharing_->fits_alone(i, q)) fitting(i, q - 1) = kInfinity;
  return Instance(Times(std::move(fitting)), max_tasks_);
}

void require_unshared(const Instance& instance, const char* function) {
  if (instance.sharing() == nullptr) return;
  throw InvalidInstance(std::string(function) +
                        " does not know what tasks share: expected an instance without resources "
                        "and slow-downs (packs::solve takes any)");
}

double least_work(const Times& times, int task) {
  double least = times.work(task, 1);
  for (int q = 2; q <= times.procs(); ++q) least = std::min(least, times.work(task, q));
  return least;
}

int fewest_within(const Times& times, int task, double length) {
  const double *row = times.row(task), *end = row + times.procs();
  const auto longer = [length](double t) { return t > length; };
  return static_cast<int>(std::partition_point(row, end, longer) - row) + 1;
}

double area_bound(const Instance& instance) {
  const Times& times = instance.times();
  double sum = 0;
  for (int i = 0; i < instance.tasks(); ++i) {
    sum += least_work(times, i) / instance.procs();
  }
  return rounded_down(sum, instance.tasks());
}

double longest_bound(const Instance& instance) {
  std::vector<double> least(instance.tasks());
  for (int i = 0; i < instance.tasks(); ++i) least[i] = instance.times().least(i);
  std::sort(least.begin(), least.end(), std::greater<>());
  double sum = 0;
  for (int i = 0; i < instance.tasks(); i += instance.max_tasks()) sum += least[i];
  return rounded_down(sum, instance.tasks());
}

}  // namespace cosched::packs
