#include "dags_certificates.hpp"

#include <string>
#include <utility>

#include "cosched/core/errors.hpp"

namespace cosched::dags::bindings {

namespace {

// A row (type, begin, end, price) each.
py::object intervals_array(const std::vector<proof::PricedInterval>& intervals) {
  std::vector<double> entries;
  for (const auto& [interval, price] : intervals)
    for (const double entry :
         {static_cast<double>(interval.type), interval.begin, interval.end, price})
      entries.push_back(entry);
  const auto count = static_cast<py::ssize_t>(intervals.size());
  return frozen(std::move(entries), {count, 4});
}

std::vector<proof::PricedInterval> to_intervals(const py::dict& given) {
  const Table table = to_table(entry(given, "intervals").cast<RealArray>());
  std::vector<proof::PricedInterval> intervals;
  for (std::ptrdiff_t k = 0; k < table.rows(); ++k)
    intervals.push_back({{static_cast<int>(table(k, 0)), table(k, 1), table(k, 2)}, table(k, 3)});
  return intervals;
}

// A row (whether of an edge, task or edge, type or way) each.
py::object guesses_array(const std::vector<proof::TransferGuess>& guesses) {
  std::vector<std::int64_t> entries;
  for (const auto& [of_edge, item, choice] : guesses)
    for (const int entry : {static_cast<int>(of_edge), item, choice}) entries.push_back(entry);
  const auto count = static_cast<py::ssize_t>(guesses.size());
  return frozen(std::move(entries), {count, 3});
}

std::vector<proof::TransferGuess> to_guesses(const py::dict& given) {
  const auto entries = to_ints(entry(given, "guesses").attr("ravel")().cast<IntArray>(), "guesses");
  std::vector<proof::TransferGuess> guesses;
  for (std::size_t k = 0; k + 2 < entries.size(); k += 3)
    guesses.push_back({entries[k] != 0, entries[k + 1], entries[k + 2]});
  return guesses;
}

py::dict stage_dict(proof::RefutationStage stage) {
  const FlowArrays flow = flow_arrays(stage.edge_flow);
  py::dict made;
  made["raise_heads"] = frozen(std::move(stage.raise));
  made["loads"] = frozen(std::move(stage.loads));
  made["task_flow"] = frozen(std::move(stage.task_flow));
  made["edges"] = flow.edges;
  made["edge_flow"] = flow.amounts;
  made["intervals"] = intervals_array(stage.intervals);
  return made;
}

proof::RefutationStage to_stage(const py::dict& given) {
  proof::RefutationStage stage;
  stage.raise = reals(given, "raise_heads");
  stage.loads = reals(given, "loads");
  stage.task_flow = reals(given, "task_flow");
  stage.edge_flow = to_flow(given);
  stage.intervals = to_intervals(given);
  return stage;
}

py::dict stage_dict(proof::TransferStage stage, py::ssize_t types) {
  const auto edges = static_cast<py::ssize_t>(stage.shift.size()) / types;
  py::dict made;
  made["raise_heads"] = frozen(std::move(stage.raise));
  made["loads"] = frozen(std::move(stage.loads));
  made["task_flow"] = frozen(std::move(stage.task_flow));
  made["edge_flow"] = frozen(std::move(stage.edge_flow));
  made["shift"] = frozen(std::move(stage.shift), {edges, types});
  made["intervals"] = intervals_array(stage.intervals);
  made["guesses"] = guesses_array(stage.guesses);
  return made;
}

proof::TransferStage to_transfer_stage(const py::dict& given) {
  proof::TransferStage stage;
  stage.raise = reals(given, "raise_heads");
  stage.loads = reals(given, "loads");
  stage.task_flow = reals(given, "task_flow");
  stage.edge_flow = reals(given, "edge_flow");
  stage.shift = reals(given, "shift");
  stage.intervals = to_intervals(given);
  stage.guesses = to_guesses(given);
  return stage;
}

}  // namespace

py::dict certificate_dict(hlp::Certificate certificate) {
  const FlowArrays flow = flow_arrays(certificate.edge_flow);
  py::dict made;
  made["weights"] = frozen(std::move(certificate.weights));
  made["task_flow"] = frozen(std::move(certificate.task_flow));
  made["edges"] = flow.edges;
  made["edge_flow"] = flow.amounts;
  return made;
}

hlp::Certificate to_certificate(const py::dict& given) {
  return {reals(given, "weights"), reals(given, "task_flow"), to_flow(given)};
}

py::dict solution_dict(hlp::Solution solution) {
  const py::ssize_t n = solution.x.rows(), types = solution.x.cols();
  py::dict made;
  made["value"] = solution.value;
  made["x"] = frozen(std::move(solution.x), {n, types});
  made["C"] = frozen(std::move(solution.completion));
  made["certificate"] = certificate_dict(std::move(solution.certificate));
  made["complete"] = solution.complete;
  made["failure"] = solution.failure;
  return made;
}

py::dict refutation_dict(proof::Refutation refutation) {
  py::list stages;
  for (proof::RefutationStage& stage : refutation.stages)
    stages.append(stage_dict(std::move(stage)));
  py::dict made;
  made["makespan"] = refutation.makespan;
  made["stages"] = stages;
  return made;
}

proof::WindowsCertificate to_windows(const py::dict& given) {
  proof::WindowsCertificate certificate;
  certificate.relaxation = to_certificate(entry(given, "relaxation"));
  certificate.refutation.makespan = entry(given, "makespan").cast<double>();
  for (const py::handle stage : entry(given, "stages"))
    certificate.refutation.stages.push_back(to_stage(stage.cast<py::dict>()));
  return certificate;
}

py::dict refutation_dict(proof::TransferRefutation refutation, int types) {
  py::list stages;
  for (proof::TransferStage& stage : refutation.stages)
    stages.append(stage_dict(std::move(stage), types));
  py::dict made;
  made["makespan"] = refutation.makespan;
  made["stages"] = stages;
  made["clusters"] = refutation.clusters;
  return made;
}

proof::TransfersCertificate to_transfers(const py::dict& given) {
  proof::TransfersCertificate certificate;
  certificate.windows = to_windows(entry(given, "windows"));
  certificate.refutation.makespan = entry(given, "makespan").cast<double>();
  certificate.refutation.clusters = entry(given, "clusters").cast<bool>();
  for (const py::handle stage : entry(given, "stages"))
    certificate.refutation.stages.push_back(to_transfer_stage(stage.cast<py::dict>()));
  return certificate;
}

py::dict model_dict(const lp::Model& model) {
  std::vector<int> row, col;
  std::vector<double> value;
  for (const lp::Entry& entry : model.entries) {
    row.push_back(entry.row);
    col.push_back(entry.col);
    value.push_back(entry.value);
  }
  py::dict arrays;
  arrays["cost"] = real_array(model.cost);
  arrays["lower"] = real_array(model.lower);
  arrays["upper"] = real_array(model.upper);
  arrays["row_lower"] = real_array(model.row_lower);
  arrays["row_upper"] = real_array(model.row_upper);
  arrays["row"] = int_array(row);
  arrays["col"] = int_array(col);
  arrays["value"] = real_array(value);
  return arrays;
}

}  // namespace cosched::dags::bindings
