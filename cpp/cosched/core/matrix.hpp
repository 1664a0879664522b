// A dense row-major matrix: storage and access, no algebra (what multiplies or factorises uses
// Eigen).
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace cosched {

/// Consecutive values of a matrix that somebody else keeps; T may be const.
template <class T>
class Row {
 public:
  Row(T* begin, std::ptrdiff_t size) : begin_(begin), size_(size) {}
  Row(const Row&) = default;
  Row& operator=(const Row&) = delete;  // would it copy values or look elsewhere?  set_row copies

  T* begin() const { return begin_; }
  T* end() const { return begin_ + size_; }
  std::ptrdiff_t size() const { return size_; }
  T& operator[](std::ptrdiff_t column) const { return begin_[column]; }

  // Of a row that is not empty.
  T least() const { return *std::min_element(begin(), end()); }
  T greatest() const { return *std::max_element(begin(), end()); }
  std::remove_const_t<T> sum() const {
    return std::accumulate(begin(), end(), std::remove_const_t<T>{});
  }
  void operator*=(T factor) const {
    for (T& value : *this) value *= factor;
  }
  void operator/=(T divisor) const {
    for (T& value : *this) value /= divisor;
  }

 private:
  T* begin_;
  std::ptrdiff_t size_;
};

/// rows x cols values; a row is contiguous in memory.
template <class T>
class Matrix {
 public:
  using value_type = T;

  Matrix() = default;
  Matrix(std::ptrdiff_t rows, std::ptrdiff_t cols, T value = T{})
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols), value) {}
  /// One list a row, all of one length.
  Matrix(std::initializer_list<std::initializer_list<T>> rows)
      : rows_(static_cast<std::ptrdiff_t>(rows.size())),
        cols_(rows_ == 0 ? 0 : static_cast<std::ptrdiff_t>(rows.begin()->size())) {
    values_.reserve(static_cast<std::size_t>(rows_ * cols_));
    for (const auto& row : rows) values_.insert(values_.end(), row);
  }
  // Moved from, a matrix is empty: 0 x 0.
  Matrix(const Matrix&) = default;
  Matrix& operator=(const Matrix&) = default;
  Matrix(Matrix&& other) noexcept
      : rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)),
        values_(std::move(other.values_)) {}
  Matrix& operator=(Matrix&& other) noexcept {
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    values_ = std::move(other.values_);
    return *this;
  }
  ~Matrix() = default;

  std::ptrdiff_t rows() const { return rows_; }
  std::ptrdiff_t cols() const { return cols_; }
  std::ptrdiff_t size() const { return rows_ * cols_; }
  bool empty() const { return values_.empty(); }

  T& operator()(std::ptrdiff_t i, std::ptrdiff_t j) { return values_[at(i, j)]; }
  const T& operator()(std::ptrdiff_t i, std::ptrdiff_t j) const { return values_[at(i, j)]; }
  Row<T> row(std::ptrdiff_t i) { return {values_.data() + i * cols_, cols_}; }
  Row<const T> row(std::ptrdiff_t i) const { return {values_.data() + i * cols_, cols_}; }

  /// `values` has cols() entries.
  void set_row(std::ptrdiff_t i, Row<const T> values) {
    std::copy(values.begin(), values.end(), row(i).begin());
  }

  /// *this += factor * other, of the same shape.
  void add(T factor, const Matrix& other) {
    for (std::size_t k = 0; k < values_.size(); ++k) values_[k] += factor * other.values_[k];
  }

  // All values, row after row.
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  friend bool operator==(const Matrix& a, const Matrix& b) {
    return a.rows_ == b.rows_ && a.cols_ == b.cols_ && a.values_ == b.values_;
  }

 private:
  std::size_t at(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return static_cast<std::size_t>(i * cols_ + j);
  }

  std::ptrdiff_t rows_ = 0, cols_ = 0;
  std::vector<T> values_;
};

}  // namespace cosched
