#include "cosched/moldable/graph/decoder.hpp"

#include <algorithm>
#include <numeric>

namespace cosched::moldable::graph {

void Timeline::clear() {
  time_.assign(1, 0.0);
  free_.assign(measures_, 1.0);
  free_[0] = machines_;
}

bool Timeline::fits(std::size_t step, const Choice& choice) const {
  const double* free = &free_[step * measures_];
  if (choice.procs > free[0]) return false;
  for (int r = 1; r < measures_; ++r)
    if (choice.share[r] > free[r] + kExactTolerance) return false;
  return true;
}

double Timeline::earliest(const Choice& choice, double from) const {
  std::size_t step = std::upper_bound(time_.begin(), time_.end(), from) - time_.begin() - 1;
  double start = from;
  const std::size_t begun = step;
  for (; step < time_.size() && time_[step] < start + choice.time; ++step)
    if (!fits(step, choice)) start = step + 1 < time_.size() ? time_[step + 1] : time_[step];
  operations_ += static_cast<std::int64_t>(step - begun) + 1;
  return start;
}

// The step that begins at a moment.
std::size_t Timeline::cut(double at) {
  const std::size_t step = std::lower_bound(time_.begin(), time_.end(), at) - time_.begin();
  if (step < time_.size() && time_[step] == at) return step;
  time_.insert(time_.begin() + static_cast<std::ptrdiff_t>(step), at);
  std::vector<double> same(&free_[(step - 1) * measures_],
                           &free_[(step - 1) * measures_] + measures_);
  free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(step * measures_), same.begin(),
               same.end());
  return step;
}

void Timeline::take(const Choice& choice, double start) {
  const std::size_t first = cut(start), last = cut(start + choice.time);
  for (std::size_t step = first; step < last; ++step) {
    free_[step * measures_] -= choice.procs;
    for (int r = 1; r < measures_; ++r) free_[step * measures_ + r] -= choice.share[r];
  }
  operations_ += static_cast<std::int64_t>(last - first) + 2;
}

Decoder::Decoder(const Instance& instance, const Choices& choices)
    : it_(instance),
      choices_(choices),
      graph_(instance),
      timeline_(instance.machines(), choices.measures()) {}

void Decoder::decode(Decoded& made) {
  timeline_.clear();
  made.start.assign(it_.jobs(), 0.0);
  made.makespan = 0;
  for (const int i : made.order) {
    double from = it_.release(i);
    for (const int before : graph_->predecessors(i))
      from = std::max(from, made.start[before] + length(made, before));
    const Choice& choice = choices_[i][made.chosen[i]];
    made.start[i] = timeline_.earliest(choice, from);
    timeline_.take(choice, made.start[i]);
    made.makespan = std::max(made.makespan, made.start[i] + choice.time);
  }
  operations_ += it_.jobs();
}

std::vector<int> Decoder::by_start(const TaskGraph& graph, const std::vector<double>& start) {
  std::vector<int> order(
      graph.order());  // topological: jobs of no length stay behind those before them
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return start[a] < start[b]; });
  return order;
}

void Decoder::justify(Decoded& made) {
  if (it_.has_releases()) return;
  for (;;) {
    // From the end: time runs backwards, successors are predecessors.
    std::vector<int> order(graph_->order().rbegin(), graph_->order().rend());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return made.start[a] + length(made, a) > made.start[b] + length(made, b);
    });
    timeline_.clear();
    std::vector<double> back(it_.jobs(), 0.0), start(it_.jobs());
    double end = 0;
    for (const int i : order) {
      double from = 0;
      for (const int after : graph_->successors(i))
        from = std::max(from, back[after] + length(made, after));
      const Choice& choice = choices_[i][made.chosen[i]];
      back[i] = timeline_.earliest(choice, from);
      timeline_.take(choice, back[i]);
      end = std::max(end, back[i] + choice.time);
    }
    for (int i = 0; i < it_.jobs(); ++i) start[i] = end - back[i] - length(made, i);
    Decoded next{by_start(*graph_, start), made.chosen, {}, 0};
    decode(next);
    if (!(next.makespan < made.makespan)) return;
    made = std::move(next);
  }
}

Placement Decoder::placement(const Decoded& made) const {
  Placement placement = unplaced(it_.jobs());
  for (int i = 0; i < it_.jobs(); ++i)
    put(placement, i, choices_[i][made.chosen[i]], made.start[i]);
  return placement;
}

}  // namespace cosched::moldable::graph
