#pragma once
/// The checker of plans. It trusts nobody: it proves that a Program does what its module says, from the module, from
/// the regions' operations, and from the loads and stores of the kernels that regions become. What the plan claims
/// beside them is proved again by code of the checker's own (this folder; scripts/layers.py proves that it includes
/// nothing of what makes plans), whether it was planned now or kept from an earlier run.
///
/// Proved, for every way through the program:
/// - a step finds its operands where it reads: of values that lie in the same bytes, the last one written lies there,
///   and of what an update changes in place, others read only the rest (value_names.h, held_bytes.h);
/// - a kernel whose results lie over operands loads what it would load otherwise: from its accesses, for the order of
///   its pieces and for iterations in any order (in_place_proof.h); the same run in strips (strips_proof.h), or by
///   moves (moves_proof.h); pieces that are left out, and concatenations that nobody makes, would change nothing;
/// - a routine of the target writes over that operand alone that it may overwrite, and has its scratch;
/// - results end in memory of their own, arguments that aren't donated stay as they are, slots hold their values and
///   lie in the arena.
///
/// That steps may run in every order that their dependencies allow is proved apart, of a program that somebody is
/// about to run (order_proof.h).
///
/// Taken as given: that lower() makes of a region a kernel that stores each element of its results, that code is made
/// as the nest says, and what targets declare of their routines.

#include <functional>
#include <memory>
#include <string>

#include "nest/nest.h"
#include "schedule/program.h"
#include "target/target.h"

namespace lowtide::engine {

/// The nest that the code of a region is made from, so that it isn't lowered again; empty: it is.
using NestOf = std::function<std::shared_ptr<const Nest>(const Region&)>;

/// Empty, or a sentence with the first fault. target: that the program is for, whose routines it calls. The kernels'
/// proofs come first, where slots have their first addresses. Following the steps says nothing beyond `most_visits` of
/// them: loops within loops are walked through again for each iteration that is looked at.
std::string check_program(const Program& program, const Target& target, int64_t most_visits = INT64_MAX,
                          const NestOf& nest_of = {});

}  // namespace lowtide::engine
