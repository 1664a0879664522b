#include "cosched/opt/path_length.hpp"

#include <algorithm>
#include <numeric>

namespace cosched::opt {

PathLength::PathLength(const EventNetwork& network) : nodes_(network.nodes) {
  const auto visit = [&](const auto& arc) {
    for (std::size_t task = 0; task < network.start.size(); ++task)
      arc(network.start[task], network.end[task], static_cast<int>(task));
    for (const auto& [from, to] : network.links) arc(from, to, -1);
  };
  std::vector<int> place(nodes_ + 1, 0);
  visit([&](int, int to, int) { ++place[to + 1]; });
  std::partial_sum(place.begin(), place.end(), place.begin());
  arcs_.resize(place.back());
  visit([&](int from, int to, int task) { arcs_[place[to]++] = {from, to, task}; });
}

double PathLength::operator()(const std::vector<double>& duration) const {
  std::vector<double> time(nodes_, 0);
  for (const Arc& arc : arcs_)
    time[arc.to] = std::max(time[arc.to], time[arc.from] + (arc.task < 0 ? 0 : duration[arc.task]));
  return time.back();
}

}  // namespace cosched::opt
