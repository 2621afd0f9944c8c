#include "schedule/modelled_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/leaf_bytes.h"
#include "base/debug.h"
#include "ops/solver_terms.h"
#include "region/cost.h"
#include "region/evaluations.h"
#include "region/footprint.h"
#include "region/roles.h"

namespace lowtide {
namespace {

constexpr double kNearBytes = 1 << 20;  ///< what is at most so large is found in a cache of the core
constexpr double kNearFactor = 0.2;     ///< of the time that a byte takes from memory
constexpr double kNsPerTerm = 0.009;    ///< of an f32 dot in a library: two operations at 220 GF/s
constexpr double kRowsToFill = 12;      ///< of a dot: each tile of rows copies the right matrix; so many cost as much
constexpr double kDepthToFill = 10;     ///< and each result is read and written for so many terms,
constexpr double kFewRows = 192;        ///< or, where rows are few and columns cut for the threads,
constexpr double kDepthToCut = 30;      ///< copied for so many;
constexpr double kColumnsToTurn = 30;   ///< a left matrix that lies by columns is copied: so many columns cost as much
constexpr double kNsPerCompare = 1.0;   ///< of a sort, two cores
constexpr double kNsPerWave = 0.5;      ///< of a Fourier transform, per number and halving; two cores
constexpr double kNsPerTrip = 100;      ///< of a loop, its steps aside
constexpr double kNsPerMeeting = 3000;  ///< of threads, at the end of a step
constexpr double kNsPerLibraryCall = 3000;
constexpr double kNsPerCopy = 1000;

/// Measured over modelled time of kernels: what region/cost.h takes for one is meant for choices between kernels alone.
constexpr double kArithmeticFactor = 2.5, kMemoryFactor = 2;

class Time {
 public:
  explicit Time(const Program& program) : program_(program) {}

  double of(const std::vector<ProgramStep>& steps) {
    double ns = 0;
    for (const ProgramStep& step : steps) {
      const double one = of(step);
      ns += one;
      if (shown_)
        debug_print(fmt::format("time: {:12.3f} us x {:<8.0f} %{}", 1e-3 * one, runs_, step.instruction->name));
    }
    return ns;
  }

  double of(const ProgramStep& step) {
    switch (step.kind) {
      case StepKind::kKernel: return kernel(step);
      case StepKind::kLibrary: return library(step);
      case StepKind::kCopy: return kNsPerCopy + 2 * memory_ns(step.writes);
      case StepKind::kWhile: {
        const double trips =
            step.trip_count != kNoId ? static_cast<double>(step.trip_count) : guessed_trips(*step.instruction);
        const double outside = runs_;
        runs_ *= trips;
        const double test = step.trip_count != kNoId ? 0 : of(step.blocks[0]);
        const double body = of(step.blocks[1]);
        runs_ = outside;
        return trips * (kNsPerTrip + test + body) + test;
      }
      case StepKind::kConditional: {
        double longest = 0;
        for (const auto& block : step.blocks) longest = std::max(longest, of(block));
        return longest;
      }
      case StepKind::kRotate:
      case StepKind::kOther: return kNsPerTrip;
    }
    return 0;
  }

 private:
  double bytes_of(int32_t slot) const { return static_cast<double>(program_.slots[static_cast<size_t>(slot)].bytes); }

  double storage_bytes(int32_t slot) const {
    const Slot& s = program_.slots[static_cast<size_t>(slot)];
    return static_cast<double>(program_.storages[static_cast<size_t>(s.storage)].bytes);
  }

  double memory_ns(const std::vector<int32_t>& slots) const {
    double ns = 0;
    for (const int32_t slot : slots) {
      ns += bytes_of(slot) * kMemoryFactor * kNsPerByte / 2 * (storage_bytes(slot) <= kNearBytes ? kNearFactor : 1);
    }
    return ns;
  }

  double kernel(const ProgramStep& step) {
    if (step.rearrangement) return step.rearrangement->sweeps() * 2 * memory_ns(step.writes) + kNsPerKernel;
    const Footprint f = footprint(program_.regions[static_cast<size_t>(step.region)]);
    double near = 0, all = 0, beside = 0;
    for (const auto* slots : {&step.reads, &step.writes}) {
      for (const int32_t slot : *slots) {
        all += bytes_of(slot);
        near += storage_bytes(slot) <= kNearBytes ? bytes_of(slot) : 0;
        const bool over = std::ranges::find(step.writes, slot) != step.writes.end();
        beside += over ? 0 : bytes_of(slot);
      }
    }
    const double from_memory = all > 0 ? 1 - near / all * (1 - kNearFactor) : 1;
    const double bytes = static_cast<double>(add_bytes(f.bytes_read, f.bytes_written));
    const double whole =
        std::max(kArithmeticFactor * f.arithmetic_ns / 2, bytes * from_memory * kMemoryFactor * kNsPerByte / 2);
    // Written where most of it is already: what changes is about as much as what else is read.
    const double part = step.idle.empty() ? 1 : std::min(1.0, 3 * beside / std::max(1.0, bytes));
    return part * whole + kNsPerKernel + kNsPerMeeting;
  }

  double library(const ProgramStep& step) const {
    const Instruction& i = *step.instruction;
    const double memory = memory_ns(step.reads) + memory_ns(step.writes);
    double ns = 0;
    const double elements = elements_of(i.shape);
    const double width = i.shape.is_array() ? type_bits(i.shape.type) / 32.0 : 1;
    switch (i.opcode) {
      case Opcode::kDot: {
        const double depth = elements / columns(i) < kFewRows ? kDepthToCut : kDepthToFill;
        const double turned = lies_by_columns(i) ? kColumnsToTurn / columns(i) : 0;
        ns = elements * terms_of(i) * kNsPerTerm * std::max(0.6, width) *
             (1 + kRowsToFill / rows(i) + depth / terms_of(i) + turned);
        break;
      }
      case Opcode::kConvolution: ns = elements * terms_of(i) * kNsPerTerm * std::max(0.6, width); break;
      case Opcode::kSort:
      case Opcode::kTopK: {
        const double keys = elements_of(i.operand(0).shape);
        ns = keys * std::log2(std::max(2.0, keys)) * kNsPerCompare;
        break;
      }
      case Opcode::kFft: {
        double points = 1;
        for (const int64_t length : i.as<FftAttributes>().length) points *= static_cast<double>(length);
        ns = std::max(elements, elements_of(i.operand(0).shape)) * std::log2(std::max(2.0, points)) * kNsPerWave;
        break;
      }
      case Opcode::kCholesky:
      case Opcode::kTriangularSolve:
      case Opcode::kCustomCall: ns = solver_terms(i) * kNsPerTerm * type_bits(i.operand(0).shape.type) / 32.0; break;
      default: ns = kArithmeticFactor * elements * element_ns(i); break;
    }
    return std::max(ns, memory) + kNsPerLibraryCall + kNsPerMeeting;
  }

  static double batches(const Instruction& dot) {
    double batches = 1;
    for (const int64_t d : dot.as<DotAttributes>().lhs_batch_dims) {
      batches *= static_cast<double>(dot.operand(0).shape.dims[static_cast<size_t>(d)]);
    }
    return std::max(1.0, batches);
  }
  /// Of the left matrix, and of the right one, per batch.
  static double rows(const Instruction& dot) {
    return std::max(1.0, elements_of(dot.operand(0).shape) / (batches(dot) * terms_of(dot)));
  }
  static double columns(const Instruction& dot) {
    return std::max(1.0, elements_of(dot.operand(1).shape) / (batches(dot) * terms_of(dot)));
  }

  /// The left matrix: its contracted dimension isn't the last.
  static bool lies_by_columns(const Instruction& dot) {
    const Dims& contracted = dot.as<DotAttributes>().lhs_contracting_dims;
    return !contracted.empty() && std::ranges::find(contracted, dot.operand(0).shape.rank() - 1) == contracted.end();
  }

  const Program& program_;
  const bool shown_ = debug_shows(DebugLevel::kAll, "time");
  double runs_ = 1;  ///< of what is looked at
};

}  // namespace

double modelled_ns(const Program& program) { return Time(program).of(program.steps); }

std::vector<double> modelled_ns_of_steps(const Program& program) {
  Time time(program);
  std::vector<double> all;
  for (const ProgramStep& step : program.steps) all.push_back(time.of(step));
  return all;
}

}  // namespace lowtide
