#include "schedule/modelled_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "region/footprint.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {
namespace {

class Time {
 public:
  Time(const Program& program, const Cost& cost) : program_(program), cost_(cost) {}

  double of(const std::vector<ProgramStep>& steps) {
    double ns = 0;
    for (const ProgramStep& step : steps) {
      const double one = of(step);
      ns += one;
      if (shown_)
        context_.print(fmt::format("time: {:12.3f} us x {:<8.0f} %{}", 1e-3 * one, runs_, step.instruction->name));
    }
    return ns;
  }

  double of(const ProgramStep& step) {
    switch (step.kind) {
      case StepKind::kKernel: return kernel(step);
      case StepKind::kLibrary:
        return cost_.library_step_ns(*step.instruction, traffic_ns(step.reads) + traffic_ns(step.writes)) +
               host_ns(step.reads) + host_ns(step.writes);
      case StepKind::kCopy: {
        const double there = std::max(host_ns(step.reads), host_ns(step.writes));
        return cost_.copy_step_ns(traffic_ns(step.writes)) + there;
      }
      case StepKind::kWhile: {
        const double trips =
            step.trip_count != kNoId ? static_cast<double>(step.trip_count) : guessed_trips(*step.instruction);
        const double outside = runs_;
        runs_ *= trips;
        const double test = step.trip_count != kNoId ? 0 : of(step.blocks[0]);
        const double body = of(step.blocks[1]);
        runs_ = outside;
        return trips * (cost_.trip_ns() + test + body) + test;
      }
      case StepKind::kConditional: {
        double longest = 0;
        for (const auto& block : step.blocks) longest = std::max(longest, of(block));
        return longest;
      }
      case StepKind::kOther:
        return cost_.other_step_ns(*step.instruction, traffic_ns(step.reads) + traffic_ns(step.writes));
      case StepKind::kRotate: return cost_.trip_ns();
    }
    return 0;
  }

 private:
  double bytes_of(int32_t slot) const { return static_cast<double>(program_.slots[slot].bytes); }

  double storage_bytes(int32_t slot) const {
    const Slot& s = program_.slots[slot];
    return static_cast<double>(program_.storages[s.storage].bytes);
  }

  double traffic_ns(const std::vector<int32_t>& slots) const {
    double ns = 0;
    for (const int32_t slot : slots) ns += cost_.traffic_ns(bytes_of(slot), storage_bytes(slot));
    return ns;
  }

  bool in_host(int32_t slot) const {
    const int32_t storage = program_.slots[slot].storage;
    return program_.storages[storage].in_host;
  }

  /// The time of moving whole buffers to or from host memory.
  double host_ns(const std::vector<int32_t>& slots) const {
    double bytes = 0;
    for (const int32_t slot : slots) bytes += in_host(slot) ? bytes_of(slot) : 0;
    return cost_.host_ns(bytes);
  }

  /// The same for the bytes that a kernel reads or writes.
  double host_ns(const std::vector<int32_t>& slots, const std::vector<int64_t>& bytes_of_each) const {
    double bytes = 0;
    for (size_t k = 0; k < slots.size(); ++k) bytes += in_host(slots[k]) ? static_cast<double>(bytes_of_each[k]) : 0;
    return cost_.host_ns(bytes);
  }

  double kernel(const ProgramStep& step) {
    if (step.way && step.way->rearrangement)
      return cost_.rearrangement_step_ns(step.way->rearrangement->sweeps(), traffic_ns(step.writes));
    const Footprint f = footprint(program_.regions[step.region], cost_);
    double weighed = 0, beside = 0;
    const auto weigh = [&](const std::vector<int32_t>& slots, const std::vector<int64_t>& touched) {
      for (size_t k = 0; k < slots.size(); ++k) {
        weighed += cost_.distance(storage_bytes(slots[k])) * static_cast<double>(touched[k]);
        const bool over = std::ranges::find(step.writes, slots[k]) != step.writes.end();
        beside += over ? 0 : bytes_of(slots[k]);
      }
    };
    weigh(step.reads, f.of_inputs);
    weigh(step.writes, f.of_outputs);
    const double bytes = static_cast<double>(add_bytes(f.bytes_read, f.bytes_written));
    // Most of the result is already in place; the changed bytes are about as many as those of other operands.
    const double part = !step.way || step.way->idle.empty() ? 1 : std::min(1.0, 3 * beside / std::max(1.0, bytes));
    return cost_.kernel_step_ns({f.arithmetic_ns, bytes, f.rows_ns}, bytes > 0 ? weighed / bytes : 1, part) +
           host_ns(step.reads, f.of_inputs) + host_ns(step.writes, f.of_outputs);
  }

  const Program& program_;
  const Cost& cost_;
  const Context& context_ = program_.module->context();
  const bool shown_ = context_.shows(DebugLevel::kAll, "time");
  double runs_ = 1;  ///< how often the current step runs
};

}  // namespace

double modelled_ns(const Program& program, const Cost& cost) { return Time(program, cost).of(program.steps); }

std::vector<double> modelled_ns_of_steps(const Program& program, const Cost& cost) {
  Time time(program, cost);
  std::vector<double> all;
  for (const ProgramStep& step : program.steps) all.push_back(time.of(step));
  return all;
}

double modelled_ns_of_step(const Program& program, const ProgramStep& step, const Cost& cost) {
  return Time(program, cost).of(step);
}

StepWork work_of_step(const Program& program, const ProgramStep& step, const Cost& cost) {
  StepWork work;
  if (step.kind == StepKind::kKernel) {
    const Footprint f = footprint(program.regions[step.region], cost);
    work.bytes = static_cast<double>(add_bytes(f.bytes_read, f.bytes_written));
    return work;
  }
  for (const auto* slots : {&step.reads, &step.writes}) {
    for (const int32_t slot : *slots) work.bytes += static_cast<double>(program.slots[slot].bytes);
  }
  const Opcode opcode = step.instruction->opcode;
  if (step.kind == StepKind::kLibrary && (opcode == Opcode::kDot || opcode == Opcode::kConvolution)) {
    const double parts = is_complex(step.instruction->shape.type) ? 8 : 2;
    work.operations = parts * elements_of(step.instruction->shape) * terms_of(*step.instruction);
  }
  return work;
}

}  // namespace lowtide::engine
