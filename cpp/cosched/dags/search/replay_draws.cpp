#include "cosched/dags/search/replay_draws.hpp"

#include "cosched/dags/proof/transfers_bound.hpp"
#include "cosched/dags/proof/windows_bound.hpp"

namespace cosched::dags::search {
namespace {

constexpr double kDrawPrecision = 1e-3;  // enough for statistics over draws

Instance scale_task_times(const Instance& instance, const double* factor) {
  Table times = instance.times();
  for (int task = 0; task < instance.tasks(); ++task)
    for (int type = 0; type < instance.types(); ++type) times(task, type) *= factor[task];
  return {std::move(times), instance.graph(), instance.units(), instance.transfers()};
}

double prove_bound(const Instance& instance, const hlp::HlpCertificate& relaxation) {
  proof::BoundOptions options;
  options.precision = kDrawPrecision;
  const proof::WindowsBound windows = proof::windows_bound(instance, relaxation, options);
  check_interrupt();  // the bounds return at a time limit without an exception
  if (instance.transfers().is_free()) return windows.value;
  const double transfers_value =
      proof::transfers_bound(instance, windows.certificate, options).value;
  check_interrupt();
  return std::max(windows.value, transfers_value);
}

}  // namespace

ReplayDraws replay_draws(const Instance& instance, const Plan& plan, ReplayRule rule,
                         const Table& factors, const hlp::HlpCertificate* relaxation) {
  const Replay replay(instance, plan, rule);
  ReplayDraws draws;
  for (std::ptrdiff_t draw = 0; draw < factors.rows(); ++draw) {
    check_interrupt();
    const Instance drawn_instance =
        scale_task_times(instance, factors.data() + draw * factors.cols());
    draws.value.push_back(replay.run(drawn_instance).makespan());
    if (relaxation) draws.bound.push_back(prove_bound(drawn_instance, *relaxation));
  }
  return draws;
}

}  // namespace cosched::dags::search
