#include "layouts.h"

#include <array>
#include <string>

#include "buffer.h"
#include "executable.h"

struct PJRT_Layouts_MemoryLayout {
  void* functions = nullptr;
  std::string text;  ///< minor to major: "{1,0}"
};

namespace lowtide::pjrt {
namespace {

constexpr size_t kMostDimensions = 64;

PJRT_Error* give_layout(size_t rank, PJRT_Layouts_MemoryLayout*& layout) {
  layout = row_major(rank);
  return layout ? nullptr : unimplemented("layouts of more than 64 dimensions");
}

}  // namespace

PJRT_Layouts_MemoryLayout* row_major(size_t rank) {
  static auto& all = *[] {  // hosts use them until the process exits
    auto* const layouts = new std::array<PJRT_Layouts_MemoryLayout, kMostDimensions + 1>;
    for (size_t r = 0; r < layouts->size(); ++r) {
      std::string& text = (*layouts)[r].text;
      for (size_t d = r; d-- > 0;) text += std::to_string(d) + (d > 0 ? "," : "");
      text = "{" + text + "}";
    }
    return layouts;
  }();
  return rank < all.size() ? &all[rank] : nullptr;
}

PJRT_Error* MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args&) { return nullptr; }

PJRT_Error* MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args) {
  give(args.layout->text, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_layout = nullptr;
  args.serialized_layout_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* Client_GetDefaultLayout(PJRT_Layouts_Client_GetDefaultLayout_Args& args) {
  return give_layout(args.num_dims, args.layout);
}

PJRT_Error* Topology_GetDefaultLayout(PJRT_Layouts_Topology_GetDefaultLayout_Args& args) {
  return give_layout(args.num_dims, args.layout);
}

PJRT_Error* Buffer_MemoryLayout(PJRT_Layouts_Buffer_MemoryLayout_Args& args) {
  return give_layout(args.buffer->dims.size(), args.layout);
}

PJRT_Error* Executable_GetOutputLayouts(PJRT_Layouts_Executable_GetOutputLayouts_Args& args) {
  give(args.executable->compiled->result_layouts, args.layouts, args.num_outputs);
  return nullptr;
}

PJRT_Error* Executable_GetParameterLayouts(PJRT_Layouts_Executable_GetParameterLayouts_Args& args) {
  give(args.executable->compiled->parameter_layouts, args.layouts, args.num_parameters);
  return nullptr;
}

}  // namespace lowtide::pjrt
