// Structs as dicts of read-only arrays, and back: keys are the names of the fields of their classes
// in Python.  The namespace of a struct has fields(record, visit), which calls visit(name, member)
// for each member; the namespace of a row of a table has row_of(row), which returns an array of
// numbers, and from_row(numbers, row), which reads them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "pybind.hpp"

namespace cosched::bindings {

/// The entry of a record, by name.
inline py::object entry(const py::dict& columns, const char* name) {
  if (!columns.contains(name)) throw InvalidInstance(std::string("certificate: no ") + name);
  return columns[name];
}

struct AnyVisit {
  template <class T>
  void operator()(const char* name, T& member) const;
};
template <class T, class = void>
constexpr bool kIsRecord = false;
template <class T>
constexpr bool kIsRecord<T, std::void_t<decltype(fields(std::declval<T&>(), AnyVisit()))>> = true;

/// Fills a dict.  Vectors and tables are moved out of the record.
struct RecordWriter {
  py::dict columns;

  template <class T>
  void operator()(const char* name, T& member) const {
    if constexpr (kIsRecord<T>) {
      py::dict inner;
      fields(member, RecordWriter{inner});
      columns[name] = inner;
    } else {
      columns[name] = member;
    }
  }
  void operator()(const char* name, std::vector<double>& member) const {
    columns[name] = frozen(std::move(member));
  }
  void operator()(const char* name, Table& member) const {
    columns[name] = frozen(std::move(member));
  }
  /// Flows on edges are two columns: the edges and the amounts.
  void operator()(const char* name, std::vector<EdgeFlow>& member) const {
    std::vector<std::int64_t> edges;
    std::vector<double> amounts;
    for (const EdgeFlow& edge : member) {
      edges.insert(edges.end(), {edge.from, edge.to});
      amounts.push_back(edge.amount);
    }
    columns["edges"] = frozen(std::move(edges), {static_cast<py::ssize_t>(member.size()), 2});
    columns[name] = frozen(std::move(amounts));
  }
  template <class Row>
  void operator()(const char* name, std::vector<Row>& member) const {
    if constexpr (kIsRecord<Row>) {
      py::list rows;
      for (Row& row : member) {
        py::dict inner;
        fields(row, RecordWriter{inner});
        rows.append(inner);
      }
      columns[name] = rows;
    } else {
      using Numbers = decltype(row_of(std::declval<Row>()));
      std::vector<typename Numbers::value_type> entries;
      for (const Row& row : member) {
        const Numbers numbers = row_of(row);
        entries.insert(entries.end(), numbers.begin(), numbers.end());
      }
      const auto width = static_cast<py::ssize_t>(std::tuple_size_v<Numbers>);
      columns[name] = frozen(std::move(entries), {static_cast<py::ssize_t>(member.size()), width});
    }
  }
};

/// Reads a dict; throws InvalidInstance where a member is missing.
struct RecordReader {
  py::dict columns;

  template <class T>
  void operator()(const char* name, T& member) const {
    if constexpr (kIsRecord<T>)
      fields(member, RecordReader{entry(columns, name)});
    else
      member = entry(columns, name).cast<T>();
  }
  void operator()(const char* name, std::vector<double>& member) const {
    member = copied<Reals>(entry(columns, name).attr("ravel")());
  }
  void operator()(const char* name, std::vector<EdgeFlow>& member) const {
    const std::vector<Edge> edges = to_edges(entry(columns, "edges").cast<IntArray>());
    std::vector<double> amounts;
    (*this)(name, amounts);
    if (edges.size() != amounts.size())
      throw InvalidInstance("certificate: edge arrays of different lengths");
    for (std::size_t k = 0; k < edges.size(); ++k)
      member.push_back({edges[k].first, edges[k].second, amounts[k]});
  }
  template <class Row>
  void operator()(const char* name, std::vector<Row>& member) const {
    if constexpr (kIsRecord<Row>) {
      for (const py::handle row : entry(columns, name))
        fields(member.emplace_back(), RecordReader{row.cast<py::dict>()});
    } else {
      using Numbers = decltype(row_of(std::declval<Row>()));
      const auto flat =
          entry(columns, name).attr("ravel")().cast<Array<typename Numbers::value_type>>();
      Numbers numbers;
      for (std::size_t k = 0; k + numbers.size() <= flat.size(); k += numbers.size()) {
        std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(k), numbers.size(), numbers.begin());
        member.push_back(from_row(numbers, static_cast<Row*>(nullptr)));
      }
    }
  }
};

}  // namespace cosched::bindings

namespace pybind11::detail {

/// A struct whose members fields() names.
template <class T>
struct type_caster<T, std::enable_if_t<cosched::bindings::kIsRecord<T>>> {
  PYBIND11_TYPE_CASTER(T, const_name("dict"));
  bool load(handle source, bool) {
    if (!isinstance<dict>(source)) return false;
    fields(value, cosched::bindings::RecordReader{reinterpret_borrow<dict>(source)});
    return true;
  }
  static handle cast(T from, return_value_policy, handle) {
    dict columns;
    fields(from, cosched::bindings::RecordWriter{columns});
    return columns.release();
  }
};

}  // namespace pybind11::detail
