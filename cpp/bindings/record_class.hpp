// Structs as classes of Python whose fields both sides know: a constructor with keywords only, which
// refuses unknown names; read-only attributes; replace(), repr, equality and pickling.
#pragma once

#include <pybind11/typing.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cosched/core/errors.hpp"
#include "pybind.hpp"

namespace cosched::bindings {

/// The message about a field that a class does not have; it names the nearest field by edit
/// distance, or all fields where none is near.
std::string unknown_field_message(const std::string& class_name, const std::string& field_name,
                                  const std::vector<std::string>& known_names);

/// What a type checker calls a class or a value in Python, as an argument.
template <class Value>
struct Annotation {
  /// The name of a class of records; RecordClass sets it.
  static std::string& class_name() {
    static std::string name;
    return name;
  }
  static std::string text() {
    if constexpr (std::is_same_v<Value, bool>)
      return "bool";
    else if constexpr (std::is_integral_v<Value>)
      return "int";
    else if constexpr (std::is_floating_point_v<Value>)
      return "float";
    else if constexpr (std::is_same_v<Value, std::string>)
      return "str";
    else
      return class_name();
  }
};
template <class Value>
struct Annotation<std::vector<Value>> {
  static std::string text() {
    return "collections.abc.Sequence[" + Annotation<Value>::text() + "]";
  }
};
template <class Value>
struct Annotation<py::typing::List<Value>> {
  static std::string text() { return "list[" + Annotation<Value>::text() + "]"; }
};
template <class Value>
struct Annotation<std::optional<Value>> {
  static std::string text() { return Annotation<Value>::text() + " | None"; }
};
template <class First, class Second>
struct Annotation<std::pair<First, Second>> {
  static std::string text() {
    return "tuple[" + Annotation<First>::text() + ", " + Annotation<Second>::text() + "]";
  }
};
template <class Key, class Value>
struct Annotation<std::map<Key, Value>> {
  static std::string text() {
    return "collections.abc.Mapping[" + Annotation<Key>::text() + ", " + Annotation<Value>::text() +
           "]";
  }
};
template <class Number, int Flags>
struct Annotation<py::array_t<Number, Flags>> {
  static std::string text() {
    return std::is_floating_point_v<Number> ? "numpy.typing.NDArray[numpy.float64]"
                                            : "numpy.typing.NDArray[numpy.int64]";
  }
};
template <class Number>
struct Annotation<Array<Number>> : Annotation<ArrayOf<Number>> {};

/// Binds the struct Record, which its default constructor makes a record of defaults.
template <class Record>
class RecordClass {
 public:
  /// Read-only attributes stay valid as long as the module; `name` is also that in messages.
  RecordClass(py::module_& module, const char* name, const char* description)
      : class_(module, name, description) {
    table().class_name = name;
    Annotation<Record>::class_name() =
        module.attr("__name__").template cast<std::string>() + "." + name;
  }

  /// `access(record)` returns a reference to the member; without the field it has its default.
  template <class Access>
  RecordClass& field(const char* name, Access access) {
    return add(name, access, false);
  }
  /// A field that the constructor requires.
  template <class Access>
  RecordClass& required(const char* name, Access access) {
    return add(name, access, true);
  }

  /// Binds the constructor and the methods; the fields are complete then.
  void finish() {
    py::options options;
    options.disable_function_signatures();
    const std::string self = "self: " + Annotation<Record>::text();
    const std::string init_doc = "__init__(" + self + arguments_text(true) + ") -> None";
    class_.def(py::init(&make), init_doc.c_str());
    const std::string replace_doc = "replace(" + self + arguments_text(false) + ") -> " +
                                    Annotation<Record>::text() +
                                    "\n\nReturn the record with other values of these fields.";
    class_.def("replace", &replaced, replace_doc.c_str());
    class_.def("__repr__", &text_of, ("__repr__(" + self + ") -> str").c_str());
    class_.def("__eq__", &equals, ("__eq__(" + self + ", other: object) -> bool").c_str());
    class_.def(py::pickle(&state_of, &from_state));
    class_.attr("__hash__") = py::none();
  }

 private:
  struct Field {
    std::string name;
    std::string annotation;
    bool is_required;
    std::function<void(Record&, py::handle)> set;
    std::function<py::object(const Record&)> get;
  };
  struct FieldTable {
    std::string class_name;
    std::vector<Field> fields;
    // Keywords of calls are interned, so that nearly every look-up is one of a pointer.
    std::map<PyObject*, std::size_t> position_by_keyword;
    std::map<std::string, std::size_t> position_by_name;
  };
  static FieldTable& table() {
    static FieldTable instance;
    return instance;
  }

  template <class Access>
  RecordClass& add(const char* name, Access access, bool is_required) {
    using Value = std::decay_t<std::invoke_result_t<Access, Record&>>;
    FieldTable& field_table = table();
    const std::string place = field_table.class_name + ": " + name;
    const std::string column = name;
    Field field{name, Annotation<Value>::text(), is_required, {}, {}};
    field.set = [access, place, column](Record& record, py::handle value) {
      std::invoke(access, record) = converted<Value>(value, place, column);
    };
    field.get = [access](const Record& record) -> py::object {
      if constexpr (std::is_base_of_v<py::object, Value>)
        return std::invoke(access, record);
      else
        return py::cast(static_cast<const Value&>(std::invoke(access, record)),
                        py::return_value_policy::copy);
    };
    field_table.position_by_keyword[py::str(name).release().ptr()] = field_table.fields.size();
    field_table.position_by_name[name] = field_table.fields.size();
    field_table.fields.push_back(std::move(field));
    class_.def_property_readonly(
        name, [access](const Record& record) -> Value { return std::invoke(access, record); });
    return *this;
  }

  template <class Value>
  static Value converted(py::handle value, const std::string& place, const std::string& column) {
    try {
      if constexpr (std::is_same_v<Value, Ints>)
        return copied<Ints>(value.cast<IntArray>(), column.c_str());
      else
        return value.cast<Value>();
    } catch (const py::cast_error&) {
      throw InvalidInstance("slurm: " + place + " = " + std::string(py::repr(value)) +
                            ": expected " + Annotation<Value>::text());
    }
  }

  static const Field& field_of(py::handle keyword) {
    FieldTable& field_table = table();
    const auto by_keyword = field_table.position_by_keyword.find(keyword.ptr());
    if (by_keyword != field_table.position_by_keyword.end())
      return field_table.fields[by_keyword->second];
    const auto name = keyword.cast<std::string>();
    const auto by_name = field_table.position_by_name.find(name);
    if (by_name != field_table.position_by_name.end()) return field_table.fields[by_name->second];
    std::vector<std::string> names;
    for (const Field& field : field_table.fields) names.push_back(field.name);
    throw InvalidInstance("slurm: " + unknown_field_message(field_table.class_name, name, names));
  }

  static Record make(const py::kwargs& values) {
    Record record = Record();
    std::size_t required_count = 0;
    for (const auto& [keyword, value] : values) {
      const Field& field = field_of(keyword);
      if (field.is_required) ++required_count;
      field.set(record, value);
    }
    require_all(values, required_count);
    return record;
  }

  static void require_all(const py::kwargs& values, std::size_t required_count) {
    std::size_t expected = 0;
    for (const Field& field : table().fields) {
      if (!field.is_required) continue;
      ++expected;
      if (required_count < expected && !values.contains(field.name))
        throw InvalidInstance("slurm: " + table().class_name + " without '" + field.name + "'");
    }
  }

  static Record replaced(const Record& record, const py::kwargs& values) {
    Record changed = record;
    for (const auto& [keyword, value] : values) field_of(keyword).set(changed, value);
    return changed;
  }

  static std::string text_of(const Record& record) {
    std::string text = table().class_name + "(";
    const char* separator = "";
    for (const Field& field : table().fields) {
      text += separator + field.name + "=" + std::string(py::repr(field.get(record)));
      separator = ", ";
    }
    return text + ")";
  }

  static bool equals(const Record& record, const py::object& other) {
    if (!py::isinstance<Record>(other)) return false;
    const auto& other_record = other.cast<const Record&>();
    for (const Field& field : table().fields)
      if (!field.get(record).equal(field.get(other_record))) return false;
    return true;
  }

  static py::dict state_of(const Record& record) {
    py::dict values;
    for (const Field& field : table().fields) values[field.name.c_str()] = field.get(record);
    return values;
  }
  static Record from_state(const py::dict& values) {
    Record record = Record();
    for (const auto& [name, value] : values) field_of(name).set(record, value);
    return record;
  }

  // Keywords as in a signature; of the constructor, those of required fields have no default.
  static std::string arguments_text(bool is_constructor) {
    std::string text = ", *";
    for (const Field& field : table().fields) {
      text += ", " + field.name + ": " + field.annotation;
      if (!is_constructor || !field.is_required) text += " = ...";
    }
    return text;
  }

  py::class_<Record> class_;
};

}  // namespace cosched::bindings
