#pragma once
/// How long a program takes by the cost model: its steps as often as they run (bench/cost_model.py holds them against
/// measured times).

#include "schedule/program.h"

namespace lowtide::engine {

/// Modelled nanoseconds. Loops whose trips nobody knows count a guess; of a conditional, the longest branch.
double modelled_ns(const Program& program, const Cost& cost);
/// Of each of its outermost steps.
std::vector<double> modelled_ns_of_steps(const Program& program, const Cost& cost);

}  // namespace lowtide::engine
