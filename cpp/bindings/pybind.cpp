#include "pybind.hpp"

#include <limits>
#include <string>

#include "cosched/core/errors.hpp"

namespace cosched::bindings {
namespace {

template <class Out, class In>
py::array_t<Out> copy_out(const std::vector<In>& values) {
  py::array_t<Out> result(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), result.mutable_data());
  return result;
}

template <class T>
py::array_t<T> copy_out(const Matrix<T>& values) {
  py::array_t<T> result({values.rows(), values.cols()});
  std::copy(values.data(), values.data() + values.size(), result.mutable_data());
  return result;
}

template <class Array>
void require_dimensions(const Array& values, int expected, const char* name) {
  if (values.ndim() != expected)
    throw InvalidInstance(std::string(name) + ": expected " + std::to_string(expected) +
                          " dimensions, got " + std::to_string(values.ndim()));
}

template <class T, class Array>
Matrix<T> copy_in(const Array& values) {
  require_dimensions(values, 2, "table");
  Matrix<T> table(values.shape(0), values.shape(1));
  std::copy(values.data(), values.data() + values.size(), table.data());
  return table;
}

}  // namespace

Table to_table(const RealArray& values) { return copy_in<double>(values); }

Matrix<std::int64_t> to_counts(const IntArray& values) { return copy_in<std::int64_t>(values); }

std::vector<double> to_reals(const RealArray& values) {
  require_dimensions(values, 1, "array");
  return {values.data(), values.data() + values.size()};
}

std::vector<std::int64_t> to_longs(const IntArray& values) {
  require_dimensions(values, 1, "array");
  return {values.data(), values.data() + values.size()};
}

std::vector<int> to_ints(const IntArray& values, const char* name) {
  require_dimensions(values, 1, name);
  std::vector<int> result(values.size());
  for (py::ssize_t k = 0; k < values.size(); ++k) {
    const std::int64_t value = values.data()[k];
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      throw InvalidInstance(std::string(name) + "[" + std::to_string(k) +
                            "] = " + std::to_string(value) + ": out of range");
    result[k] = static_cast<int>(value);
  }
  return result;
}

std::vector<Edge> to_edges(const IntArray& edges) {
  if (edges.ndim() != 2 || edges.shape(1) != 2)
    throw InvalidInstance("edges: expected shape (e, 2)");
  const auto flat = to_ints(edges.attr("ravel")().cast<IntArray>(), "edges");
  std::vector<Edge> pairs;
  for (std::size_t k = 0; k < flat.size(); k += 2) pairs.emplace_back(flat[k], flat[k + 1]);
  return pairs;
}

py::array_t<std::int64_t> array_of(const std::vector<int>& values) {
  return copy_out<std::int64_t>(values);
}

py::array_t<std::int64_t> array_of(const std::vector<std::int64_t>& values) {
  return copy_out<std::int64_t>(values);
}

py::array_t<double> array_of(const std::vector<double>& values) { return copy_out<double>(values); }

py::array_t<std::int64_t> array_of(const Matrix<std::int64_t>& counts) { return copy_out(counts); }

py::array_t<double> array_of(const Table& table) { return copy_out(table); }

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
