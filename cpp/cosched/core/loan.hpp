// A reference to the buffer in which a function keeps its answer: valid until its next call.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace cosched {

/// Such a reference, or none. Using it after the next call of the function that gave it throws, so
/// that a caller that needs an answer longer has to copy it.
template <class Value>
class Loan {
 public:
  Loan() = default;
  Loan(const Value& value, const std::int64_t& calls)
      : value_(&value), calls_(&calls), call_(calls) {}

  explicit operator bool() const { return value_ != nullptr; }
  const Value& operator*() const { return *get(); }
  const Value* operator->() const { return get(); }

  /// Null: none.
  const Value* get() const {
    if (value_ != nullptr && *calls_ != call_)
      throw std::logic_error("an answer is used after the next call of the function that gave it");
    return value_;
  }

 private:
  const Value* value_ = nullptr;
  const std::int64_t* calls_ = nullptr;
  std::int64_t call_ = 0;
};

/// The answers of one function: each call of `begin_call` ends the loans of the call before.
class Lender {
 public:
  void begin_call() { ++calls_; }

  template <class Value>
  Loan<Value> lend(const Value& value) const {
    return {value, calls_};
  }

 private:
  std::int64_t calls_ = 0;
};

}  // namespace cosched
