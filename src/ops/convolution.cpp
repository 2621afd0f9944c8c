// convolution: a window of weights slides over spatial dimensions, contracting features; supports every labelling,
// grouping, dilation, reversal and negative padding.
//   lhs [batch b, features i, spatial..], rhs [kernel features i / feature groups, outputs o, window..]
//   -> [b / batch groups, o, positions..], dimensions in the order that dim_labels gives.
//   (C1) operands are arrays of equal rank, complex where the result is
//   (C2) dim_labels name every dimension of lhs, rhs and result once
//   (C3) the window has one entry per spatial dimension; its sizes are those of the kernel
//   (C4) group counts are positive and not both above 1
//   (C5) input features = kernel features * feature_group_count
//   (C6) output features are a multiple of feature_group_count and of batch_group_count, batch of batch_group_count
#include "ops/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/op_rule.h"
#include "ops/rows.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

/// Parses labels such as `b01f`: positions of two named dimensions and of the spatial ones; `?` is one without a role.
bool parse_labels(std::string_view labels, char first, char second, int64_t& at_first, int64_t& at_second,
                  Dims& spatial) {
  spatial.assign(labels.size() >= 2 ? labels.size() - 2 : 0, -1);
  at_first = at_second = -1;
  size_t unknown = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (c == '?') {
      ++unknown;
      continue;
    }
    int64_t* to = c == first ? &at_first : c == second ? &at_second : nullptr;
    if (!to && c >= '0' && c <= '9' && static_cast<size_t>(c - '0') < spatial.size()) {
      to = &spatial[c - '0'];
    }
    if (!to || *to >= 0) return false;
    *to = static_cast<int64_t>(i);
  }
  spatial.resize(spatial.size() - std::min(unknown, spatial.size()));
  return at_first >= 0 && at_second >= 0 && std::find(spatial.begin(), spatial.end(), -1) == spatial.end();
}

Status read_convolution(AttributeReader& reader, Instruction& convolution) {
  ConvolutionAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.window, reader.take_window_or_none("window"));
  LT_ASSIGN_OR_RETURN(const std::string_view text, reader.take_text("dim_labels"));
  attributes.dim_labels = text;
  const size_t kernel = text.find('_');
  const size_t output = text.find("->");
  const bool parsed =
      kernel != std::string_view::npos && output != std::string_view::npos && kernel < output &&
      parse_labels(text.substr(0, kernel), 'b', 'f', attributes.input_batch, attributes.input_feature,
                   attributes.input_spatial) &&
      parse_labels(text.substr(kernel + 1, output - kernel - 1), 'i', 'o', attributes.kernel_input_feature,
                   attributes.kernel_output_feature, attributes.kernel_spatial) &&
      parse_labels(text.substr(output + 2), 'b', 'f', attributes.output_batch, attributes.output_feature,
                   attributes.output_spatial);
  if (!parsed) return reader.fault_at("dim_labels", "expected labels like b01f_01io->b01f");
  LT_ASSIGN_OR_RETURN(attributes.feature_group_count, reader.take_integer_or("feature_group_count", 1));
  LT_ASSIGN_OR_RETURN(attributes.batch_group_count, reader.take_integer_or("batch_group_count", 1));
  convolution.attributes = std::move(attributes);
  return {};
}

void print_convolution(const Instruction& convolution, AttributeWriter& writer) {
  const auto& attributes = convolution.as<ConvolutionAttributes>();
  if (!attributes.window.size.empty()) writer.window("window", attributes.window);
  writer.text("dim_labels", attributes.dim_labels);
  if (attributes.feature_group_count != 1) writer.integer("feature_group_count", attributes.feature_group_count);
  if (attributes.batch_group_count != 1) writer.integer("batch_group_count", attributes.batch_group_count);
}

Result<Shape> infer_convolution(const Instruction& convolution) {
  LT_RETURN_IF_ERROR(check_arrays(convolution, 1));
  const auto& attributes = convolution.as<ConvolutionAttributes>();
  const Shape& lhs = convolution.operand(0).shape;
  const Shape& rhs = convolution.operand(1).shape;
  if (lhs.rank() != rhs.rank()) {  // (C1)
    return broken(convolution, 1, fmt::format("operands have ranks {} and {}", lhs.rank(), rhs.rank()));
  }
  if (convolution.shape.is_array() &&
      is_complex(convolution.shape.type) != (is_complex(lhs.type) || is_complex(rhs.type))) {
    return broken(convolution, 1, "can't give " + to_string_without_layout(convolution.shape) + " of these operands");
  }
  const size_t spatial = attributes.window.size.size();
  const auto covers = [&](const Dims& dims, int64_t first, int64_t second) {
    Dims all = dims;
    all.insert(all.end(), {first, second});
    std::sort(all.begin(), all.end());
    for (size_t d = 0; d < all.size(); ++d) {
      if (all[d] != static_cast<int64_t>(d)) return false;
    }
    return static_cast<int64_t>(all.size()) == lhs.rank();
  };
  if (attributes.dim_labels.find('?') != std::string::npos) return convolution.shape;
  if (!covers(attributes.input_spatial, attributes.input_batch, attributes.input_feature) ||
      !covers(attributes.kernel_spatial, attributes.kernel_input_feature, attributes.kernel_output_feature) ||
      !covers(attributes.output_spatial, attributes.output_batch, attributes.output_feature)) {  // (C2)
    return broken(convolution, 2,
                  fmt::format("dim_labels {} don't name each dimension of rank-{} operands once", attributes.dim_labels,
                              lhs.rank()));
  }
  Dims bases;
  for (const int64_t d : attributes.input_spatial) bases.push_back(lhs.dims[d]);
  LT_RETURN_IF_ERROR(check_window(convolution, attributes.window, bases, 3));  // (C3)
  if (has_unbounded(convolution)) return convolution.shape;
  const auto extent = [](const Shape& shape, int64_t d) { return shape.dims[d]; };
  for (size_t d = 0; d < spatial; ++d) {
    if (attributes.window.size[d] != extent(rhs, attributes.kernel_spatial[d])) {
      return broken(convolution, 3,
                    fmt::format("the window has size {} where the kernel has {}", attributes.window.size[d],
                                extent(rhs, attributes.kernel_spatial[d])));
    }
  }
  const int64_t feature_groups = attributes.feature_group_count, batch_groups = attributes.batch_group_count;
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) {  // (C4)
    return broken(convolution, 4,
                  fmt::format("can't have {} feature groups and {} batch groups", feature_groups, batch_groups));
  }
  const int64_t inputs = extent(lhs, attributes.input_feature), batch = extent(lhs, attributes.input_batch);
  const int64_t kernel_inputs = extent(rhs, attributes.kernel_input_feature);
  const int64_t outputs = extent(rhs, attributes.kernel_output_feature);
  if (inputs % feature_groups != 0 || inputs / feature_groups != kernel_inputs) {  // (C5)
    return broken(convolution, 5,
                  fmt::format("{} input features in {} groups need a kernel of as many each, got {}", inputs,
                              feature_groups, kernel_inputs));
  }
  if (outputs % feature_groups != 0 || outputs % batch_groups != 0 || batch % batch_groups != 0) {  // (C6)
    return broken(convolution, 6,
                  fmt::format("{} output features and batch {} don't divide into {} feature groups, {} batch groups",
                              outputs, batch, feature_groups, batch_groups));
  }
  Dims dims(lhs.dims.size());
  dims[attributes.output_batch] = batch / batch_groups;
  dims[attributes.output_feature] = outputs;
  for (size_t d = 0; d < spatial; ++d) {
    dims[attributes.output_spatial[d]] =
        window_positions(attributes.window, d, extent(lhs, attributes.input_spatial[d]));
  }
  return Shape::array(convolution.shape.is_array() ? convolution.shape.type : lhs.type, dims);
}

std::vector<OperandDimension> roles_of_convolution(const Instruction& convolution, size_t operand) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  std::vector<OperandDimension> roles(convolution.operand(operand).shape.dims.size());
  const auto at = [&](int64_t d) -> OperandDimension& { return roles[d]; };
  if (a.dim_labels.find('?') != std::string::npos) return roles;
  // Groups are blocks of the result's features, each of which reads one block of the input's features or batch.
  const int64_t groups = std::max(a.feature_group_count, a.batch_group_count);
  const int64_t features = convolution.shape.dims[a.output_feature] / groups;
  const auto in_groups = [&](int64_t d) {
    return blocked(a.output_feature, convolution.operand(operand).shape.dims[d] / groups, features);
  };
  if (operand == 1) {
    at(a.kernel_output_feature) =
        a.batch_group_count == 1 ? pointwise(a.output_feature) : in_groups(a.kernel_output_feature);
    at(a.kernel_input_feature) = reduced(0);
    for (size_t w = 0; w < a.kernel_spatial.size(); ++w) at(a.kernel_spatial[w]) = reduced(static_cast<int64_t>(w) + 1);
    return roles;
  }
  at(a.input_batch) = a.batch_group_count == 1 ? pointwise(a.output_batch) : in_groups(a.input_batch);
  // Batch groups contain all features, as in the gradient of a depthwise kernel.
  at(a.input_feature) = a.feature_group_count == 1 ? reduced(0) : in_groups(a.input_feature);
  for (size_t w = 0; w < a.input_spatial.size(); ++w) {
    at(a.input_spatial[w]) = under_window(a.window, w, a.output_spatial[w]);
  }
  return roles;
}

/// Only features are folded (which are batches if the convolution is a kernel's gradient).
bool folds_of_convolution(const Instruction& convolution, size_t operand, int64_t d) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  return a.feature_group_count == 1 && d == (operand == 0 ? a.input_feature : a.kernel_input_feature);
}

void clip_to_rows_of_convolution(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows,
                                 bool at_edges, Attributes& attributes) {
  auto& convolution = std::get<ConvolutionAttributes>(attributes);
  const Dims& spatial = convolution.output_spatial;
  const auto w = std::ranges::find(spatial, d);
  if (w == spatial.end()) return;
  clip_window(original, piece, rows, at_edges, convolution.window, static_cast<size_t>(w - spatial.begin()));
}

/// Slices of the result's features are whole groups.
void keep_whole_groups(const Instruction& original, int64_t d, int64_t size, Attributes& attributes) {
  auto& convolution = std::get<ConvolutionAttributes>(attributes);
  if (d != convolution.output_feature) return;
  for (int64_t* const groups : {&convolution.feature_group_count, &convolution.batch_group_count}) {
    if (*groups > 1) *groups = *groups * size / original.shape.dims[d];
  }
}

constexpr Slicing kConvolutionSlicing{.roles = roles_of_convolution,
                                      .sliceable = Sliceable::kInStep,
                                      .whole = ReadWhole::kSecond,
                                      .adapt = keep_whole_groups,
                                      .folds = folds_of_convolution,
                                      .positions = no_positions,
                                      .rows = {.pieces = rows_under_windows, .adapt = clip_to_rows_of_convolution}};

void relate_groups(ExtentRelater& r, const ConvolutionAttributes& a) {
  ExtentRelations& all = r.all();
  const auto dim = [&](size_t k, int64_t d) { return r.of_operand(k, static_cast<size_t>(d)); };
  const auto result = [&](int64_t d) { return r.mine(static_cast<size_t>(d)); };
  const ExtentReason why = r.why("groups of features");
  const auto times = [](Product a, const Product& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  if (a.feature_group_count > 1) {
    const Product groups = all.make(a.feature_group_count);
    const Product each = all.make(all.extent(dim(1, a.kernel_output_feature)) / a.feature_group_count);
    all.unite(dim(0, a.input_feature), times(groups, dim(1, a.kernel_input_feature)), why);
    all.unite(dim(1, a.kernel_output_feature), times(groups, each), why);
    all.unite(result(a.output_feature), dim(1, a.kernel_output_feature), why);
    r.tie(ExtentTie::Slot::kGroups, 0, ExtentSum(groups));
  }
  if (a.batch_group_count > 1) {
    const Product groups = all.make(a.batch_group_count);
    const Product each = all.make(all.extent(dim(1, a.kernel_output_feature)) / a.batch_group_count);
    all.unite(dim(0, a.input_batch), times(groups, result(a.output_batch)), why);
    all.unite(dim(1, a.kernel_output_feature), times(groups, each), why);
    all.unite(result(a.output_feature), dim(1, a.kernel_output_feature), why);
    all.unite(dim(0, a.input_feature), dim(1, a.kernel_input_feature), why);
    r.tie(ExtentTie::Slot::kBatchGroups, 0, ExtentSum(groups));
  }
}

void extents_of_convolution(ExtentRelater& r) {
  const Instruction& convolution = r.instruction();
  const auto& a = convolution.as<ConvolutionAttributes>();
  extents_by_roles(r);
  if (a.dim_labels.find('?') != std::string::npos) {
    for (const Instruction* operand : convolution.operands) r.freeze(*operand, "a convolution without labels");
    return r.freeze(convolution, "a convolution without labels");
  }
  for (size_t w = 0; w < a.window.size.size(); ++w) {
    relate_window(r, a.window, w,
                  {.base = &r.of_operand(0, static_cast<size_t>(a.input_spatial[w])),
                   .window = &r.of_operand(1, static_cast<size_t>(a.kernel_spatial[w])),
                   .positions = &r.mine(static_cast<size_t>(a.output_spatial[w]))});
  }
  relate_groups(r, a);
}

double terms_of_convolution(const Instruction& convolution) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  const Shape& kernel = convolution.operand(1).shape;
  return product_of(kernel, a.kernel_spatial) * product_of(kernel, {a.kernel_input_feature});
}

void reads_of_convolution(OperandReads& reads) {
  const Instruction& convolution = reads.user();
  const auto& a = convolution.as<ConvolutionAttributes>();
  const double taps = product_of_extents(a.window.size) *
                      static_cast<double>(convolution.operand(1).shape.dims[a.kernel_input_feature]);
  reads.in_own_loop(reads.evaluations().count * taps);
}

}  // namespace

const OpRule kConvolutionRule{
    .read = read_convolution,
    .print = print_convolution,
    .infer = infer_convolution,
    .eval = eval_convolution,
    .element = element_convolution,
    .has_element = has_element_convolution,
    .slicing = kConvolutionSlicing,
    .extents = extents_of_convolution,
    .reads = reads_of_convolution,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kFloats, .terms = terms_of_convolution}};

}  // namespace lowtide::engine
