#include "cosched/moldable/search/search_options.hpp"

namespace cosched::moldable::search {

std::int64_t total_work(const Instance& instance, std::int64_t work) {
  if (work < 0)
    throw InvalidInstance("work = " + std::to_string(work) + ": expected a number >= 0");
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max() / 2;
  return work > largest / instance.jobs() ? largest : work * instance.jobs();
}

}  // namespace cosched::moldable::search
