/* cosched for C: plain arrays in and out, no memory changes hands.  Link with -lcosched. */
#ifndef COSCHED_H
#define COSCHED_H

#if defined(__GNUC__)
#define COSCHED_API __attribute__((visibility("default")))
#else
#define COSCHED_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What to start now: see cosched/moldable/step/step.hpp for the method and its guarantee.
 *
 * jobs: how many are ready; without any, nothing is to be started, and makespan and bound are 0.
 * times[job * columns + q - 1]: seconds of a ready job on q processors, > 0, INFINITY where it
 * cannot run on so many; constant beyond `columns`.
 * free_in[p]: seconds until processor p is free; NULL: all are free now.
 * budget: seconds that the call may take, > 0.
 * state: 0 before the first call of a loop; what a call leaves there makes the next one better.
 *   NULL: every call is the first.
 * owner[p], out: the job that processor p is to start now, -1: none.
 * makespan, bound, out: seconds from now in which the plan of the ready jobs ends, and before which
 *   no plan of them can, whatever runs now; NULL: not asked for.
 * message[message_size], out: what was wrong, empty where nothing was; NULL: not asked for.
 *
 * Returns 0; 2 for a bad argument; 1 where memory is too small.  Then only `message` is written.
 * Threads may call it at the same time. */
COSCHED_API int cosched_step(int jobs, int columns, const double* times, int processors,
                             const double* free_in, double budget, double* state, int* owner,
                             double* makespan, double* bound, char* message, int message_size);

#ifdef __cplusplus
}
#endif
#endif
