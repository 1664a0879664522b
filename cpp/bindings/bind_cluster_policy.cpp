// A policy written in Python, called at events.
#include <map>

#include "cosched/cluster/dfrs/simulator.hpp"
#include "cosched/core/errors.hpp"
#include "pybind.hpp"

namespace cosched::cluster::bindings {

using namespace cosched::bindings;  // NOLINT
namespace {

const char* kind_name(dfrs::PolicyEventKind kind) {
  switch (kind) {
    case dfrs::PolicyEventKind::completion:
      return "completion";
    case dfrs::PolicyEventKind::submission:
      return "submission";
    case dfrs::PolicyEventKind::period:
      return "period";
  }
  return "";
}

// Asks policy.on_event(event, state) for {job: (nodes, yield)}: all jobs that run from now on;
// None changes nothing.  The Python side builds event and state (cluster/policies.py).
class PythonPolicy : public dfrs::Policy {
 public:
  PythonPolicy(const Instance& instance, py::object ask_policy, bool is_periodic)
      : jobs_(instance.jobs()),
        order_(instance.order()),
        rank_of_job_(order_.size()),
        ask_policy_(std::move(ask_policy)),
        is_periodic_(is_periodic) {
    for (std::size_t rank = 0; rank < order_.size(); ++rank)
      rank_of_job_[order_[rank]] = static_cast<int>(rank);
  }

  bool on_event(const dfrs::PolicyEvent& event, dfrs::DfrsMachine& machine) override {
    std::vector<int> jobs;
    for (const int rank : event.jobs) jobs.push_back(order_[rank]);
    const py::object answer =
        ask_policy_(kind_name(event.kind), event.time, jobs, describe(machine));
    if (answer.is_none()) return false;
    apply(answer.cast<std::map<int, std::pair<std::vector<int>, double>>>(), machine);
    return true;
  }

  void allocate(dfrs::DfrsMachine& machine) override {
    for (const int rank : machine.running()) machine.set_yield(rank, yields_.at(rank));
  }

  bool is_periodic() const override { return is_periodic_; }

 private:
  using PolicyAnswer = std::map<int, std::pair<std::vector<int>, double>>;

  // job -> (status, virtual time, nodes, yield) of the jobs in the system.
  py::dict describe(const dfrs::DfrsMachine& machine) const {
    py::dict state;
    const auto add = [&](int rank, const char* status) {
      const dfrs::DfrsMachine::Job& job = machine.job(rank);
      state[py::int_(order_[rank])] =
          py::make_tuple(status, job.virtual_time,
                         std::vector<int>(job.nodes.begin(), job.nodes.end()), job.yield);
    };
    for (const int rank : machine.running()) add(rank, "running");
    for (const int rank : machine.idle().ranks())
      add(rank, machine.job(rank).status == dfrs::JobStatus::paused ? "paused" : "waiting");
    return state;
  }

  // By the id of its log and, where that differs, by the number that the policy uses.
  std::string describe_job(int job) const {
    const std::string number = std::to_string(job);
    return jobs_.name_of(job) +
           (jobs_.name_of(job) == "job " + number ? "" : " (number " + number + ")");
  }

  void apply(const PolicyAnswer& answer, dfrs::DfrsMachine& machine) {
    yields_.clear();
    for (const auto& [job, share] : answer) {
      if (job < 0 || job >= static_cast<int>(rank_of_job_.size()))
        throw InvalidSchedule("the policy names job " + std::to_string(job) +
                              ", which does not exist");
      const dfrs::JobStatus status = machine.job(rank_of_job_[job]).status;
      if (status == dfrs::JobStatus::unsubmitted || status == dfrs::JobStatus::finished)
        throw InvalidSchedule("the policy runs " + describe_job(job) +
                              ", which is not in the system");
      yields_[rank_of_job_[job]] = share.second;
      for (const int node : share.first)
        if (node < 0 || node >= machine.node_count())
          throw InvalidSchedule("the policy puts " + describe_job(job) + " on node " +
                                std::to_string(node) + ", which does not exist");
      if (static_cast<int>(share.first.size()) != machine.job(rank_of_job_[job]).tasks)
        throw InvalidSchedule("the policy gives " + describe_job(job) + " " +
                              std::to_string(share.first.size()) + " nodes for " +
                              std::to_string(machine.job(rank_of_job_[job]).tasks) + " tasks");
    }
    // Pause first, so that the others find room; the checks come after all changes.
    for (const int rank : std::vector<int>(machine.running()))
      if (yields_.count(rank) == 0) machine.pause(rank, Reason::policy);
    for (const auto& [job, share] : answer) {
      dfrs::NodeList nodes = share.first;
      nodes.sort();
      const int rank = rank_of_job_[job];
      if (machine.job(rank).status != dfrs::JobStatus::running)
        machine.start(rank, std::move(nodes), Reason::policy);
      else if (machine.job(rank).nodes != nodes)
        machine.move(rank, std::move(nodes), Reason::policy);
    }
  }

  const Jobs& jobs_;
  const std::vector<int>& order_;
  std::vector<int> rank_of_job_;
  py::object ask_policy_;
  bool is_periodic_;
  std::map<int, double> yields_;  // by rank
};

}  // namespace

// Holds the GIL throughout: the policy is Python.
SimulationOutcome run_python_policy(const Instance& instance, const py::object& policy,
                                    const dfrs::SimulationOptions& options, Trace* trace,
                                    DecisionLog* log) {
  PythonPolicy wrapped(instance, policy.attr("ask"), policy.attr("periodic").cast<bool>());
  return dfrs::simulate(instance, wrapped, options, trace, log);
}

}  // namespace cosched::cluster::bindings
