// Moldable jobs with precedence, for the tests of task graphs.
#pragma once

#include <cmath>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "cosched/core/rng.hpp"
#include "cosched/moldable/model/instance.hpp"

namespace cosched::moldable::testing {

/// Jobs of weight 1 with these times (a row per job) and edges.
inline Instance graph_of(const Table& times, int machines, const std::vector<Edge>& edges) {
  const int jobs = static_cast<int>(times.rows());
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_precedence(std::make_shared<const TaskGraph>(jobs, edges));
}

/// What jobs have beside their times.
struct JobConstraints {
  bool releases, precedence, resources;
};

/// Random jobs with these constraints.
inline Instance random_constrained_jobs(Rng& rng, const JobConstraints& constraints, int jobs,
                                        int machines) {
  const bool is_whole = rng.below(2) == 0;  // whole seconds: ties are frequent
  const auto rounded = [&](double value) { return is_whole ? std::ceil(value) : value; };
  Table times(jobs, machines), memory(jobs, machines), licences(jobs, 1);
  std::vector<double> weights, release(jobs, 0.0);
  std::vector<Edge> edges;
  for (int i = 0; i < jobs; ++i) {
    weights.push_back(rounded(5 * rng.uniform()));
    for (int q = 0; q < machines; ++q) {
      times(i, q) =
          rounded(q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.6 * rng.uniform()));
      memory(i, q) = rounded(5 * rng.uniform());
    }
    licences(i, 0) = static_cast<double>(rng.below(3));
    if (constraints.releases && rng.below(3) > 0) release[i] = rounded(12 * rng.uniform());
    for (int k = i + 1; constraints.precedence && k < jobs; ++k)
      if (rng.below(3) == 0) edges.emplace_back(i, k);
  }
  Instance instance(Times(times), weights, release, machines);
  if (constraints.resources)
    instance = instance.with_sharing(std::make_shared<const Sharing>(
        jobs,
        std::vector<Resource>{{.name = "memory", .capacity = 6, .need = memory},
                              {.name = "licences", .capacity = 3, .need = licences}},
        std::nullopt, std::nullopt));
  return constraints.precedence
             ? instance.with_precedence(std::make_shared<const TaskGraph>(jobs, edges))
             : instance;
}

/// Random jobs whose edges are drawn with probability 0.3.
inline Instance random_graph(Rng& rng, int jobs, int machines) {
  Table times(jobs, machines);
  std::vector<Edge> edges;
  for (int i = 0; i < jobs; ++i) {
    for (int q = 0; q < machines; ++q)
      times(i, q) = q == 0 ? 1 + 9 * rng.uniform() : times(i, q - 1) * (0.5 + 0.5 * rng.uniform());
    for (int k = i + 1; k < jobs; ++k)
      if (rng.uniform() < 0.3) edges.emplace_back(i, k);
  }
  return Instance(Times(times), std::vector<double>(jobs, 1.0), {}, machines)
      .with_precedence(std::make_shared<const TaskGraph>(jobs, edges));
}

/// A table of one row.
inline Table table_of(std::initializer_list<double> row) {
  Table table(1, static_cast<int>(row.size()));
  int column = 0;
  for (const double t : row) table(0, column++) = t;
  return table;
}

}  // namespace cosched::moldable::testing
