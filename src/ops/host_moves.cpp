#include "ops/host_moves.h"

#include <string_view>

namespace lowtide::engine {

HostMove host_move(const Instruction& i) {
  const auto* call = i.if_as<CustomCallAttributes>();
  if (!call || i.operands.size() != 1 || !same_shape(i.shape, i.operand(0).shape)) return HostMove::kNone;
  if (call->target == "MoveToHost") return HostMove::kToHost;
  if (call->target == "MoveToDevice") return HostMove::kToDevice;
  if (call->target != "annotate_device_placement") return HostMove::kNone;
  const std::string_view said = i.frontend_attributes;
  return said.find("pinned_host\"") != std::string_view::npos ? HostMove::kToHost : HostMove::kToDevice;
}

}  // namespace lowtide::engine
