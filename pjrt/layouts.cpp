#include "layouts.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "buffer.h"
#include "executable.h"

namespace lowtide::pjrt {
namespace {

std::string list_of(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

Layout* make_layout(std::vector<int64_t> minor_to_major) {
  auto* const layout = new Layout;  // hosts use it until the process exits
  layout->text = "{" + list_of(minor_to_major) + "}";
  layout->minor_to_major = std::move(minor_to_major);
  return layout;
}

std::vector<int64_t> descending(size_t rank) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
  return order;
}

}  // namespace

Layout* row_major(size_t rank) {
  constexpr size_t kUsual = 16;  // found without a lock
  static const auto& usual = *[] {
    auto* const layouts = new std::array<Layout*, kUsual>;
    for (size_t r = 0; r < kUsual; ++r) (*layouts)[r] = layout_of(descending(r));
    return layouts;
  }();
  return rank < kUsual ? usual[rank] : layout_of(descending(rank));
}

Layout* layout_of(const std::vector<int64_t>& minor_to_major) {
  std::vector<int64_t> sorted = minor_to_major;
  std::ranges::sort(sorted);
  for (size_t d = 0; d < sorted.size(); ++d) {
    if (sorted[d] != static_cast<int64_t>(d)) return nullptr;
  }
  struct All {
    std::mutex mutex;
    std::map<std::vector<int64_t>, Layout*> layouts;
  };
  static All& all = *new All;
  const std::lock_guard lock(all.mutex);
  Layout*& layout = all.layouts[minor_to_major];
  if (!layout) layout = make_layout(minor_to_major);
  return layout;
}

std::vector<int64_t> strides_of(const Layout& layout, const std::vector<int64_t>& dims, size_t element) {
  std::vector<int64_t> strides(dims.size());
  auto stride = static_cast<int64_t>(element);
  for (const int64_t d : layout.minor_to_major) {
    strides[d] = stride;
    stride *= std::max<int64_t>(dims[d], 1);
  }
  return strides;
}

bool lie_equally(const Layout& a, const Layout& b, const std::vector<int64_t>& dims) {
  if (&a == &b) return true;
  if (a.minor_to_major.size() != b.minor_to_major.size()) return false;
  if (std::ranges::find(dims, 0) != dims.end()) return true;
  const std::vector<int64_t> in_a = strides_of(a, dims, 1), in_b = strides_of(b, dims, 1);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] > 1 && in_a[d] != in_b[d]) return false;
  }
  return true;
}

PJRT_Error* read_strides(const PJRT_Buffer_MemoryLayout& stated, const std::vector<int64_t>& dims, size_t element,
                         std::vector<int64_t>& strides) {
  if (stated.type == PJRT_Buffer_MemoryLayout::kStrides) {
    if (stated.strides.num_byte_strides != dims.size())
      return invalid("found strides of another rank than the array's");
    strides.assign(stated.strides.byte_strides, stated.strides.byte_strides + dims.size());
    return nullptr;
  }
  Layout* layout = nullptr;
  if (PJRT_Error* error = read_layout(&stated, dims, element, layout)) return error;
  strides = strides_of(*layout, dims, element);
  return nullptr;
}

PJRT_Error* read_layout(const PJRT_Buffer_MemoryLayout* stated, const std::vector<int64_t>& dims, size_t element,
                        Layout*& layout) {
  layout = row_major(dims.size());
  if (!stated) return nullptr;
  std::vector<int64_t> order;
  if (stated->type == PJRT_Buffer_MemoryLayout::kStrides) {
    std::vector<int64_t> strides;
    if (PJRT_Error* error = read_strides(*stated, dims, element, strides)) return error;
    order = layout->minor_to_major;
    // If two strides are equal, one dimension has one element; equal ones keep their row-major order.
    std::ranges::stable_sort(order, {}, [&](int64_t d) { return strides[d]; });
    layout = layout_of(order);
    const std::vector<int64_t> dense = strides_of(*layout, dims, element);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] > 1 && dense[d] != strides[d]) {
        return unimplemented("arrays with gaps: found the strides " + list_of(strides) + ", expected " +
                             list_of(dense));
      }
    }
    return nullptr;
  }
  if (stated->tiled.num_tiles != 0) {
    return unimplemented("layouts with tiles: arrays have an order of their dimensions only");
  }
  order.assign(stated->tiled.minor_to_major, stated->tiled.minor_to_major + stated->tiled.minor_to_major_size);
  layout = order.size() == dims.size() ? layout_of(order) : nullptr;
  if (layout) return nullptr;
  return invalid("found the layout {" + list_of(order) + "}, expected each of " + std::to_string(dims.size()) +
                 " dimensions once");
}

PJRT_Error* MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args&) { return nullptr; }

PJRT_Error* MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args) {
  give(args.layout->text, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_layout = nullptr;
  args.serialized_layout_deleter = [](void*) {};
  return nullptr;
}

PJRT_Error* Client_GetDefaultLayout(PJRT_Layouts_Client_GetDefaultLayout_Args& args) {
  args.layout = row_major(args.num_dims);
  return nullptr;
}

PJRT_Error* Topology_GetDefaultLayout(PJRT_Layouts_Topology_GetDefaultLayout_Args& args) {
  args.layout = row_major(args.num_dims);
  return nullptr;
}

PJRT_Error* Buffer_MemoryLayout(PJRT_Layouts_Buffer_MemoryLayout_Args& args) {
  args.layout = args.buffer->layout;
  return nullptr;
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
