#pragma once
/// Reads HloInstructionProto and HloComputationProto.

#include <string>
#include <unordered_map>

#include "ir/module.h"
#include "text/proto/wire.h"

namespace lowtide::engine {

/// State that the instructions of one module share while they are read.
struct ProtoModule {
  Module& module;
  WireFault& fault;
  std::vector<std::string_view> payloads;  ///< backend configs that several instructions share
  std::unordered_map<int64_t, Computation*> computations;
};

/// Adds the computation. The computations that it calls must have been read; `sequence` is its schedule, or empty.
Result<Computation*> computation_from_proto(const WireMessage& proto, const std::vector<int64_t>& sequence,
                                            ProtoModule& shared);

}  // namespace lowtide::engine
