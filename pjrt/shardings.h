#pragma once
/// How the arrays of a program are divided over its devices, for PJRT's extension.

#include <optional>
#include <string>
#include <string_view>

#include "abi_shardings.h"

namespace lowtide::pjrt {

/// XLA's OpSharding, serialised, from HLO's text for it: "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"; none
/// for forms other than whole arrays and tiles.
std::optional<std::string> serialised_sharding(std::string_view text);

PJRT_Error* Executable_ParameterShardings(PJRT_Shardings_Executable_ParameterShardings_Args& args);
PJRT_Error* Executable_OutputShardings(PJRT_Shardings_Executable_OutputShardings_Args& args);

}  // namespace lowtide::pjrt
