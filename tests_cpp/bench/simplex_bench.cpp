// The four simplex methods of the library against GLPK with a warm basis.  Each algorithm runs once
// and is recorded: which columns come and close, which rows change, before the programme is solved
// again.  Then both methods get that sequence.  GLPK keeps one problem object with its basis and
// factors, and starts from the same first basis.  What an algorithm does besides (pricing, flows,
// rounding; for GLPK also the makespans where the front turns) is not in the times.
//
//   simplex_bench              processor times, best of five runs, and GLPK's as a multiple of ours
//   simplex_bench --write F    also writes the sequences to F, for tests_py/bench/bench_simplex.py
//
// Fixed work, fixed seeds.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <tuple>

#include "bench/simplex_traces.hpp"
#include "cosched/bags/energy/walk.hpp"
#include "cosched/moldable/minsum/bound.hpp"
#include "dags/graphs.hpp"
#include "support/bags_instances.hpp"
#include "support/moldable_instances.hpp"
#include "support/packs_instances.hpp"

namespace cosched {
namespace {

using testing::LpTrace;
using testing::TraceRound;

std::FILE* sequences = nullptr;  // where --write puts them

// Processor seconds of the best of some runs: other work on the machine does not count.
template <class Work>
double seconds(Work work, int repeat) {
  double best = kInfinity;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t begin = std::clock();
    for (int k = 0; k < repeat; ++k) work();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / repeat);
  }
  return best;
}

// `ours` replays the trace, or does the same work, and returns the value.
template <class Ours>
void compare(LpTrace trace, const std::string& name, Ours ours, int repeat = 1) {
  trace.name = name;
  double by_glpk = 0;
  int pivots = 0;
  trace.seconds = seconds([&] { trace.value = ours(trace); }, repeat);
  const double glpk = seconds(
      [&] {
        testing::WarmGlpk solver(trace);
        for (std::size_t round = 0; round < trace.rounds.size(); ++round) solver.advance();
        by_glpk = solver.value();
        pivots = solver.pivots();
      },
      repeat);
  std::printf(
      "  %-48s %4d rows, %6d columns, %4zu solves: %8.3f ms, GLPK %8.3f ms (%4d pivots) = %4.1fx; "
      "difference %.0e\n",
      name.c_str(), trace.rows(), trace.columns(), trace.rounds.size(), 1e3 * trace.seconds,
      1e3 * glpk, pivots, glpk / trace.seconds, std::abs(trace.value / by_glpk - 1));
  std::fflush(stdout);
  if (sequences != nullptr) write(trace, sequences);
}

void compare_cover(int n, int p, int k) {
  const packs::Instance instance(Times(packs::testing::speedup_workload(n, p, 1)), k);
  const auto cover_lp = [](const LpTrace& trace) {
    opt::CoverLp master(trace.lower, trace.rounds[0].add[0].cost);
    int artificial = trace.rows();  // those are there
    for (const TraceRound& round : trace.rounds) {
      for (const auto& column : round.add)
        if (artificial-- <= 0) master.add_column(column.cost, column.rows, column.values);
      master.solve(1e-9, 20'000);  // as in packs/relaxation.cpp
    }
    return master.objective();
  };
  compare(testing::record_cover(instance),
          "packs " + std::to_string(n) + " x " + std::to_string(p) + ", k = " + std::to_string(k),
          cover_lp, n < 100 ? 10 : 1);
}

void compare_game(const std::string& name, const dags::Instance& instance) {
  const auto matrix_game = [](const LpTrace& trace) {
    const int rows = trace.rows() - 1;
    opt::MatrixGame game(rows);
    std::vector<double> column(rows);
    for (const TraceRound& round : trace.rounds) {
      for (int r = 0; r < rows; ++r) column[r] = -round.add.back().values[r];
      game.add_column(column);
      game.solve();
    }
    return game.value();
  };
  compare(testing::record_game(instance), "dags " + name, matrix_game, 100);
}

void compare_walk(int types, int machine_types) {
  bags::testing::Shape shape;
  shape.types = types;
  shape.machine_types = machine_types;
  shape.most_tasks = 1000;
  shape.most_machines = 40;
  const bags::Instance instance = bags::testing::random_instance(shape, 1);
  const auto energy_walk = [&](const LpTrace&) {
    bags::energy::Walk walk(instance, bags::energy::Cut::long_tasks);
    while (walk.go_to_next_piece()) {
    }
    return walk.joules(walk.low()) / instance.least_joules();
  };
  compare(testing::record_walk(instance),
          "bags " + std::to_string(types) + " x " + std::to_string(machine_types), energy_walk,
          types < 100 ? 20 : 1);
}

void compare_minsum(moldable::testing::Kind kind, int jobs, int machines, int refine) {
  const moldable::Instance instance = moldable::testing::workload(kind, jobs, machines, 1);
  const moldable::minsum::IntervalModel model =
      moldable::minsum::make_model(instance, {std::nullopt, refine, true});
  const std::string workload = kind == moldable::testing::Kind::mixed ? "mixed " : "Cirne ";
  const std::string name = "moldable " + workload + std::to_string(jobs) + " x " +
                           std::to_string(machines) + ", grid / " + std::to_string(refine);
  for (const bool generate : {false, true}) {
    const testing::MinsumRecorder recorder(model, generate);
    compare(
        recorder.trace(), name + (generate ? ", generated" : ", whole"),
        [&](const LpTrace&) { return moldable::minsum::solve(model).value / recorder.unit(); },
        jobs < 400 ? 10 : 1);
  }
}

void compare_all() {
  std::puts("cover_lp: the masters of the column bound");
  for (const auto& [n, p, k] :
       {std::tuple{20, 16, 4}, {65, 16, 4}, {65, 16, 16}, {260, 32, 8}, {260, 32, 32}})
    compare_cover(n, p, k);
  std::puts("matrix_game: the masters of HLP");
  compare_game("Cholesky 12 x 12, 16+2 units", dags::graphs::cholesky(12, {16, 2}, 0.1, 1));
  compare_game("Cholesky 16 x 16, 64+8 units", dags::graphs::cholesky(16, {64, 8}, 0.1, 1));
  Rng rng(1);
  dags::graphs::RandomOptions three_types;
  three_types.tasks = 200;
  three_types.types = 3;
  three_types.density = 0.03;
  compare_game("200 tasks, 3 types", dags::graphs::random(rng, three_types));
  std::puts("energy_walk: the whole energy-makespan front");
  for (const auto& [types, machine_types] : {std::pair{30, 9}, {100, 20}, {300, 30}, {1000, 10}})
    compare_walk(types, machine_types);
  std::puts("minsum_simplex: the minsum bound; the whole programme or by generation");
  using moldable::testing::Kind;
  for (const int jobs : {25, 100, 400})
    for (const int refine : {1, 8}) compare_minsum(Kind::cirne, jobs, 200, refine);
  compare_minsum(Kind::mixed, 400, 200, 8);
  compare_minsum(Kind::mixed, 2000, 1000, 8);
}

}  // namespace
}  // namespace cosched

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "--write") == 0) {
    cosched::sequences = std::fopen(words[2], "w");
    if (cosched::sequences == nullptr) return std::perror(words[2]), 2;
  }
  cosched::compare_all();
  if (cosched::sequences != nullptr) std::fclose(cosched::sequences);
  return 0;
}
