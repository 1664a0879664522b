// What every bind_<family>.cpp needs: conversions in (one copy), out (moved, read-only
// where they alias an object), and the release of the GIL.
//
// Rule: arguments are converted first, then the solver runs without the GIL (`def` sees to both),
// so that Ctrl-C and time limits end the work (core/interrupt.hpp).  A struct crosses as what
// in_python(value), in its own namespace, makes of it, and back by from_python(columns, type).
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <tuple>

#include "cosched/core/interrupt.hpp"
#include "cosched/core/schedule.hpp"
#include "cosched/core/task_graph.hpp"
#include "cosched/core/times.hpp"

namespace cosched::bindings {

namespace py = pybind11;
using namespace py::literals;  // NOLINT: "name"_a

void require_dimensions(const py::array& values, int expected, const char* name);
/// `k`: the position of the value in the array.
void require_int(std::int64_t value, const char* name, py::ssize_t k);

/// The type in which numpy stores numbers of type T.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, int>, std::int64_t, T>;
template <class T>
using ArrayOf = py::array_t<Wide<T>, py::array::c_style | py::array::forcecast>;
using RealArray = ArrayOf<double>;
using IntArray = ArrayOf<int>;
using Seconds = std::optional<double>;

/// Copy of an array as a vector, or of one of two dimensions as a matrix.  Python code checks dtype
/// and shape first (core/arrays.py); throws InvalidInstance on other dimensions, and on an entry
/// outside int.
template <class Values>
Values copied(const ArrayOf<typename Values::value_type>& array, const char* name = "array") {
  using T = typename Values::value_type;
  constexpr int kDimensions = std::is_base_of_v<std::vector<T>, Values> ? 1 : 2;
  require_dimensions(array, kDimensions, name);
  Values values;
  if constexpr (kDimensions == 1)
    values.resize(array.size());
  else
    values = Values(array.shape(0), array.shape(1));
  for (py::ssize_t k = 0; k < array.size(); ++k) {
    if constexpr (std::is_same_v<T, int>) require_int(array.data()[k], name, k);
    values.data()[k] = static_cast<T>(array.data()[k]);
  }
  return values;
}

/// New array that owns its data.
template <class Values>
py::array_t<Wide<typename Values::value_type>> array_of(const Values& values) {
  using T = typename Values::value_type;
  std::vector<py::ssize_t> shape;
  if constexpr (std::is_base_of_v<std::vector<T>, Values>)
    shape = {static_cast<py::ssize_t>(values.size())};
  else
    shape = {values.rows(), values.cols()};
  py::array_t<Wide<T>> array(shape);
  std::copy_n(values.data(), values.size(), array.mutable_data());
  return array;
}

/// Copy of an array of shape (e, 2).
std::vector<Edge> to_edges(const IntArray& edges);

/// Read-only array that takes a vector or a table over: no copy.
template <class Values>
py::array_t<typename Values::value_type> frozen(Values&& values, std::vector<py::ssize_t> shape) {
  auto owned_values = std::make_unique<Values>(std::move(values));
  const auto* const data = owned_values->data();
  const py::capsule owner(owned_values.get(),
                          [](void* pointer) { delete static_cast<Values*>(pointer); });
  owned_values.release();
  py::array_t<typename Values::value_type> array(std::move(shape), data, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// The same in one dimension.
template <class T>
py::array_t<T> frozen(std::vector<T>&& values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return frozen(std::move(values), {size});
}

/// And of a table.
inline py::array_t<double> frozen(Table&& table) {
  const std::vector<py::ssize_t> shape{table.rows(), table.cols()};
  return frozen(std::move(table), shape);
}

/// Read-only view of a table inside `owner`, which stays alive as long as the view.
py::array table_view(const Table& table, py::handle owner);

/// A property: the view of a table of the object.
template <class Owner>
auto table_of(const Table& (Owner::*table)() const) {
  return [table](const py::object& self) {
    return table_view((self.cast<const Owner&>().*table)(), self);
  };
}

/// Numbers that are an array in Python, checked and copied on their way: a function that takes and
/// returns these, tables and schedules is bound as it is.
template <class T>
struct Array : std::vector<T> {
  Array() = default;
  Array(std::vector<T>&& values) : std::vector<T>(std::move(values)) {}  // NOLINT: converts
  Array(const std::vector<T>& values) : std::vector<T>(values) {}        // NOLINT
};
using Ints = Array<int>;
using Longs = Array<std::int64_t>;
using Reals = Array<double>;

/// What ended a search: "proved", "time" or "work".
inline const char* stopped_by(bool proved, bool complete) {
  return proved ? "proved" : complete ? "work" : "time";
}

/// Seconds after a time limit until which calls still begin: what was stopped becomes a result by
/// further short calls. A Python loop over solvers that stop by themselves ends then.
constexpr double kMaxLateness = 2;

/// Releases the GIL while it is alive.  Throws TimeLimit long after a time limit of this thread.
class Released {
 public:
  Released() {
    if (seconds_left() < -kMaxLateness) throw TimeLimit("the time limit has passed");
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

/// The type that replaces T among the arguments and as the result of a bound function.
template <class T>
struct Crossing {
  using Type = T;
};
template <class T>
struct Crossing<std::vector<T>> {
  using Type = std::conditional_t<std::is_arithmetic_v<T>, Array<T>, std::vector<T>>;
};
template <class T>
struct Crossing<const std::vector<T>&> {
  using Type = const typename Crossing<std::vector<T>>::Type&;
};

/// The function with the types of Crossing for its arguments and its result.
template <class Result, class... Arguments>
auto crossing(Result (*function)(Arguments...)) {
  return [function](typename Crossing<Arguments>::Type... arguments) {
    return typename Crossing<Result>::Type(function(static_cast<Arguments>(arguments)...));
  };
}

/// Binds a function that touches no Python: arguments are converted before, the result after it
/// has run without the GIL.  Functions that may be called long after a time limit, such as measures
/// of a schedule that a stopped search has returned, are bound by module.def.
template <class Function, class... Extra>
void def(py::module_& module, const char* name, Function function, const Extra&... extra) {
  module.def(name, std::move(function), py::call_guard<Released>(), extra...);
}
template <class Result, class... Arguments, class... Extra>
void def(py::module_& module, const char* name, Result (*function)(Arguments...),
         const Extra&... extra) {
  def(module, name, crossing(function), extra...);
}

/// Binds a list of names: an enum in Python too.
template <class Key>
void def_names(py::module_& module, const char* name,
               std::initializer_list<std::pair<const char*, Key>> entries) {
  py::native_enum<Key> type(module, name, "enum.Enum");
  for (const auto& [text, value] : entries) type.value(text, value);
  type.finalize();
}

/// `validate(task, kind, unit_begin, unit, start, end)`, as Python calls it of every family, one of
/// a user's own included.
template <class Instance, class Check>
auto validator(Check check) {
  return [check](const Instance& instance, const py::args& columns) {
    const auto schedule = columns.cast<Schedule>();
    released([&] { check(instance, schedule); });
  };
}

}  // namespace cosched::bindings

namespace pybind11::detail {

/// A value that is an array in Python.
template <class Value>
struct numbers_caster {
  using PythonArray = cosched::bindings::ArrayOf<typename Value::value_type>;
  PYBIND11_TYPE_CASTER(Value, make_caster<PythonArray>::name);
  bool load(handle source, bool convert) {
    make_caster<PythonArray> array;
    if (!array.load(source, convert)) return false;
    value = cosched::bindings::copied<Value>(cast_op<PythonArray&>(array));
    return true;
  }
  static handle cast(const Value& from, return_value_policy, handle) {
    return cosched::bindings::array_of(from).release();
  }
};

template <class T>
struct type_caster<cosched::bindings::Array<T>> : numbers_caster<cosched::bindings::Array<T>> {};
template <class T>
struct type_caster<cosched::Matrix<T>> : numbers_caster<cosched::Matrix<T>> {};

/// A struct that in_python() and, on its way in, from_python() know.
template <class T>
struct type_caster<T, std::void_t<decltype(in_python(std::declval<T>()))>> {
  using Columns = decltype(in_python(std::declval<T>()));
  static constexpr auto name = make_caster<Columns>::name;

  bool load(handle source, bool convert) {
    make_caster<Columns> columns;
    if (!columns.load(source, convert)) return false;
    value_ = from_python(cast_op<Columns>(std::move(columns)), static_cast<T*>(nullptr));
    return true;
  }
  static handle cast(T from, return_value_policy policy, handle parent) {
    return make_caster<Columns>::cast(in_python(std::move(from)), policy, parent);
  }

  template <class U>
  using cast_op_type = movable_cast_op_type<U>;
  operator T*() { return &*value_; }                // NOLINT: as pybind11 asks for them
  operator T&() { return *value_; }                 // NOLINT
  operator T&&() && { return std::move(*value_); }  // NOLINT

 private:
  std::optional<T> value_;
};

}  // namespace pybind11::detail

namespace cosched {

/// The columns of cosched.core.Schedule: task, kind, unit_begin, unit, start, end.
using ScheduleColumns = std::tuple<bindings::Ints, bindings::Ints, bindings::Longs, bindings::Ints,
                                   bindings::Reals, bindings::Reals>;
ScheduleColumns in_python(Schedule schedule);
Schedule from_python(ScheduleColumns columns, const Schedule*);

}  // namespace cosched
