#include "cosched/moldable/graph/decoder.hpp"

#include <algorithm>
#include <numeric>

namespace cosched::moldable::graph {

Decoder::Decoder(const Instance& instance, const Choices& choices)
    : it_(instance),
      choices_(choices),
      graph_(instance),
      timeline_(instance.machines(), choices.measures()),
      place_(instance.jobs()) {
  for (int k = 0; k < instance.jobs(); ++k) place_[graph_->order()[k]] = k;
}

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
