// The inverse of a square matrix, by LU factors with partial pivots. This is the place that
// instantiates them: each costs seconds of compilation.
#pragma once

#include <Eigen/Core>

namespace cosched::opt {

/// Not finite where the matrix is singular.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix);

/// False, and `inverse` as it was: a pivot is at most `least_pivot` in size.
bool invert(const Eigen::MatrixXd& matrix, double least_pivot, Eigen::MatrixXd& inverse);

}  // namespace cosched::opt
