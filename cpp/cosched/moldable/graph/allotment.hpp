// Allotments of moldable jobs with precedence whose lists keep a guarantee.
#pragma once

#include "cosched/moldable/graph/choices.hpp"
#include "cosched/moldable/graph/work_path.hpp"

namespace cosched::moldable::graph {

/// Where the guarantees may hold: work never falls, nothing is shared, nobody is released late, few
/// counts.
bool has_guarantee(const Instance& instance);

/// A makespan that an allotment and any list keep within `ratio` of the optimum; no ratio (0):
/// nothing is proved.
struct GuaranteedAllotment {
  ChoiceNumbers choice_numbers;
  double ratio = 0;
};

/// The programme's times rounded to counts, and cut to a count mu (Lepere, Trystram, Woeginger
/// 2002; Jansen, Zhang 2006). A time between those of neighbouring counts goes to the slower one
/// where that takes a part theta of the mixture: then times grow by a <= 1 / theta and work by b <=
/// 1 / (1 - theta); a <= 2 / (1 + theta) and b <= 2 / (2 - theta) where neighbours are consecutive
/// counts from 1 on and work is convex in the time.
///
/// The ratio.  While at most m - mu processors are busy, every ready job has started, so a path of
/// the graph runs: its jobs below mu at their rounded time, those cut to mu at most c = m / mu
/// times the programme's time d (their work at mu is at most that of the slower neighbour, which is
/// at most the programme's, which is at most m d; b m / mu where neighbours are not consecutive).
/// With T1 the time when fewer than mu are busy and T2 when mu to m - mu are: T1 / a + T2 / max(a,
/// c) <= OPT. Work only falls by the cut: T1 + mu T2 + (m - mu + 1) T3 <= b m OPT.  So T1 + T2 + T3
/// <= OPT times
///   (b m + max(a (m - mu), max(a, c) (m - 2 mu + 1))) / (m - mu + 1),
/// the least over mu <= (m + 1) / 2 and theta: for many processors 3.2919 and 3 + sqrt 5, as
/// theirs.  It needs work that never falls, at most 64 counts, that every job which is cut can run
/// on mu, and neither resources nor releases.
GuaranteedAllotment round_work_path(const Instance& instance, const JobChoices& choices,
                                    const WorkPath& fractional);

/// The same rounding with a given theta, and cut to `most` processors.
ChoiceNumbers round_durations(const JobChoices& choices, const std::vector<double>& duration,
                              double theta, int most);

/// On-line: each job by itself (Benoit, Perotin, Robert, Sun 2022).  Of the counts with at most
/// delta = (1 - 2 mu) / (mu (1 - mu)) times its least time, the one of least work, cut to ceil(mu
/// m).  With alpha the most by which work exceeds the least, the makespan is at most (mu alpha + 1
/// - 2 mu) / (mu (1 - mu)) times the larger of least work / m and least path: for work that never
///   falls, without resources or
/// releases, where every job that is cut can run on that count.  Requires 0 < mu <= (3 - sqrt 5) /
/// 2.
GuaranteedAllotment allot_locally(const Instance& instance, const JobChoices& choices, double mu);

}  // namespace cosched::moldable::graph
