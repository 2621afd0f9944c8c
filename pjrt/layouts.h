#pragma once
/// Arrays' layouts for PJRT's extension: always row-major here.

#include "abi_layouts.h"

namespace lowtide::pjrt {

/// The layout for this rank; it is never destroyed. Null: the rank is too large.
PJRT_Layouts_MemoryLayout* row_major(size_t rank);

PJRT_Error* MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args& args);
PJRT_Error* MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args);
PJRT_Error* Client_GetDefaultLayout(PJRT_Layouts_Client_GetDefaultLayout_Args& args);
PJRT_Error* Buffer_MemoryLayout(PJRT_Layouts_Buffer_MemoryLayout_Args& args);
PJRT_Error* Topology_GetDefaultLayout(PJRT_Layouts_Topology_GetDefaultLayout_Args& args);
PJRT_Error* Executable_GetOutputLayouts(PJRT_Layouts_Executable_GetOutputLayouts_Args& args);
PJRT_Error* Executable_GetParameterLayouts(PJRT_Layouts_Executable_GetParameterLayouts_Args& args);

}  // namespace lowtide::pjrt
