#include "cosched/cluster/dfrs/idle_queue.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster::dfrs {

IdleQueue::IdleQueue(const std::vector<JobShape>& shapes)
    : shapes_(shapes), places_(shapes.size()) {
  std::sort(shapes_.begin(), shapes_.end());
  shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
  groups_.resize(shapes_.size());
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    places_[rank].shape = static_cast<int>(
        std::lower_bound(shapes_.begin(), shapes_.end(), shapes[rank]) - shapes_.begin());
}

void IdleQueue::add(int rank, double submit, double virtual_time) {
  // A group is compacted when it has more blocks than these and its jobs would fill half of.
  constexpr std::size_t kSpareBlocks = 4;
  JobPlace& place = places_[rank];
  ShapeGroup& group = groups_[place.shape];
  if (group.job_count == 0)
    present_shapes_.insert(
        std::lower_bound(present_shapes_.begin(), present_shapes_.end(), place.shape), place.shape);
  if (group.blocks.empty() || blocks_[group.blocks.back()].job_count() == IdleBlock::kMaxJobs) {
    const std::size_t half_full_blocks =
        static_cast<std::size_t>(group.job_count) / (IdleBlock::kMaxJobs / 2);
    if (group.blocks.size() > kSpareBlocks + half_full_blocks) compact(group);
    group.blocks.push_back(new_block());
    group.bounds.push_back({});
  }
  ++group.job_count;
  place.block = group.blocks.back();
  IdleBlock& block = blocks_[place.block];
  place.position = block.job_count();
  PriorityBound& bound = group.bounds.back();
  bound = block.add(rank, submit, virtual_time, bound);
}

void IdleQueue::remove(int rank) {
  const JobPlace place = places_[rank];
  IdleBlock& block = blocks_[place.block];
  places_[block.rank(block.job_count() - 1)].position = place.position;
  block.remove(place.position);
  ShapeGroup& group = groups_[place.shape];
  if (block.job_count() == 0) {
    const auto block_place = std::find(group.blocks.begin(), group.blocks.end(), place.block);
    group.bounds.erase(group.bounds.begin() + (block_place - group.blocks.begin()));
    group.blocks.erase(block_place);
    free_blocks_.push_back(place.block);
  }
  --group.job_count;
  if (group.job_count == 0)
    present_shapes_.erase(
        std::lower_bound(present_shapes_.begin(), present_shapes_.end(), place.shape));
}

std::vector<int> IdleQueue::ranks() const {
  std::vector<int> ranks;
  for (const int shape : present_shapes_)
    for (const int number : groups_[shape].blocks)
      for (int k = 0; k < blocks_[number].job_count(); ++k)
        ranks.push_back(blocks_[number].rank(k));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void IdleQueue::append_jobs(double now, double min_priority,
                            std::vector<PrioritisedJob>& jobs) const {
  for (const int shape : present_shapes_) {
    const ShapeGroup& group = groups_[shape];
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
      PriorityBound& bound = group.bounds[k];
      if (bound.at(now) < min_priority) continue;
      const IdleBlock& block = blocks_[group.blocks[k]];
      bound = block.compute_bound(now);
      if (bound.at(now) >= min_priority)
        block.append_jobs(now, min_priority, kBeforeAllJobs, shape, jobs);
    }
  }
}

int IdleQueue::new_block() {
  if (free_blocks_.empty()) {
    free_blocks_.push_back(static_cast<int>(blocks_.size()));
    blocks_.emplace_back();
  }
  const int number = free_blocks_.back();
  free_blocks_.pop_back();
  return number;
}

void IdleQueue::compact(ShapeGroup& group) {
  std::size_t target_index = 0;  // of the block that is being filled
  for (std::size_t k = 1; k < group.blocks.size(); ++k)
    while (target_index < k && blocks_[group.blocks[k]].job_count() > 0) {
      IdleBlock& source = blocks_[group.blocks[k]];
      IdleBlock& target = blocks_[group.blocks[target_index]];
      if (target.job_count() == IdleBlock::kMaxJobs) {
        ++target_index;
        continue;
      }
      JobPlace& place = places_[source.rank(source.job_count() - 1)];
      place.block = group.blocks[target_index];
      place.position = target.job_count();
      target.take_last_job(source);
    }
  std::vector<int> filled_blocks;
  for (const int number : group.blocks) {
    if (blocks_[number].job_count() == 0)
      free_blocks_.push_back(number);
    else
      filled_blocks.push_back(number);
  }
  group.blocks = std::move(filled_blocks);
  group.bounds.assign(group.blocks.size(), PriorityBound::unknown());
}

}  // namespace cosched::cluster::dfrs
