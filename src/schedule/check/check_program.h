#pragma once
/// The checker of plans. It proves independently that a Program computes what its module says, from the module, from
/// the regions' operations, and from the loads and stores of the regions' kernels. All other claims of the plan are
/// proved again by the checker's own code (this folder; scripts/layers.py checks that it includes nothing of the
/// planner), whether the plan is new or cached.
///
/// Proved, for every way through the program:
/// - a step finds its operands where it reads: of values that share bytes, the right one was written last, and other
///   readers of an array that is updated in place read only unchanged elements (value_names.h, held_bytes.h);
/// - a kernel whose results alias operands loads the same values as otherwise: proved from its accesses, for the order
///   of its pieces and for iterations in any order (in_place_proof.h), also when run in strips (strips_proof.h) or as
///   moves (moves_proof.h); omitted pieces and concatenations would change nothing;
/// - a routine of the target overwrites only the operand that it may overwrite, and has its scratch;
/// - results end in their own memory, arguments that aren't donated stay unchanged, slots are large enough for their
///   values and lie in the arena.
///
/// That steps may run in every order that their dependencies allow is proved separately, for programs that are about to
/// run (order_proof.h).
///
/// Assumed: lower() turns a region into a kernel that stores each element of its results, generated code does what the
/// nest says, and targets' declarations about their routines are right.

#include <functional>
#include <memory>
#include <string>

#include "nest/nest.h"
#include "schedule/program.h"
#include "target/target.h"

namespace lowtide::engine {

/// The nest from which a region's code is generated, so that the region isn't lowered again; empty if it is lowered.
using NestOf = std::function<std::shared_ptr<const Nest>(const Region&)>;

/// Empty, or a sentence with the first fault. target: the one that the program is for, whose routines it calls. The
/// kernels' proofs come first, with slots at their initial addresses. Steps are followed for at most `most_visits`
/// visits: nested loops are walked through again for each iteration that is examined.
std::string check_program(const Program& program, const Target& target, int64_t most_visits = INT64_MAX,
                          const NestOf& nest_of = {});

}  // namespace lowtide::engine
