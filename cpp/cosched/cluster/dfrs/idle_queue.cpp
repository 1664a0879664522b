#include "cosched/cluster/dfrs/idle_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cosched::cluster::dfrs {

IdleBlock::IdleBlock() {
  std::fill_n(origin_, kMost, kInfinity);
  std::fill_n(inverse_, kMost, Line::kTiny);
}

Line IdleBlock::add(int rank, double submit, double virtual_time, Line line) {
  const double square = virtual_time * virtual_time;
  const double inverse = virtual_time > 0 ? 1 / square : 1;
  const double origin = virtual_time > 0 ? submit : -kInfinity;
  if (jobs_ == 0) line = {submit, 0, 0};
  line.top = std::max(line.top, (line.since - origin) * inverse);
  line.rate = std::max(line.rate, inverse);
  rank_[jobs_] = rank;
  origin_[jobs_] = origin;
  square_[jobs_] = square;
  inverse_[jobs_] = inverse;
  ++jobs_;
  return line;
}

void IdleBlock::remove(int position) {
  const int last = --jobs_;
  rank_[position] = rank_[last];
  origin_[position] = origin_[last];
  square_[position] = square_[last];
  inverse_[position] = inverse_[last];
  origin_[last] = kInfinity;
  inverse_[last] = Line::kTiny;
}

void IdleBlock::take_last(IdleBlock& other) {
  const int from = other.jobs_ - 1;
  rank_[jobs_] = other.rank_[from];
  origin_[jobs_] = other.origin_[from];
  square_[jobs_] = other.square_[from];
  inverse_[jobs_] = other.inverse_[from];
  ++jobs_;
  other.remove(from);
}

Line IdleBlock::line(double now) const {
  // Lanes: a single running maximum would wait for itself at each step.
  constexpr int kLanes = 8;
  double top[kLanes], rate[kLanes];
  std::fill_n(top, kLanes, 0.0);
  std::fill_n(rate, kLanes, 0.0);
  for (int k = 0; k < kMost; k += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      top[lane] = std::max(top[lane], (now - origin_[k + lane]) * inverse_[k + lane]);
      rate[lane] = std::max(rate[lane], inverse_[k + lane]);
    }
  // Which lane is greatest is hard to foresee, for a processor too: no branch depends on it.
  const auto greatest = [](const double* of) {
    const auto of_two = [of](int lane) { return std::max(of[lane], of[lane + 1]); };
    return std::max(std::max(of_two(0), of_two(2)), std::max(of_two(4), of_two(6)));
  };
  return {now, greatest(top), greatest(rate)};
}

std::vector<Prioritised> IdleBlock::append(std::vector<Prioritised> jobs, double now, double least,
                                           const Prioritised& last, int shape) const {
  double about[kMost];
  for (int k = 0; k < kMost; ++k) about[k] = (now - origin_[k]) * inverse_[k];
  // Nor which ones are high.
  const double enough = least * (1 - Line::kRounding);
  int high[kMost], found = 0;
  for (int k = 0; k < kMost; ++k) {
    high[found] = k;
    found += about[k] >= enough;
  }
  for (int h = 0; h < found; ++h) {
    const int k = high[h];
    const Prioritised job{(now - origin_[k]) / square_[k], rank_[k], shape};
    if (job.priority >= least && ServedBefore()(last, job)) jobs.push_back(job);
  }
  return jobs;
}

namespace {

constexpr std::size_t kFirstPart = 8;  // blocks that the first part of an order looks into
constexpr std::size_t kLikely = 3;     // times as many get a new line before

}  // namespace

IdleQueue::IdleQueue(const std::vector<Shape>& shapes) : shapes_(shapes), places_(shapes.size()) {
  std::sort(shapes_.begin(), shapes_.end());
  shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
  groups_.resize(shapes_.size());
  for (std::size_t rank = 0; rank < shapes.size(); ++rank)
    places_[rank].shape = static_cast<int>(
        std::lower_bound(shapes_.begin(), shapes_.end(), shapes[rank]) - shapes_.begin());
}

void IdleQueue::add(int rank, double submit, double virtual_time) {
  Place& place = places_[rank];
  Group& group = groups_[place.shape];
  if (group.jobs == 0)
    present_.insert(std::lower_bound(present_.begin(), present_.end(), place.shape), place.shape);
  if (group.blocks.empty() || blocks_[group.blocks.back()].jobs() == IdleBlock::kMost) {
    if (group.blocks.size() > 4 + static_cast<std::size_t>(group.jobs) / (IdleBlock::kMost / 2))
      compact(group);
    group.blocks.push_back(new_block());
    group.lines.push_back({});
  }
  ++group.jobs;
  place.block = group.blocks.back();
  place.position = blocks_[place.block].jobs();
  Line& line = group.lines.back();
  line = blocks_[place.block].add(rank, submit, virtual_time, line);
}

void IdleQueue::remove(int rank) {
  const Place place = places_[rank];
  IdleBlock& block = blocks_[place.block];
  places_[block.rank(block.jobs() - 1)].position = place.position;
  block.remove(place.position);
  Group& group = groups_[place.shape];
  if (block.jobs() == 0) {
    const auto at = std::find(group.blocks.begin(), group.blocks.end(), place.block);
    group.lines.erase(group.lines.begin() + (at - group.blocks.begin()));
    group.blocks.erase(at);
    unused_.push_back(place.block);
  }
  if (--group.jobs == 0)
    present_.erase(std::lower_bound(present_.begin(), present_.end(), place.shape));
}

// An empty one.
int IdleQueue::new_block() {
  if (unused_.empty()) {
    unused_.push_back(static_cast<int>(blocks_.size()));
    blocks_.emplace_back();
  }
  const int number = unused_.back();
  unused_.pop_back();
  return number;
}

// Its blocks are less than half full: all but the last become full, in their order.
void IdleQueue::compact(Group& group) {
  std::size_t filled = 0;
  for (std::size_t k = 1; k < group.blocks.size(); ++k)
    while (filled < k && blocks_[group.blocks[k]].jobs() > 0) {
      IdleBlock &from = blocks_[group.blocks[k]], &to = blocks_[group.blocks[filled]];
      if (to.jobs() == IdleBlock::kMost) {
        ++filled;
        continue;
      }
      Place& place = places_[from.rank(from.jobs() - 1)];
      place.block = group.blocks[filled];
      place.position = to.jobs();
      to.take_last(from);
    }
  std::vector<int> kept;
  for (const int number : group.blocks)
    (blocks_[number].jobs() == 0 ? unused_ : kept).push_back(number);
  group.blocks = std::move(kept);
  group.lines.assign(group.blocks.size(), Line::unknown());
}

std::vector<int> IdleQueue::ranks() const {
  std::vector<int> ranks;
  for (const int shape : present_)
    for (const int number : groups_[shape].blocks)
      for (int k = 0; k < blocks_[number].jobs(); ++k) ranks.push_back(blocks_[number].rank(k));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<Prioritised> IdleQueue::append(std::vector<Prioritised> jobs, double now,
                                           double least) const {
  for (const int shape : present_) {
    const Group& group = groups_[shape];
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
      Line& line = group.lines[k];
      if (line.at(now) < least) continue;
      const IdleBlock& block = blocks_[group.blocks[k]];
      line = block.line(now);
      if (line.at(now) >= least)
        jobs = block.append(std::move(jobs), now, least, kBeforeAll, shape);
    }
  }
  return jobs;
}

ServiceOrder::ServiceOrder(const IdleQueue& queue, const std::vector<int>& shapes, double now)
    : queue_(queue), now_(now) {
  std::size_t blocks = 0;
  for (const int shape : shapes) blocks += queue.group(shape).blocks.size();
  closed_.reserve(blocks);
  for (const int shape : shapes) {
    const IdleQueue::Group& group = queue.group(shape);
    for (std::size_t k = 0; k < group.blocks.size(); ++k)
      closed_.push_back({group.lines[k].at(now), shape, group.blocks[k], &group.lines[k]});
  }
}

const std::vector<Prioritised>& ServiceOrder::next() {
  jobs_.clear();
  const double least = open_blocks();
  for (const Block& block : open_)
    jobs_ = queue_.block(block.number).append(std::move(jobs_), now_, least, last_, block.shape);
  if (closed_.empty()) open_.clear();
  std::sort(jobs_.begin(), jobs_.end(), ServedBefore());
  if (!jobs_.empty()) last_ = jobs_.back();
  return jobs_;
}

// Moves the greatest of them to the end, `count` or all; returns their begin.
ServiceOrder::Blocks ServiceOrder::greatest(Blocks first, Blocks last, std::size_t count) {
  if (static_cast<std::size_t>(last - first) <= count) return first;
  const Blocks begin = last - static_cast<std::ptrdiff_t>(count);
  std::nth_element(first, begin, last, Lower());
  return begin;
}

// Opens blocks of the greatest priorities, about as many as are open.  Returns a priority that no
// job of the closed ones reaches.
double ServiceOrder::open_blocks() {
  const auto infinite = static_cast<std::size_t>(std::count_if(
      closed_.begin(), closed_.end(), [](const Block& block) { return block.above == kInfinity; }));
  const std::size_t count = std::max({kFirstPart, open_.size(), infinite});
  // Lines lie higher than what they bound: more blocks than wanted are looked at.
  const auto likely = greatest(closed_.begin(), closed_.end(), kLikely * count);
  double least = likely == closed_.begin() ? 0 : likely->above;
  for (auto block = likely; block != closed_.end(); ++block) {
    if (block->line == nullptr) continue;
    *block->line = queue_.block(block->number).line(now_);
    block->above = block->line->at(now_);
    block->line = nullptr;
  }
  const auto opened = greatest(likely, closed_.end(), count);
  if (opened != likely) least = std::max(least, opened->above);
  open_.insert(open_.end(), opened, closed_.end());
  closed_.erase(opened, closed_.end());
  return least;
}

}  // namespace cosched::cluster::dfrs
