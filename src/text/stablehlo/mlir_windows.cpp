#include "text/stablehlo/mlir_windows.h"

#include <fmt/format.h>

namespace lowtide::engine {
namespace {

std::string pairs(const Dims& low, const Dims& high) {
  std::string rows;
  for (size_t d = 0; d < low.size(); ++d) rows += fmt::format("{}[{}, {}]", d > 0 ? ", " : "", low[d], high[d]);
  return low.empty() ? "dense<> : tensor<0x2xi64>" : fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, low.size());
}

void add_window(const Window& window, Opcode opcode, std::vector<MlirText>& all) {
  const bool convolution = opcode == Opcode::kConvolution;
  if (!convolution) all.push_back({"window_dimensions", mlir_array(window.size)});
  all.push_back({"window_strides", mlir_array(window.stride)});
  all.push_back({"padding", pairs(window.pad_low, window.pad_high)});
  if (opcode == Opcode::kSelectAndScatter) return;
  all.push_back({convolution ? "lhs_dilation" : "base_dilations", mlir_array(window.lhs_dilate)});
  all.push_back({convolution ? "rhs_dilation" : "window_dilations", mlir_array(window.rhs_dilate)});
  if (!convolution) return;
  std::vector<std::string> reversal;
  for (const bool reversed : window.rhs_reversal) reversal.emplace_back(reversed ? "true" : "false");
  all.push_back(
      {"window_reversal", reversal.empty() ? "array<i1>" : fmt::format("array<i1: {}>", fmt::join(reversal, ", "))});
}

}  // namespace

void add_geometry(const Instruction& instruction, std::vector<MlirText>& attributes) {
  if (const auto* slice = instruction.if_as<SliceAttributes>()) {
    attributes.push_back({"start_indices", mlir_array(slice->starts)});
    attributes.push_back({"limit_indices", mlir_array(slice->limits)});
    attributes.push_back({"strides", mlir_array(slice->strides)});
  } else if (const auto* pad = instruction.if_as<PadAttributes>()) {
    attributes.push_back({"edge_padding_low", mlir_array(pad->low)});
    attributes.push_back({"edge_padding_high", mlir_array(pad->high)});
    attributes.push_back({"interior_padding", mlir_array(pad->interior)});
  } else if (const auto* window = instruction.if_as<WindowAttributes>()) {
    add_window(window->window, instruction.opcode, attributes);
  } else if (const auto* convolution = instruction.if_as<ConvolutionAttributes>()) {
    add_window(convolution->window, instruction.opcode, attributes);
  }
}

std::string conv_labels(std::string_view labels) {
  const auto side = [](std::string_view letters) {
    std::vector<std::string> all;
    for (const char c : letters) all.emplace_back(1, c);
    return fmt::format("[{}]", fmt::join(all, ", "));
  };
  const size_t bar = labels.find('_'), arrow = labels.find("->");
  if (bar == labels.npos || arrow == labels.npos) return {};
  return fmt::format("#stablehlo.conv<{}x{}->{}>", side(labels.substr(0, bar)),
                     side(labels.substr(bar + 1, arrow - bar - 1)), side(labels.substr(arrow + 2)));
}

}  // namespace lowtide::engine
