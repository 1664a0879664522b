#include "cosched/cluster/idle_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace cosched::cluster {
namespace {

constexpr int kBlock = 64;

// Lanes: a single running maximum would wait for itself at each step.
double greatest(const double* value, int count) {
  constexpr int kLanes = 8;
  double top[kLanes];
  std::fill_n(top, kLanes, -kInfinity);
  for (int k = 0; k < count; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) top[lane] = std::max(top[lane], value[k + lane]);
  return *std::max_element(top, top + kLanes);
}

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
  // Behind the last job: of no priority.
  priority_.assign(kBlock, -kInfinity);
  const int begin = static_cast<int>(block) * kBlock;
  const int count = std::min(kBlock, size() - begin);
  for (int k = 0; k < count; ++k) priority_[k] = priority(begin + k, now);
  double least_square = kInfinity;
  for (int k = 0; k < count; ++k) least_square = std::min(least_square, square_[begin + k]);
  blocks_[block] = {now, greatest(priority_.data(), kBlock), 1 / least_square};
  return priority_.data();
}

void IdleGroup::append(double now, double least, int shape, std::vector<Prioritised>& jobs) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].bound(now) < least) continue;
    const double* priority = look_into(b, now);
    if (blocks_[b].top < least) continue;
    const int begin = static_cast<int>(b) * kBlock;
    for (int k = 0; k < std::min(kBlock, size() - begin); ++k)
      if (priority[k] >= least) jobs.push_back({priority[k], rank_[begin + k], shape});
  }
}

ServiceOrder::ServiceOrder(const IdleGroup& group, double now) : group_(&group), now_(now) {
  blocks_.reserve(group.blocks_.size());
  for (std::size_t b = 0; b < group.blocks_.size(); ++b) {
    const double bound = group.blocks_[b].bound(now);  // NaN, of infinities: no bound
    blocks_.push_back({bound <= kInfinity ? bound : kInfinity, -1, static_cast<int>(b), -1});
  }
  std::make_heap(blocks_.begin(), blocks_.end());
  settle();
}

void ServiceOrder::advance() {
  std::pop_heap(blocks_.begin(), blocks_.end());
  Block& block = blocks_.back();
  const int begin = block.number * kBlock;
  for (int k = 0;; ++k)
    if (group_->rank_[begin + k] == block.rank) {
      priority_[block.seen * kBlock + k] = -kInfinity;
      break;
    }
  if (find_first(block))
    std::push_heap(blocks_.begin(), blocks_.end());
  else
    blocks_.pop_back();
  settle();
}

void ServiceOrder::settle() {
  while (!blocks_.empty() && blocks_.front().rank < 0) {
    std::pop_heap(blocks_.begin(), blocks_.end());
    look_into(blocks_.back());
    std::push_heap(blocks_.begin(), blocks_.end());
  }
}

void ServiceOrder::look_into(Block& block) {
  const double* priority = group_->look_into(block.number, now_);
  block.seen = static_cast<int>(seen_.size());
  seen_.push_back(block.number);
  priority_.insert(priority_.end(), priority, priority + kBlock);
  find_first(block);
}

// False if none is left.
bool ServiceOrder::find_first(Block& block) {
  const double* priority = priority_.data() + std::ptrdiff_t{block.seen} * kBlock;
  const int* rank = group_->rank_.data() + std::ptrdiff_t{block.number} * kBlock;
  const double top = greatest(priority, kBlock);
  if (top == -kInfinity) return false;
  block.priority = top;
  block.rank = std::numeric_limits<int>::max();
  const int count = std::min(kBlock, group_->size() - block.number * kBlock);
  for (int k = 0; k < count; ++k)
    if (priority[k] == top) block.rank = std::min(block.rank, rank[k]);
  return true;
}

void ServiceOrder::tighten_bounds() const {
  for (const int block : seen_)
    if (block < static_cast<int>(group_->blocks_.size())) group_->look_into(block, now_);
}

IdleQueue::IdleQueue(const std::vector<Shape>& shapes) : shapes_(shapes), places_(shapes.size()) {
  std::sort(shapes_.begin(), shapes_.end());
  shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
  groups_.resize(shapes_.size());
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    places_[rank].shape = static_cast<int>(
        std::lower_bound(shapes_.begin(), shapes_.end(), shapes[rank]) - shapes_.begin());
}

void IdleQueue::add(int rank, double submit, double virtual_time, double now) {
  const int shape = places_[rank].shape;
  IdleGroup& group = groups_[shape];
  if (group.empty())
    present_.insert(std::lower_bound(present_.begin(), present_.end(), shape), shape);
  places_[rank].position = static_cast<int>(group.ranks().size());
  group.add(rank, submit, virtual_time, now);
  if (!group.mixed()) return;
  group.sort(now);
  for (std::size_t k = 0; k < group.ranks().size(); ++k)
    places_[group.ranks()[k]].position = static_cast<int>(k);
}

void IdleQueue::remove(int rank, double now) {
  const auto [shape, position] = places_[rank];
  IdleGroup& group = groups_[shape];
  places_[group.ranks().back()].position = position;
  group.remove(position, now);
  if (group.empty()) present_.erase(std::lower_bound(present_.begin(), present_.end(), shape));
}

}  // namespace cosched::cluster
