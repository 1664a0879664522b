#include "pybind.hpp"

#include "cosched/core/errors.hpp"

namespace cosched::bindings {

void require_dimensions(const py::array& values, int expected, const char* name) {
  if (values.ndim() != expected)
    throw InvalidInstance(std::string(name) + ": expected " + std::to_string(expected) +
                          " dimensions, got " + std::to_string(values.ndim()));
}

void require_int(std::int64_t value, const char* name, py::ssize_t k) {
  if (value != static_cast<int>(value))
    throw InvalidInstance(std::string(name) + "[" + std::to_string(k) +
                          "] = " + std::to_string(value) + ": out of range");
}

std::vector<Edge> to_edges(const IntArray& edges) {
  if (edges.ndim() != 2 || edges.shape(1) != 2)
    throw InvalidInstance("edges: expected shape (e, 2)");
  const auto flat = copied<Ints>(edges.attr("ravel")(), "edges");
  std::vector<Edge> pairs;
  for (std::size_t k = 0; k < flat.size(); k += 2) pairs.emplace_back(flat[k], flat[k + 1]);
  return pairs;
}

py::array table_view(const Table& table, py::handle owner) {
  py::array_t<double> view({table.rows(), table.cols()}, table.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace cosched::bindings

namespace cosched {

ScheduleColumns in_python(Schedule schedule) {
  return {std::move(schedule.task), std::move(schedule.kind),  std::move(schedule.unit_begin),
          std::move(schedule.unit), std::move(schedule.start), std::move(schedule.end)};
}

Schedule from_python(ScheduleColumns columns, const Schedule*) {
  Schedule schedule;
  std::tie(schedule.task, schedule.kind, schedule.unit_begin, schedule.unit, schedule.start,
           schedule.end) = std::move(columns);
  return schedule;
}

}  // namespace cosched
