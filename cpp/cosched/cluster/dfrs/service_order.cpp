#include "cosched/cluster/dfrs/service_order.hpp"

namespace cosched::cluster::dfrs {

ServiceOrder::ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now,
                           const ServiceOrderParams& params)
    : params_(params), queue_(queue), now_(now) {
  std::size_t block_count = 0;
  for (const int shape : shapes) block_count += queue.group(shape).blocks.size();
  closed_blocks_.reserve(block_count);
  for (const int shape : shapes) {
    const IdleQueue::ShapeGroup& group = queue.group(shape);
    for (std::size_t k = 0; k < group.blocks.size(); ++k)
      closed_blocks_.push_back({.bound = group.bounds[k].at(now),
                                .shape = shape,
                                .number = group.blocks[k],
                                .old_bound = &group.bounds[k]});
  }
}

const std::vector<PrioritisedJob>& ServiceOrder::next_jobs() {
  jobs_.clear();
  const double min_priority = open_more_blocks();
  for (const OrderedBlock& block : open_blocks_)
    queue_.block(block.number).append_jobs(now_, min_priority, last_job_, block.shape, jobs_);
  if (closed_blocks_.empty()) open_blocks_.clear();
  std::sort(jobs_.begin(), jobs_.end(), ServedBefore());
  if (!jobs_.empty()) last_job_ = jobs_.back();
  return jobs_;
}

ServiceOrder::BlockIterator ServiceOrder::move_greatest_to_end(BlockIterator first,
                                                               BlockIterator last,
                                                               std::size_t count) {
  if (static_cast<std::size_t>(last - first) <= count) return first;
  const BlockIterator begin = last - static_cast<std::ptrdiff_t>(count);
  std::nth_element(first, begin, last,
                   [](const OrderedBlock& a, const OrderedBlock& b) { return a.bound < b.bound; });
  return begin;
}

double ServiceOrder::open_more_blocks() {
  const auto infinite_bounds = static_cast<std::size_t>(
      std::count_if(closed_blocks_.begin(), closed_blocks_.end(),
                    [](const OrderedBlock& block) { return block.bound == kInfinity; }));
  const std::size_t count =
      std::max({params_.first_part_blocks, open_blocks_.size(), infinite_bounds});
  const BlockIterator bounded_begin = move_greatest_to_end(
      closed_blocks_.begin(), closed_blocks_.end(), params_.bounded_per_opened_block * count);
  double min_priority = bounded_begin == closed_blocks_.begin() ? 0 : bounded_begin->bound;
  for (auto block = bounded_begin; block != closed_blocks_.end(); ++block) {
    if (block->old_bound == nullptr) continue;
    *block->old_bound = queue_.block(block->number).compute_bound(now_);
    block->bound = block->old_bound->at(now_);
    block->old_bound = nullptr;
  }
  const BlockIterator opened_begin =
      move_greatest_to_end(bounded_begin, closed_blocks_.end(), count);
  if (opened_begin != bounded_begin) min_priority = std::max(min_priority, opened_begin->bound);
  open_blocks_.insert(open_blocks_.end(), opened_begin, closed_blocks_.end());
  closed_blocks_.erase(opened_begin, closed_blocks_.end());
  return min_priority;
}

}  // namespace cosched::cluster::dfrs
