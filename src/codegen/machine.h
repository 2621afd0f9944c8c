#pragma once
/// The processor this process runs on, as far as kernels depend on it.

#include <string>

#include "base/status.h"
#include "codegen/kernel.h"

namespace lowtide::engine {

/// The instruction set to compile for: kNative resolved (`named`: Choices::isa, else the best available); an error if
/// the processor lacks it. AVX2 with FMA is the least.
Result<Isa> resolve_isa(Isa wanted, const std::string& named = {});

/// Names the processor and the instruction set: objects made for equal names are exchangeable.
const std::string& machine_name(Isa isa);

}  // namespace lowtide::engine
