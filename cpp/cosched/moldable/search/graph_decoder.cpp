#include "cosched/moldable/search/graph_decoder.hpp"

namespace cosched::moldable::search {

void GraphDecoder::justify(DecodedSchedule& schedule) {
  if (instance_.has_releases()) return;
  for (;;) {
    // Time runs backwards from the end, and successors are predecessors.
    std::vector<int> order(precedence_->order().rbegin(), precedence_->order().rend());
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return schedule.starts[a] + length(schedule, a) > schedule.starts[b] + length(schedule, b);
    });
    std::vector<double> backward_starts, start(instance_.jobs());
    const double end = decode_order(
        schedule, order, [](int) { return 0.0; }, [&](int i) { return precedence_->successors(i); },
        backward_starts);
    for (int i = 0; i < instance_.jobs(); ++i)
      start[i] = end - backward_starts[i] - length(schedule, i);
    DecodedSchedule improved{order_by_start(*precedence_, start), schedule.choice_numbers, {}, 0};
    decode(improved);
    if (!(improved.makespan < schedule.makespan)) return;
    schedule = std::move(improved);
  }
}

}  // namespace cosched::moldable::search
