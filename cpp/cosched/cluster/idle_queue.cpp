#include "cosched/cluster/idle_queue.hpp"

#include <algorithm>
#include <utility>

namespace cosched::cluster {
namespace {

constexpr int kBlock = 64;

}  // namespace

// The bound of the position's block holds for the job at the position as well.
void IdleGroup::raise_bound(int position, double now) {
  Block& block = blocks_[position / kBlock];
  const double steepest = std::max(block.steepest, 1 / square_[position]);
  block = {now, std::max(block.bound(now), priority(position, now)), steepest};
}

void IdleGroup::add(int rank, double submit, double virtual_time, double now) {
  rank_.push_back(rank);
  origin_.push_back(virtual_time > 0 ? submit : -kInfinity);
  square_.push_back(virtual_time * virtual_time);
  blocks_.resize((rank_.size() + kBlock - 1) / kBlock);
  raise_bound(size() - 1, now);
  ++changes_;
}

void IdleGroup::remove(int position, double now) {
  const bool last = position == size() - 1;
  rank_[position] = rank_.back();
  origin_[position] = origin_.back();
  square_[position] = square_.back();
  rank_.pop_back();
  origin_.pop_back();
  square_.pop_back();
  blocks_.resize((rank_.size() + kBlock - 1) / kBlock);
  if (!last) raise_bound(position, now);
  ++changes_;
}

bool IdleGroup::mixed() const { return size() > 2 * kBlock && changes_ > 4 * size(); }

void IdleGroup::sort(double now) {
  std::vector<std::pair<Prioritised, int>> order;
  for (int k = 0; k < size(); ++k) order.push_back({{priority(k, now), rank_[k]}, k});
  std::sort(order.begin(), order.end());
  const std::vector<double> origin = origin_, square = square_;
  for (int k = 0; k < size(); ++k) {
    rank_[k] = order[k].first.rank;
    origin_[k] = origin[order[k].second];
    square_[k] = square[order[k].second];
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) look_into(b, now);
  changes_ = 0;
}

// The priorities of the block's jobs, and from now on their bound.
const double* IdleGroup::look_into(std::size_t block, double now) const {
  priority_.resize(kBlock);
  const int begin = static_cast<int>(block) * kBlock;
  const int count = std::min(kBlock, size() - begin);
  for (int k = 0; k < count; ++k) priority_[k] = priority(begin + k, now);
  // Lanes: a single running maximum would wait for itself at each step.
  constexpr int kLanes = 8;
  double top[kLanes], least_square[kLanes];
  std::fill_n(top, kLanes, -kInfinity);
  std::fill_n(least_square, kLanes, kInfinity);
  const auto see = [&](int k, int lane) {
    top[lane] = std::max(top[lane], priority_[k]);
    least_square[lane] = std::min(least_square[lane], square_[begin + k]);
  };
  int k = 0;
  for (; k + kLanes <= count; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) see(k + lane, lane);
  for (; k < count; ++k) see(k, 0);
  blocks_[block] = {now, *std::max_element(top, top + kLanes),
                    1 / *std::min_element(least_square, least_square + kLanes)};
  return priority_.data();
}

Prioritised IdleGroup::first(double now) const {
  Prioritised best{-kInfinity, 0};
  const auto improve = [&](std::size_t block) {
    const double* priority = look_into(block, now);
    const double top = blocks_[block].top;
    if (top < best.priority) return;
    const int begin = static_cast<int>(block) * kBlock;
    for (int k = 0; k < std::min(kBlock, size() - begin); ++k)
      if (priority[k] == top) best = std::min(best, Prioritised{top, rank_[begin + k]});
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

void IdleQueue::add(const Shape& shape, int rank, double submit, double virtual_time, double now) {
  IdleGroup& group = groups_[shape];
  at_[rank] = static_cast<int>(group.ranks().size());
  group.add(rank, submit, virtual_time, now);
  if (!group.mixed()) return;
  group.sort(now);
  for (std::size_t k = 0; k < group.ranks().size(); ++k)
    at_[group.ranks()[k]] = static_cast<int>(k);
}

void IdleQueue::remove(const Shape& shape, int rank, double now) {
  const auto group = groups_.find(shape);
  const int position = at_[rank];
  at_[group->second.ranks().back()] = position;
  group->second.remove(position, now);
  if (group->second.empty()) groups_.erase(group);
}

}  // namespace cosched::cluster
