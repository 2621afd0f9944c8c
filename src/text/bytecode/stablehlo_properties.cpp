#include "text/bytecode/stablehlo_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/bytecode/word_lists.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {
namespace {

using Kind = BytecodeAttribute::Kind;

/// Properties that StableHLO groups in one structure.
struct Structure {
  std::string_view operations;  ///< a word list (word_lists.h)
  std::string_view attribute, kind;
  std::string_view fields;
};
constexpr std::array<Structure, 5> kStructures = {{
    {" dot_general ", "dot_dimension_numbers", "dot",
     " lhs_batching_dimensions lhs_contracting_dimensions rhs_batching_dimensions rhs_contracting_dimensions "},
    {" gather dynamic_gather ", "dimension_numbers", "gather",
     " collapsed_slice_dims index_vector_dim offset_dims operand_batching_dims start_index_map "
     "start_indices_batching_dims "},
    {" scatter ", "scatter_dimension_numbers", "scatter",
     " index_vector_dim input_batching_dims inserted_window_dims scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims update_window_dims "},
    {" convolution dynamic_conv ", "dimension_numbers", "conv",
     " input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
     "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions "},
    {" dot_general ", "algorithm", "dot_algorithm",
     " accumulation_type allow_imprecise_accumulation lhs_component_count lhs_precision_type num_primitive_operations "
     "rhs_component_count rhs_precision_type "},
}};

class PropertyWriter {
 public:
  PropertyWriter(std::string_view operation, BytecodeEntries& entries) : operation_(operation), entries_(entries) {}

  std::vector<std::string> write(const std::vector<BytecodeProperty>& properties) {
    for (const auto& [name, value] : properties) {
      if (!add_field(name, *value)) add(name, *value);
    }
    for (size_t i = 0; i < kStructures.size(); ++i) {
      if (fields_[i].empty() || absent_[i]) continue;
      all_.push_back(fmt::format("{} = #stablehlo.{}<{}{}>", kStructures[i].attribute, kStructures[i].kind,
                                 kStructures[i].kind == "conv" ? "raw " : "", fields_[i]));
    }
    if (channel_ > 0 || is_transfer_) {
      all_.push_back(fmt::format("channel_handle = #stablehlo.channel_handle<handle = {}, type = {}>", channel_,
                                 is_transfer_ ? channel_type_ : 1));
    }
    return std::move(all_);
  }

 private:
  bool add_field(std::string_view name, const BytecodeAttribute& value) {
    for (size_t i = 0; i < kStructures.size(); ++i) {
      const Structure& structure = kStructures[i];
      if (!has_word(structure.operations, operation_) || !has_word(structure.fields, name)) continue;
      std::string text;
      if (value.kind == Kind::kTensor) {
        text = mlir_list(entries_.integers(value));
        if (text == "[]" && structure.kind != "conv") return true;
      } else if (value.kind == Kind::kType) {
        absent_[i] = absent_[i] || value.type->nothing;
        text = value.text;
      } else {
        text = value.text.substr(0, value.text.find(' '));  // without its type
      }
      fields_[i] += fmt::format("{}{} = {}", fields_[i].empty() ? "" : ", ", name, text);
      return true;
    }
    return false;
  }

  void add(std::string_view name, const BytecodeAttribute& value) {
    if (name == "channel_id" || name == "channel_type") {
      (name == "channel_id" ? channel_ : channel_type_) = value.number;
      is_transfer_ = is_transfer_ || name == "channel_type";
    } else if (name == "use_global_device_ids") {
      if (value.number != 0) all_.emplace_back(name);
    } else if (name == "callee" || name == "decomposition") {
      put(name, mlir_reference(value.string));
    } else if (name == "called_computations") {
      std::string names;
      for (const BytecodeAttribute* item : value.items) {
        names += (names.empty() ? "" : ", ") + mlir_reference(item->string);
      }
      put(name, '[' + names + ']');
    } else if (name == "operand_layouts" || name == "result_layouts") {
      if (value.items.empty()) return;
      std::string layouts;
      for (const BytecodeAttribute* item : value.items) {
        const std::vector<int64_t> order = entries_.integers(*item);
        layouts += layouts.empty() ? "" : ", ";
        layouts += order.empty() ? std::string("dense<> : tensor<0xindex>")
                                 : fmt::format("dense<{}> : tensor<{}xindex>", mlir_list(order), order.size());
      }
      put(name, '[' + layouts + ']');
    } else if (name == "result_accuracy") {
      if (!value.is_default) put(name, value.text);
    } else if (name == "result_tilings" && value.items.empty()) {
      return;
    } else if (value.kind == Kind::kTensor && name != "value") {
      add_list(name, value);
    } else {
      put(name, value.text);
    }
  }

  void add_list(std::string_view name, const BytecodeAttribute& value) {
    if (value.type->elements == "i1") {  // booleans: the window reversal of convolutions
      const std::string_view bytes = value.bytes;
      const auto rank = value.type->dims.size() == 1 ? value.type->dims[0] : 0;
      std::string flags;
      for (int64_t i = 0; i < std::min<int64_t>(rank, 64); ++i) {
        const auto at = static_cast<size_t>(i);
        const bool each = std::ssize(bytes) == rank && rank > 1;
        const bool splat = bytes == "\xff" || bytes == std::string_view("\0", 1);
        const auto byte = static_cast<unsigned char>(each ? bytes[at] : at / 8 < bytes.size() ? bytes[at / 8] : 0);
        const bool set = splat ? bytes[0] != 0 : each ? byte != 0 : ((byte >> (at % 8)) & 1) != 0;
        flags += fmt::format("{}{}", flags.empty() ? "" : ", ", set);
      }
      return put(name, flags.empty() ? "array<i1>" : fmt::format("array<i1: {}>", flags));
    }
    const std::vector<int64_t> all = entries_.integers(value);
    if (value.type->dims.size() == 1) return put(name, mlir_array(all));
    std::string rows;
    const size_t width = value.type->dims.size() == 2 ? static_cast<size_t>(value.type->dims[1]) : 0;
    for (size_t row = 0; width > 0 && row < all.size(); row += width) {
      const std::vector<int64_t> one(all.begin() + static_cast<ptrdiff_t>(row),
                                     all.begin() + static_cast<ptrdiff_t>(std::min(row + width, all.size())));
      rows += (rows.empty() ? "" : ", ") + mlir_list(one);
    }
    put(name, fmt::format("dense<{}> : {}", rows.empty() ? rows : '[' + rows + ']', value.type->text));
  }

  void put(std::string_view name, const std::string& text) { all_.push_back(fmt::format("{} = {}", name, text)); }

  std::string_view operation_;
  BytecodeEntries& entries_;
  std::vector<std::string> all_;
  std::array<std::string, kStructures.size()> fields_;
  std::array<bool, kStructures.size()> absent_ = {};
  int64_t channel_ = 0, channel_type_ = 1;
  bool is_transfer_ = false;
};

}  // namespace

std::vector<std::string> stablehlo_properties(std::string_view operation,
                                              const std::vector<BytecodeProperty>& properties,
                                              BytecodeEntries& entries) {
  return PropertyWriter(operation, entries).write(properties);
}

}  // namespace lowtide::engine
