// Scales: each point of the Mandelbrot set is computed by itself.  ./fractal ROWS
#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  const int size = count > 1 ? std::atoi(arguments[1]) : 800;
  long inside = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : inside)
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      const double x0 = -2.0 + 2.6 * column / size, y0 = -1.3 + 2.6 * row / size;
      double x = 0, y = 0;
      int step = 0;
      for (; step < 1000 && x * x + y * y < 4; ++step) {
        const double next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
      }
      inside += step == 1000;
    }
  }
  std::printf("area %.6f\n", 2.6 * 2.6 * static_cast<double>(inside) / size / size);
}
