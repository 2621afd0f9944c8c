#pragma once
/// How long a program takes by the cost model: its steps as often as they run. The constants beside those of
/// region/cost.h are fitted by bench/cost_model.py.

#include "schedule/program.h"

namespace lowtide {

/// Nanoseconds on the machine that docs/design names. Loops whose trips nobody knows count a guess; of a conditional,
/// the longest branch.
double modelled_ns(const Program& program);
/// Of each of its outermost steps.
std::vector<double> modelled_ns_of_steps(const Program& program);

}  // namespace lowtide
