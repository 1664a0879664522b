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

template <class Array>
void require_dimensions(const Array& values, int expected, const char* name) {
  if (values.ndim() != expected)
    throw InvalidInstance(std::string(name) + ": expected " + std::to_string(expected) +
                          " dimensions, got " + std::to_string(values.ndim()));
}

}  // namespace

Table to_table(const RealArray& values) {
  require_dimensions(values, 2, "table");
  Table table(values.shape(0), values.shape(1));
  std::copy(values.data(), values.data() + values.size(), table.data());
  return table;
}

std::vector<double> to_reals(const RealArray& values) {
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

py::array_t<std::int64_t> int_array(const std::vector<int>& values) {
  return copy_out<std::int64_t>(values);
}

py::array_t<double> real_array(const std::vector<double>& values) {
  return copy_out<double>(values);
}

py::array_t<double> table_array(const Table& table) {
  py::array_t<double> result({table.rows(), table.cols()});
  std::copy(table.data(), table.data() + table.size(), result.mutable_data());
  return result;
}

py::array table_view(const Table& table, py::handle owner) {
  py::array_t<double> view({table.rows(), table.cols()}, table.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

py::tuple schedule_columns(const Schedule& schedule) {
  return py::make_tuple(int_array(schedule.task), int_array(schedule.kind),
                        copy_out<std::int64_t>(schedule.unit_begin), int_array(schedule.unit),
                        real_array(schedule.start), real_array(schedule.end));
}

Schedule to_schedule(const IntArray& task, const IntArray& kind, const IntArray& unit_begin,
                     const IntArray& unit, const RealArray& start, const RealArray& end) {
  Schedule schedule;
  schedule.task = to_ints(task, "task");
  schedule.kind = to_ints(kind, "kind");
  require_dimensions(unit_begin, 1, "unit_begin");
  schedule.unit_begin.assign(unit_begin.data(), unit_begin.data() + unit_begin.size());
  schedule.unit = to_ints(unit, "unit");
  schedule.start = to_reals(start);
  schedule.end = to_reals(end);
  return schedule;
}

}  // namespace cosched::bindings
