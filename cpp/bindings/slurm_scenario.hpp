// What Python says of machine, jobs and accounts, as the simulator of Slurm takes it.
#pragma once

#include <set>

#include "cosched/slurm/simulate/simulator.hpp"
#include "pybind.hpp"

namespace cosched::cluster::bindings {

using namespace cosched::bindings;  // NOLINT

using Ranges = std::vector<std::pair<int, int>>;  // [first, last) of node numbers

/// Values by name; each must be there, and columns of a table are of one length.
class Named {
 public:
  Named(const py::dict& given, const char* what) : given_(given), what_(what) {}

  py::object operator[](const char* name) const {
    if (!given_.contains(name))
      throw InvalidInstance("slurm: " + std::string(what_) + " without '" + name + "'");
    return given_[name];
  }
  double number(const char* name) const { return (*this)[name].cast<double>(); }
  std::vector<double> reals(const char* name) {
    return of_one_length(copied<Reals>((*this)[name]), name);
  }
  std::vector<int> ints(const char* name) {
    return of_one_length(copied<Ints>((*this)[name], name), name);
  }
  std::vector<Ranges> ranges(const char* name) {
    return of_one_length((*this)[name].cast<std::vector<Ranges>>(), name);
  }
  std::size_t rows() const { return rows_.value_or(0); }

 private:
  template <class Column>
  Column of_one_length(Column column, const char* name) {
    if (rows_.value_or(column.size()) != column.size())
      throw InvalidInstance("slurm: " + std::string(what_) + ": '" + name + "' has " +
                            std::to_string(column.size()) + " rows: expected " +
                            std::to_string(*rows_));
    rows_ = column.size();
    return column;
  }

  const py::dict& given_;
  const char* what_;
  std::optional<std::size_t> rows_;
};

/// Values by name that may be missing; one by a name that is never asked for is an error.
class Optional {
 public:
  Optional(py::dict given, const char* what) : given_(std::move(given)), what_(what) {}

  std::optional<py::object> find(const char* name) {
    if (!given_.contains(name)) return std::nullopt;
    names_.insert(name);
    return given_[name];
  }
  template <class Value>
  void set(const char* name, Value& member) {
    const auto value = find(name);
    if (!value) return;
    try {
      member = value->template cast<Value>();
    } catch (const py::cast_error&) {
      throw InvalidInstance("slurm: " + std::string(what_) + ": " + name + " = " +
                            py::repr(*value).template cast<std::string>() + ": out of range");
    }
  }
  /// Throws InvalidInstance, which names it.
  void require_no_others() const {
    if (names_.size() == given_.size()) return;
    for (const auto& [key, value] : given_)
      if (const auto name = key.cast<std::string>(); names_.count(name) == 0)
        throw InvalidInstance("slurm: " + std::string(what_) + " has '" + name +
                              "', which the core does not know");
  }

 private:
  py::dict given_;
  const char* what_;
  std::set<std::string> names_;  // that are there and were asked for
};

/// Machine, partitions and jobs are tables of columns by name; `more`: job -> what it asks beyond
/// whole nodes; reservations, what comes from outside, associations: a row each.  Throws
/// InvalidInstance where a number refers to what is not there.
slurm::Scenario make_scenario(const py::dict& machine, const py::dict& partitions,
                              const std::map<std::string, double>& parameters, const py::dict& jobs,
                              const py::dict& more, const py::list& reservations,
                              const py::list& outside, const py::list& accounts);

}  // namespace cosched::cluster::bindings
