#pragma once
/// The order in which an array's dimensions lie in memory, and all that depends on it. Programs see row-major arrays of
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
/// Null: it isn't an order of as many dimensions as it has.
Layout* layout_of(const std::vector<int64_t>& minor_to_major);
/// What a host asks for: an order, or strides in bytes that leave no gaps. An absent one is row-major. Of an array with
/// tiles, gaps, or of another rank, an error.
PJRT_Error* read_layout(const PJRT_Buffer_MemoryLayout* stated, const std::vector<int64_t>& dims, size_t element,
                        Layout*& layout);
/// For each dimension its distance in bytes.
std::vector<int64_t> strides_of(const Layout& layout, const std::vector<int64_t>& dims, size_t element);
/// Whether the elements of an array lie at the same places in both orders.
bool lie_equally(const Layout& a, const Layout& b, const std::vector<int64_t>& dims);
/// The strides that a host asks for: those of an order, or any.
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
