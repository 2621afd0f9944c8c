#pragma once
/// Random programs: well-typed HLO of nested computations whose results other executors must agree with.

#include <memory>
#include <vector>

#include "genes.h"
#include "ir/module.h"

namespace lowtide::engine {

/// The program of a genome. Any genome gives one.
std::unique_ptr<Module> program_from(const Genome& genome);

/// For each result in order: no correct executor is further than this from the mathematical value, on seeded arguments.
/// Zero for integers, predicates and exact floats.
std::vector<double> error_bounds(const Module& module);

}  // namespace lowtide::engine
