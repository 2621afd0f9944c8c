#pragma once
/// The order of an array's dimensions in memory, and what depends on it. Programs see row-major arrays of
/// other extents (Module::laid_out); only buffers, and transfers between them and the host, know an order.

#include <cstdint>
#include <string>
#include <vector>

#include "abi_args.h"
#include "abi_layouts.h"

/// One object for each order, never destroyed: equal orders are equal pointers.
struct PJRT_Layouts_MemoryLayout {
  void* functions = nullptr;
  std::vector<int64_t> minor_to_major;
  std::string text;  ///< "{1,0}"
};

namespace lowtide::pjrt {

using Layout = PJRT_Layouts_MemoryLayout;

Layout* row_major(size_t rank);
/// Null if it isn't a permutation of its dimensions.
Layout* layout_of(const std::vector<int64_t>& minor_to_major);
/// Reads the layout that a host asks for: an order, or strides in bytes without gaps; row-major if absent. An error for
/// tiles, gaps, or another rank.
PJRT_Error* read_layout(const PJRT_Buffer_MemoryLayout* stated, const std::vector<int64_t>& dims, size_t element,
                        Layout*& layout);
/// The stride of each dimension in bytes.
std::vector<int64_t> strides_of(const Layout& layout, const std::vector<int64_t>& dims, size_t element);
/// Are the elements of an array at the same places in both orders?
bool lie_equally(const Layout& a, const Layout& b, const std::vector<int64_t>& dims);
/// Reads the strides that a host asks for: those of an order, or any others.
PJRT_Error* read_strides(const PJRT_Buffer_MemoryLayout& stated, const std::vector<int64_t>& dims, size_t element,
                         std::vector<int64_t>& strides);

PJRT_Error* MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args& args);
PJRT_Error* MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args);
PJRT_Error* Client_GetDefaultLayout(PJRT_Layouts_Client_GetDefaultLayout_Args& args);
PJRT_Error* Buffer_MemoryLayout(PJRT_Layouts_Buffer_MemoryLayout_Args& args);
PJRT_Error* Topology_GetDefaultLayout(PJRT_Layouts_Topology_GetDefaultLayout_Args& args);
PJRT_Error* Executable_GetOutputLayouts(PJRT_Layouts_Executable_GetOutputLayouts_Args& args);
PJRT_Error* Executable_GetParameterLayouts(PJRT_Layouts_Executable_GetParameterLayouts_Args& args);

}  // namespace lowtide::pjrt
