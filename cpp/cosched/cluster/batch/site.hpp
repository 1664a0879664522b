// A machine of nodes with cores, memory and GPUs, and what each job needs of them.
#pragma once

#include <vector>

#include "cosched/cluster/batch/bit_set.hpp"
#include "cosched/cluster/batch/resource_amounts.hpp"
#include "cosched/cluster/model/instance.hpp"

namespace cosched::cluster::batch {

/// A node of the machine.  Its cores have the numbers first_core, first_core + 1, ...
struct SiteNode {
  ResourceAmounts capacity;
  int cell;      // see Layout; below 64
  int gpu_type;  // below 64
  int first_core;
};

/// What a job needs, on nodes of `cells` and with GPUs of `gpu_types`.
///
/// part_count > 0: the job consists of so many parts, each on a node of its own.  A part needs
/// `part_amounts`; `larger_part_count` of the parts need one core more.
/// part_count = 0: the job's distribution over nodes is not known.  `part_amounts` is the need of
/// the whole job, which takes it from wherever it is free.
struct Need {
  int part_count;
  int larger_part_count;
  ResourceAmounts part_amounts;
  BitSet64 cells;
  BitSet64 gpu_types;
  int shape = 0;  // equal needs have the same shape; shapes are numbered from 0

  /// What one of the larger parts needs.
  ResourceAmounts larger_part_amounts() const;
};

/// What a job has on one node.
struct Piece {
  int node;
  ResourceAmounts amounts;
};

/// One piece for each node that the job uses.  The larger parts of a job come first.
using NodePlacement = std::vector<Piece>;

/// Free amounts by node.
using FreeAmounts = std::vector<ResourceAmounts>;

/// What jobs ask for: one row for each job.
struct SiteRequests {
  std::vector<int> tasks;      // cores of the whole job
  std::vector<int> parts;      // number of nodes; 0 = not known
  std::vector<int> gpus;       // of the whole job
  std::vector<double> memory;  // of the whole job, KB
  std::vector<BitSet64> cells;
  std::vector<BitSet64> gpu_types;
  // The cores that a job has when the simulation begins, empty where it waits.  No rows at all
  // where no job runs at the begin.
  std::vector<std::vector<int>> initial_cores = {};
};

/// The nodes in the order in which they are filled, and the need of each job.
class Site {
 public:
  /// A job of several nodes whose equal parts do not fit on the empty machine ran on unequal nodes:
  /// its distribution is taken as not known.
  /// Throws InvalidInstance where the columns of the requests differ in length.
  Site(std::vector<SiteNode> nodes, const SiteRequests& requests);

  const std::vector<SiteNode>& nodes() const { return nodes_; }
  int job_count() const { return static_cast<int>(shapes_.size()); }
  const Need& need(int job) const { return needs_[shapes_[job]]; }
  /// Number of different needs.
  int shape_count() const { return static_cast<int>(needs_.size()); }

  /// Whether a part of the need may be on that node.
  bool is_open_to(const Need& need, int node) const {
    return has_bit(need.cells, nodes_[node].cell) &&
           (need.part_amounts.gpus == 0 || has_bit(need.gpu_types, nodes_[node].gpu_type));
  }

  /// Whether the job runs when the simulation begins.
  bool has_initial_placement(int job) const { return !initial_placement(job).empty(); }
  /// The nodes of a job that runs when the simulation begins, with the job's share of memory and
  /// GPUs on each of them; empty for other jobs.
  const NodePlacement& initial_placement(int job) const {
    return initial_placements_.empty() ? no_placement_ : initial_placements_[job];
  }
  const std::vector<std::vector<int>>& initial_cores() const { return initial_cores_; }

  /// What is free on the empty machine.
  FreeAmounts capacities() const;
  /// Jobs that do not fit on the empty machine.
  const std::vector<int>& oversized_jobs() const { return oversized_jobs_; }

  /// Places the need first-fit on nodes of `open_cells`; nodes of `avoided_cells` are tried last.
  /// A larger part goes to the first node that holds it, then each other part to the first other
  /// node that holds it.  Returns whether the whole need has found its amounts, and where
  /// (`placement` may be null; it is undefined after a failure).  O(nodes).
  bool find_placement(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                      BitSet64 avoided_cells, NodePlacement* placement) const;

  /// Whether the need fits into the free amounts of the nodes that it may use.  O(nodes).
  bool has_room_for(const Need& need, const FreeAmounts& free) const {
    return find_placement(need, free, need.cells, kEmptyBitSet, nullptr);
  }

 private:
  bool place_parts(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                   BitSet64 avoided_cells, NodePlacement* placement) const;
  bool place_anywhere(const Need& need, const FreeAmounts& free, BitSet64 open_cells,
                      BitSet64 avoided_cells, NodePlacement* placement) const;
  // Keeps different needs once, numbered in the order of the first job that has each.
  void number_shapes(const std::vector<Need>& needs_of_jobs);
  void set_initial_placements(const SiteRequests& requests);
  NodePlacement initial_placement_on(const std::vector<int>& cores) const;
  void forget_unequal_parts(const SiteRequests& requests, std::vector<Need>& needs_of_jobs);
  void find_oversized_jobs();

  std::vector<SiteNode> nodes_;
  std::vector<Need> needs_;                        // by shape
  std::vector<int> shapes_;                        // by job
  std::vector<NodePlacement> initial_placements_;  // by job, or no rows
  std::vector<std::vector<int>> initial_cores_;    // by job, or no rows
  std::vector<int> oversized_jobs_;
  NodePlacement no_placement_;  // of a job that does not run when the simulation begins
};

/// Throws InvalidInstance where the site has been made for another instance, InfeasibleError that
/// names the first job which does not fit on the empty machine.
void require_site_fits(const Instance& instance, const Site& site);

}  // namespace cosched::cluster::batch
