#include "cosched/cluster/idle_queue.hpp"

#include <algorithm>

namespace cosched::cluster {
namespace {

constexpr int kBlock = 64;

}  // namespace

void IdleGroup::add(int rank, double submit, double virtual_time) {
  rank_.push_back(rank);
  origin_.push_back(virtual_time > 0 ? submit : -kInfinity);
  square_.push_back(virtual_time * virtual_time);
  blocks_.resize((rank_.size() + kBlock - 1) / kBlock);
  blocks_.back() = Block{};
}

void IdleGroup::remove(int position) {
  blocks_[position / kBlock] = Block{};
  rank_[position] = rank_.back();
  origin_[position] = origin_.back();
  square_[position] = square_.back();
  rank_.pop_back();
  origin_.pop_back();
  square_.pop_back();
  blocks_.resize((rank_.size() + kBlock - 1) / kBlock);
}

// The priorities of the block's jobs, and from now on their bound.
const double* IdleGroup::look_into(std::size_t block, double now) const {
  priority_.resize(kBlock);
  const int begin = static_cast<int>(block) * kBlock;
  const int count = std::min(kBlock, size() - begin);
  double top = -kInfinity, least_square = kInfinity;
  for (int k = 0; k < count; ++k) priority_[k] = (now - origin_[begin + k]) / square_[begin + k];
  for (int k = 0; k < count; ++k) {
    top = std::max(top, priority_[k]);
    least_square = std::min(least_square, square_[begin + k]);
  }
  blocks_[block] = {now, top, 1 / least_square};
  return priority_.data();
}

Prioritised IdleGroup::first(double now) const {
  Prioritised best{-kInfinity, 0};
  const auto improve = [&](std::size_t block) {
    const double* priority = look_into(block, now);
    if (blocks_[block].top < best.priority) return;
    const int begin = static_cast<int>(block) * kBlock;
    for (int k = 0; k < std::min(kBlock, size() - begin); ++k)
      best = std::min(best, Prioritised{priority[k], rank_[begin + k]});
  };
  std::size_t promising = 0;
  for (std::size_t b = 1; b < blocks_.size(); ++b)
    if (blocks_[b].bound(now) > blocks_[promising].bound(now)) promising = b;
  improve(promising);
  for (std::size_t b = 0; b < blocks_.size(); ++b)  // a bound may be NaN (of infinities)
    if (b != promising && !(blocks_[b].bound(now) < best.priority)) improve(b);
  return best;
}

void IdleGroup::append(double now, double least, std::vector<Prioritised>& jobs) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].bound(now) < least) continue;
    const double* priority = look_into(b, now);
    const int begin = static_cast<int>(b) * kBlock;
    for (int k = 0; k < std::min(kBlock, size() - begin); ++k)
      if (priority[k] >= least) jobs.push_back({priority[k], rank_[begin + k]});
  }
}

void IdleQueue::add(const Shape& shape, int rank, double submit, double virtual_time) {
  IdleGroup& group = groups_[shape];
  at_[rank] = static_cast<int>(group.ranks().size());
  group.add(rank, submit, virtual_time);
}

void IdleQueue::remove(const Shape& shape, int rank) {
  const auto group = groups_.find(shape);
  const int position = at_[rank];
  at_[group->second.ranks().back()] = position;
  group->second.remove(position);
  if (group->second.empty()) groups_.erase(group);
}

}  // namespace cosched::cluster
