// Prints the random case of a test that fails: `SHOW_ON_FAILURE(seed);`, `SHOW_ON_FAILURE(instance);`.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace cosched::test_support {

/// Numbers and texts are printed as they are; what else is shown has a `show` of its own, in its
/// namespace (support/show_packs.hpp and its siblings).
template <class Value>
auto show(std::ostream& out, const Value& value) -> decltype(out << value, void()) {
  out << value;
}

template <class Value>
void show(std::ostream& out, const std::vector<Value>& values) {
  out << '[';
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k > 0) out << ", ";
    show(out, values[k]);
  }
  out << ']';
}

template <class Key, class Value>
void show(std::ostream& out, const std::map<Key, Value>& entries) {
  out << '{';
  for (const auto& [key, value] : entries) out << key << " = " << value << "; ";
  out << '}';
}

/// Rows of numbers with enough digits to be put into a test again.
template <class Matrix>
void show_rows(std::ostream& out, const Matrix& matrix) {
  out << '{';
  for (std::ptrdiff_t i = 0; i < matrix.rows(); ++i) {
    out << (i > 0 ? ", {" : "{");
    for (std::ptrdiff_t j = 0; j < matrix.cols(); ++j) out << (j > 0 ? ", " : "") << matrix(i, j);
    out << '}';
  }
  out << '}';
}

/// Prints a value where an assertion fails, or an exception is thrown, before the scope ends. A
/// value whose test passes costs two loads and a comparison, and is not printed.
class ShowOnFailure {
 public:
  template <class Value>
  ShowOnFailure(const char* name, const Value& value)
      : name_(name),
        value_(&value),
        print_([](std::ostream& out, const void* opaque_value) {
          show(out, *static_cast<const Value*>(opaque_value));
        }),
        parts_before_(parts()),
        exceptions_before_(std::uncaught_exceptions()) {}
  ShowOnFailure(const ShowOnFailure&) = delete;
  ShowOnFailure& operator=(const ShowOnFailure&) = delete;

  ~ShowOnFailure() {
    if (!has_failed()) return;
    std::ostringstream text;
    text.precision(17);
    print_(text, value_);
    std::cout << "  with " << name_ << " = " << text.str().substr(0, kMostCharacters) << std::endl;
  }

 private:
  static constexpr std::size_t kMostCharacters = 20'000;  // of a value; the seed says the rest

  static int parts() {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return test == nullptr ? 0 : test->result()->total_part_count();
  }

  bool has_failed() const {
    return parts() > parts_before_ || std::uncaught_exceptions() > exceptions_before_;
  }

  const char* name_;
  const void* value_;
  void (*print_)(std::ostream&, const void*);
  int parts_before_, exceptions_before_;
};

}  // namespace cosched::test_support

#define COSCHED_JOINED_NAME(a, b) a##b
#define COSCHED_NAME_OF_LINE(line) COSCHED_JOINED_NAME(show_on_failure_, line)
#define SHOW_ON_FAILURE(value) \
  const ::cosched::test_support::ShowOnFailure COSCHED_NAME_OF_LINE(__LINE__)(#value, value)
