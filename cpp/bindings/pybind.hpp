// What every bind_<family>.cpp needs: conversions in (one copy), out (moved, read-only
// where they alias an object), and the release of the GIL.
//
// Rule: convert arguments first, then run the solver inside released(...): it drops the GIL,
// and lets Ctrl-C and time limits end the work (core/interrupt.hpp).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "cosched/core/interrupt.hpp"
#include "cosched/core/schedule.hpp"
#include "cosched/core/times.hpp"

namespace cosched::bindings {

namespace py = pybind11;

using RealArray = py::array_t<double, py::array::c_style | py::array::forcecast>;
using IntArray = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

/// Copy of a 2-D array.  Python code checks dtype and shape first (core/arrays.py).
Table to_table(const RealArray& values);

/// Copy of a 1-D array.
std::vector<double> to_reals(const RealArray& values);

/// Copy of a 1-D array; throws InvalidInstance on an entry outside int.
std::vector<int> to_ints(const IntArray& values, const char* name);

/// New 1-D arrays that own their data.
py::array_t<std::int64_t> int_array(const std::vector<int>& values);
py::array_t<double> real_array(const std::vector<double>& values);
py::array_t<double> table_array(const Table& table);

/// Read-only array that takes a vector or a table over: no copy.
template <class Values>
py::array_t<typename Values::value_type> frozen(Values&& values, std::vector<py::ssize_t> shape) {
  auto kept = std::make_unique<Values>(std::move(values));
  const auto* const data = kept->data();
  const py::capsule owner(kept.get(), [](void* all) { delete static_cast<Values*>(all); });
  kept.release();
  py::array_t<typename Values::value_type> result(std::move(shape), data, owner);
  py::detail::array_proxy(result.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return result;
}

/// The same in one dimension.
template <class T>
py::array_t<T> frozen(std::vector<T>&& values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return frozen(std::move(values), {size});
}

/// Read-only view of a table inside `owner`, which stays alive as long as the view.
py::array table_view(const Table& table, py::handle owner);

/// (task, kind, unit_begin, unit, start, end): the columns of cosched.core.Schedule.
py::tuple schedule_columns(const Schedule& schedule);

Schedule to_schedule(const IntArray& task, const IntArray& kind, const IntArray& unit_begin,
                     const IntArray& unit, const RealArray& start, const RealArray& end);

/// Numbers that are arrays in Python, checked and copied on their way: a function that takes and
/// returns these, tables and schedules is bound as it is.
struct Ints : std::vector<int> {
  Ints() = default;
  Ints(std::vector<int>&& values) : vector(std::move(values)) {}  // NOLINT: a result becomes one
};
struct Reals : std::vector<double> {
  Reals() = default;
  Reals(std::vector<double>&& values) : vector(std::move(values)) {}  // NOLINT
};

/// What ended a search: "proved", "time" or "work".
inline const char* stopped_by(bool proved, bool complete) {
  return proved ? "proved" : complete ? "work" : "time";
}

/// Seconds after a time limit until which calls still begin: what was stopped becomes a result by
/// further short calls. A Python loop over solvers that stop by themselves ends then.
constexpr double kLateness = 2;

/// While it stands, the GIL is not held.  Throws TimeLimit long after a time limit of this thread.
class Released {
 public:
  Released() {
    if (seconds_left() < -kLateness) throw TimeLimit("the time limit has passed");
  }

 private:
  py::gil_scoped_release release_;
};

/// Runs `work` without the GIL.
template <class Work>
auto released(Work&& work) {
  const Released guard;
  return std::forward<Work>(work)();
}

/// Binds a function that touches no Python: arguments are converted before, the result after it
/// has run without the GIL.
template <class Function, class... Arguments>
void def(py::module_& module, const char* name, Function&& function, Arguments&&... arguments) {
  module.def(name, std::forward<Function>(function), py::call_guard<Released>(),
             std::forward<Arguments>(arguments)...);
}

}  // namespace cosched::bindings

namespace pybind11::detail {

template <>
struct type_caster<cosched::bindings::Ints> {
  PYBIND11_TYPE_CASTER(cosched::bindings::Ints, make_caster<cosched::bindings::IntArray>::name);
  bool load(handle source, bool convert) {
    make_caster<cosched::bindings::IntArray> array;
    if (!array.load(source, convert)) return false;
    value = cosched::bindings::to_ints(cast_op<cosched::bindings::IntArray&>(array), "array");
    return true;
  }
  static handle cast(const std::vector<int>& from, return_value_policy, handle) {
    return cosched::bindings::int_array(from).release();
  }
};

template <>
struct type_caster<cosched::bindings::Reals> {
  PYBIND11_TYPE_CASTER(cosched::bindings::Reals, make_caster<cosched::bindings::RealArray>::name);
  bool load(handle source, bool convert) {
    make_caster<cosched::bindings::RealArray> array;
    if (!array.load(source, convert)) return false;
    value = cosched::bindings::to_reals(cast_op<cosched::bindings::RealArray&>(array));
    return true;
  }
  static handle cast(const std::vector<double>& from, return_value_policy, handle) {
    return cosched::bindings::real_array(from).release();
  }
};

template <>
struct type_caster<cosched::Table> {
  PYBIND11_TYPE_CASTER(cosched::Table, make_caster<cosched::bindings::RealArray>::name);
  bool load(handle source, bool convert) {
    make_caster<cosched::bindings::RealArray> array;
    if (!array.load(source, convert)) return false;
    value = cosched::bindings::to_table(cast_op<cosched::bindings::RealArray&>(array));
    return true;
  }
  static handle cast(const cosched::Table& from, return_value_policy, handle) {
    return cosched::bindings::table_array(from).release();
  }
};

/// Into Python: the columns of cosched.core.Schedule.
template <>
struct type_caster<cosched::Schedule> {
  PYBIND11_TYPE_CASTER(cosched::Schedule, const_name("tuple"));
  bool load(handle, bool) { return false; }
  static handle cast(const cosched::Schedule& from, return_value_policy, handle) {
    return cosched::bindings::schedule_columns(from).release();
  }
};

}  // namespace pybind11::detail
