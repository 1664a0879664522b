/* A loop that starts ready jobs on whatever is free, as a runtime system would: here time is a counter. */
#include <cosched.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { kJobs = 40, kProcessors = 8, kColumns = 4 };

static double times[kJobs][kColumns]; /* of those that wait; the rest of the rows is unused */
static int waiting = kJobs;

static void drop(int row) {
  memmove(times[row], times[row + 1], (size_t)(waiting - row - 1) * sizeof times[0]);
  --waiting;
}

int main(void) {
  double free_in[kProcessors] = {0}, now = 0, end = 0, state = 0, first_bound = 0;
  char message[200];
  for (int i = 0; i < kJobs; ++i)
    for (int q = 1; q <= kColumns; ++q)
      times[i][q - 1] = q == 3 ? INFINITY : (1 + i % 7) * (0.1 + 0.9 / q);
  while (waiting > 0) {
    int owner[kProcessors];
    double makespan, bound;
    if (cosched_step(waiting, kColumns, &times[0][0], kProcessors, free_in, 0.002, &state, owner,
                     &makespan, &bound, message, (int)sizeof message) != 0) {
      fprintf(stderr, "%s\n", message);
      return 1;
    }
    if (makespan < bound * (1 - 1e-9)) return 3;
    if (first_bound == 0) first_bound = bound;
    for (int row = waiting - 1; row >= 0; --row) {
      int count = 0;
      for (int p = 0; p < kProcessors; ++p) count += owner[p] == row;
      if (count == 0) continue;
      for (int p = 0; p < kProcessors; ++p)
        if (owner[p] == row) {
          if (free_in[p] > 0) return 4; /* it runs something else */
          free_in[p] = times[row][count - 1];
        }
      drop(row);
    }
    double soonest = INFINITY;
    for (int p = 0; p < kProcessors; ++p)
      if (free_in[p] > 0 && free_in[p] < soonest) soonest = free_in[p];
    if (isinf(soonest)) return 5; /* nothing was started and nothing runs */
    now += soonest;
    for (int p = 0; p < kProcessors; ++p)
      free_in[p] = free_in[p] > soonest ? free_in[p] - soonest : 0;
  }
  for (int p = 0; p < kProcessors; ++p)
    if (free_in[p] > end) end = free_in[p];
  printf("all started; ratio to the first bound %.3f\n", (now + end) / first_bound);
  if (cosched_step(1, 1, NULL, 1, NULL, 1, NULL, NULL, NULL, NULL, message, (int)sizeof message) !=
      2)
    return 6;
  printf("%s\n", message);
  int nobody = 0;
  double none_left = 1, none_bound = 1;
  if (cosched_step(0, 0, NULL, 1, NULL, 1, NULL, &nobody, &none_left, &none_bound, NULL, 0) != 0 ||
      nobody != -1 || none_left != 0 || none_bound != 0)
    return 8; /* with nothing ready there is nothing to start */
  return (now + end) / first_bound < 2.02 ? 0 : 7;
}
