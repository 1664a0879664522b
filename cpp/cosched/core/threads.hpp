// Independent pieces of work in threads.
#pragma once

#include <functional>

namespace cosched {

/// Calls work(0), ..., work(count - 1), each once, in at most `threads` threads.  Their time limit
/// is that of the calling thread, which meanwhile calls check_interrupt() and, where it is given,
/// report_done(number of finished calls), again and again.
/// Throws the first exception of a call of work(), or that of check_interrupt(), after all threads
/// have ended: check_interrupt() throws TimeLimit in them.  Requires `threads` >= 1.
void in_threads(int count, int threads, const std::function<void(int)>& work,
                const std::function<void(int)>& report_done = {});

/// How many threads the machine runs at once.
int usual_threads();

}  // namespace cosched
