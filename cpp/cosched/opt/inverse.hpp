// The inverse of a square matrix, by LU factors with partial pivots. This is the place that
// instantiates them: each costs seconds of compilation.
#pragma once

#include <Eigen/Core>

namespace cosched::opt {

/// Not finite where the matrix is singular.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix);

/// Inverts the matrix; returns false and leaves `inverse` unchanged where a pivot is at most
/// `least_pivot` in size.
bool invert_if_regular(const Eigen::MatrixXd& matrix, double least_pivot, Eigen::MatrixXd& inverse);

}  // namespace cosched::opt
