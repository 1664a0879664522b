#include "cosched/opt/inverse.hpp"

#include <Eigen/LU>

namespace cosched::opt {

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix) {
  return matrix.partialPivLu().inverse();
}

bool invert_if_regular(const Eigen::MatrixXd& matrix, double least_pivot,
                       Eigen::MatrixXd& inverse) {
  const auto factors = matrix.partialPivLu();
  if (!(factors.matrixLU().diagonal().cwiseAbs().minCoeff() > least_pivot)) return false;
  inverse = factors.inverse();
  return true;
}

}  // namespace cosched::opt
