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

int clamp_max_tasks(const Times& times, int max_tasks) {
  if (max_tasks < 1)
    throw InvalidInstance("max_tasks = " + std::to_string(max_tasks) +
                          ": expected at least one task a pack");
  return std::min({max_tasks, times.tasks(), times.procs()});
}

}  // namespace

Instance::Instance(Times times, int max_tasks, std::shared_ptr<const Sharing> sharing)
    : times_(std::move(times)),
      max_tasks_(clamp_max_tasks(times_, max_tasks)),
      sharing_(std::move(sharing)) {
  require_no_overflow(times_);
  if (sharing_)
    require_each_fits(*sharing_, times_.tasks(), times_.procs(),
                      [&](int i, int q) { return times_.measured_time(i, q); });
}

Instance Instance::without_sharing() const {
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

}  // namespace cosched::packs
