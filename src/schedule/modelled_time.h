#pragma once
/// How long a program takes by the cost model: its steps times the number of their runs (bench/cost_model.py compares
/// them with measured times).

#include "schedule/program.h"

namespace lowtide::engine {

/// Modelled nanoseconds. Loops with an unknown trip count count a guess; of a conditional, the longest branch.
double modelled_ns(const Program& program, const Cost& cost);
/// The time of each of its outermost steps.
std::vector<double> modelled_ns_of_steps(const Program& program, const Cost& cost);

/// The time of one run of a step, its blocks included.
double modelled_ns_of_step(const Program& program, const ProgramStep& step, const Cost& cost);
/// Bytes that a step reads and writes, of arrays that kernels read or update only in part that part; and a library
/// step's floating-point operations. Without its blocks.
struct StepWork {
  double bytes = 0, operations = 0;
};
StepWork work_of_step(const Program& program, const ProgramStep& step, const Cost& cost);

}  // namespace lowtide::engine
