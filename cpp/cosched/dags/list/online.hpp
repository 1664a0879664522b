// On-line algorithms of Amaris et al. 2017, Section 4.2: tasks arrive one by one in an order that
// respects precedence, and each is placed at once and for good.
#pragma once

#include "cosched/dags/model/instance.hpp"
#include "cosched/dags/model/plan.hpp"

namespace cosched::dags::list {

/// Every function: `order` is the arrival order, a permutation of the tasks that respects
/// precedence (empty = instance.graph().order()); InvalidInstance otherwise.  The task goes
/// to the unit of the chosen type where it starts first, data counted (equal: the unit that is idle
/// earliest, then the lowest number), without insertion.  A type that cannot run the task is never
/// chosen.  O((n + e) Q + n log U).
using Arrivals = std::vector<int>;

/// R1, R2, R3 with Q = 2: CPU if p_cpu/m <= p_gpu/k; p_cpu/sqrt(m) <= p_gpu/sqrt(k);
/// p_cpu <= p_gpu; else GPU.  For Q > 2 the natural generalisation: the type of least
/// p_q/m_q, p_q/sqrt(m_q), p_q, the lowest type on equality.  No guarantee (Section 4.2).
Plan r1_ls(const Instance& instance, const Arrivals& order = {});
Plan r2_ls(const Instance& instance, const Arrivals& order = {});
Plan r3_ls(const Instance& instance, const Arrivals& order = {});

/// ER-LS: with R_gpu = the earliest start on a GPU, GPU
/// if p_cpu >= R_gpu + p_gpu, else rule R2.  4 sqrt(m/k)-competitive for m >= k
/// (Theorem 3) where data moves for free.  Requires Q = 2, InvalidInstance otherwise.
Plan er_ls(const Instance& instance, const Arrivals& order = {});

/// Earliest finish time over all types; equal: the highest type (GPU).
Plan eft(const Instance& instance, const Arrivals& order = {});

/// The type with the smallest time; equal: the lowest type (CPU).
Plan greedy(const Instance& instance, const Arrivals& order = {});

/// A type drawn uniformly among those that can run the task.
Plan random_types(const Instance& instance, std::uint64_t seed, const Arrivals& order = {});

/// QA of Canon, Marchal, Simon, Vivien 2020, where a task is seen when its predecessors have ended:
/// its type is that of R2, and an idle unit takes the lowest task of its type whose data is there.
/// (2 sqrt(m/k) + 1)-competitive for m units of one type and k <= m of the other where data moves
/// for free; by the same argument for Q types sum over q of sqrt(m_q / least m) + sqrt(greatest m /
/// least m).
Plan qa(const Instance& instance);

}  // namespace cosched::dags::list
