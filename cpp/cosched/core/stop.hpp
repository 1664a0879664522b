// A stop from outside, as by a signal: every search that runs or is begun ends with its best.
#pragma once

namespace cosched {

/// As if a time limit around everything had passed, in all threads and for what they begin from now
/// on, until forget_stop(): check_interrupt() throws TimeLimit, but under a ScopedGrace only after
/// it.
void request_stop();
void forget_stop();

}  // namespace cosched
