// Independent pieces of work in threads.
#pragma once

#include <functional>

namespace cosched {

/// work(0), ..., work(count - 1), each once, in at most `threads` threads.  Meanwhile this thread
/// looks at its time limit, which holds in them too, and at the hook; `done`, where there is one,
/// is called in it with how many are over, again and again.  Throws what one of them throws, or
/// check_interrupt() here, when all have ended: then check_interrupt() throws TimeLimit in each.
/// Requires `threads` >= 1.
void in_threads(int count, int threads, const std::function<void(int)>& work,
                const std::function<void(int)>& done = {});

/// How many threads run at once here.
int usual_threads();

}  // namespace cosched
