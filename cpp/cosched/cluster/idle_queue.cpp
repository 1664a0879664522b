#include "cosched/cluster/idle_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace cosched::cluster {
namespace {

constexpr double kRounding = 1e-12;    // relative, more than that of a product for a quotient
constexpr std::size_t kFirstPart = 8;  // blocks

}  // namespace

void IdleGroup::add(int rank, double submit, double virtual_time) {
  const std::size_t at = rank_.size();
  rank_.push_back(rank);
  if (at == origin_.size()) {
    origin_.resize(at + kBlock, kInfinity);
    square_.resize(at + kBlock, 1);
    inverse_.resize(at + kBlock, 1);
  }
  const double square = virtual_time * virtual_time;
  origin_[at] = virtual_time > 0 ? submit : -kInfinity;
  square_[at] = square;
  inverse_[at] = virtual_time > 0 ? 1 / square : 1;
}

void IdleGroup::remove(int position) {
  const std::size_t last = rank_.size() - 1;
  rank_[position] = rank_[last];
  origin_[position] = origin_[last];
  square_[position] = square_[last];
  inverse_[position] = inverse_[last];
  rank_.pop_back();
  origin_[last] = kInfinity;
  inverse_[last] = 1;
  if (last % kBlock > 0) return;
  origin_.resize(last);
  square_.resize(last);
  inverse_.resize(last);
}

double IdleGroup::above(int block, double now) const {
  // Lanes: a single running maximum would wait for itself at each step.
  constexpr int kLanes = 8;
  double top[kLanes];
  std::fill_n(top, kLanes, -kInfinity);
  const double* origin = origin_.data() + std::ptrdiff_t{block} * kBlock;
  const double* inverse = inverse_.data() + std::ptrdiff_t{block} * kBlock;
  for (int k = 0; k < kBlock; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      top[lane] = std::max(top[lane], (now - origin[k + lane]) * inverse[k + lane]);
  // Which lane is greatest is hard to foresee, for a processor too: no branch depends on it.
  const auto of_two = [&top](int lane) { return std::max(top[lane], top[lane + 1]); };
  const double greatest = std::max(std::max(of_two(0), of_two(2)), std::max(of_two(4), of_two(6)));
  return greatest * (1 + kRounding) + std::numeric_limits<double>::min();
}

void IdleGroup::append(int block, double now, double least, const Prioritised& last, int shape,
                       std::vector<Prioritised>& jobs) const {
  const int begin = block * kBlock;
  double about[kBlock];
  for (int k = 0; k < kBlock; ++k) about[k] = (now - origin_[begin + k]) * inverse_[begin + k];
  // Nor which ones are high.
  const double enough = least * (1 - kRounding);
  int high[kBlock], found = 0;
  for (int k = 0; k < kBlock; ++k) {
    high[found] = begin + k;
    found += about[k] >= enough;
  }
  for (int h = 0; h < found; ++h) {
    const int k = high[h];
    const Prioritised job{(now - origin_[k]) / square_[k], rank_[k], shape};
    if (job.priority >= least && last < job) jobs.push_back(job);
  }
}

IdleQueue::IdleQueue(const std::vector<Shape>& shapes) : shapes_(shapes), places_(shapes.size()) {
  std::sort(shapes_.begin(), shapes_.end());
  shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
  groups_.resize(shapes_.size());
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    places_[rank].shape = static_cast<int>(
        std::lower_bound(shapes_.begin(), shapes_.end(), shapes[rank]) - shapes_.begin());
}

void IdleQueue::add(int rank, double submit, double virtual_time) {
  const int shape = places_[rank].shape;
  IdleGroup& group = groups_[shape];
  if (group.empty())
    present_.insert(std::lower_bound(present_.begin(), present_.end(), shape), shape);
  places_[rank].position = static_cast<int>(group.ranks().size());
  group.add(rank, submit, virtual_time);
}

void IdleQueue::remove(int rank) {
  const auto [shape, position] = places_[rank];
  IdleGroup& group = groups_[shape];
  places_[group.ranks().back()].position = position;
  group.remove(position);
  if (group.empty()) present_.erase(std::lower_bound(present_.begin(), present_.end(), shape));
}

void IdleQueue::append(double now, double least, std::vector<Prioritised>& jobs) const {
  for (const int shape : present_)
    for (int block = 0; block < groups_[shape].blocks(); ++block)
      if (groups_[shape].above(block, now) >= least)
        groups_[shape].append(block, now, least, {kInfinity, -1}, shape, jobs);
}

ServiceOrder::ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now)
    : queue_(queue), now_(now) {
  for (const int shape : shapes)
    for (int block = 0; block < queue.group(shape).blocks(); ++block)
      blocks_.push_back({queue.group(shape).above(block, now), shape, block});
}

const std::vector<Prioritised>& ServiceOrder::next() {
  jobs_.clear();
  const double least = choose_part();
  for (std::size_t k = 0; k < part_; ++k) {
    const auto& [above, shape, number] = blocks_[k];
    queue_.group(shape).append(number, now_, least, last_, shape, jobs_);
  }
  if (part_ == blocks_.size()) blocks_.clear();
  std::sort(jobs_.begin(), jobs_.end());
  if (!jobs_.empty()) last_ = jobs_.back();
  return jobs_;
}

// Twice as many blocks as before, those of the greatest priorities, come first: part_ of them.
// Returns a priority that no job of the others reaches.
double ServiceOrder::choose_part() {
  const auto infinite = std::count_if(blocks_.begin(), blocks_.end(),
                                      [](const Block& block) { return block.above == kInfinity; });
  part_ = std::max({kFirstPart, 2 * part_, static_cast<std::size_t>(infinite)});
  part_ = std::min(part_, blocks_.size());
  if (part_ == blocks_.size()) return 0;
  const auto next = blocks_.begin() + static_cast<std::ptrdiff_t>(part_);
  std::nth_element(blocks_.begin(), next, blocks_.end(),
                   [](const Block& a, const Block& b) { return a.above > b.above; });
  return next->above;
}

}  // namespace cosched::cluster
