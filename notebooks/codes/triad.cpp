// Bound by memory: a = b + s c over arrays that no cache holds, as in STREAM.  ./triad MILLIONS
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** arguments) {
  const long size = 1'000'000L * (count > 1 ? std::atol(arguments[1]) : 16);
  const int rounds = 24;
  std::vector<double> a(size), b(size, 1.0), c(size, 2.0);
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < size; ++i) a[i] = b[i] + 0.5 * c[i];
    b.swap(a);
  }
  std::printf("sum %.1f\n", b[0] + b[size - 1]);
}
