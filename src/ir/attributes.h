#pragma once
/// The attributes of instructions, one struct per family of operations. Fields are named as in HLO text. Attributes
/// that Lowtide doesn't use stay in Instruction::extra as text and are printed unchanged.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/literal.h"
#include "ir/opcode.h"
#include "ir/sharding.h"

namespace lowtide::engine {

struct ParameterAttributes {
  int64_t number = 0;
};
struct ConstantAttributes {
  Value value;
};
struct IotaAttributes {
  int64_t dimension = 0;
};
/// broadcast, transpose, reverse, concatenate, reduce, map, get-/set-dimension-size.
struct DimensionsAttributes {
  Dims dimensions;
};
struct ScanAttributes {
  int64_t dimension = 0;
  bool is_reverse = false;
  std::string is_associative;  ///< as written; empty if missing
  int64_t num_carries = -1;    ///< the last operands; -1: not written
};

enum class CompareDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class CompareType : uint8_t { kDefault, kFloat, kTotalOrder, kSigned, kUnsigned };
struct CompareAttributes {
  CompareDirection direction = CompareDirection::kEq;
  CompareType type = CompareType::kDefault;
};
struct ReducePrecisionAttributes {
  int64_t exponent_bits = 0;
  int64_t mantissa_bits = 0;
};
struct SliceAttributes {
  Dims starts, limits, strides;  ///< one each per dimension; limits exclusive
};
struct DynamicSliceAttributes {
  Dims sizes;
};
struct PadAttributes {
  Dims low, high, interior;  ///< low and high may be negative
};
struct DotAttributes {
  Dims lhs_contracting_dims, rhs_contracting_dims, lhs_batch_dims, rhs_batch_dims;
  Dims lhs_ragged_dims, rhs_group_dims;  ///< of ragged-dot
};
/// Window of convolution, reduce-window and select-and-scatter: one entry per (spatial) dimension in each list.
struct Window {
  Dims size, stride, pad_low, pad_high, lhs_dilate, rhs_dilate;
  std::vector<bool> rhs_reversal;
};
struct WindowAttributes {
  Window window;
};
struct ConvolutionAttributes {
  Window window;
  // dim_labels: positions of batch, feature and spatial dimensions
  int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0, output_batch = 0,
          output_feature = 0;
  Dims input_spatial, kernel_spatial, output_spatial;
  std::string dim_labels;  ///< as written
  int64_t feature_group_count = 1, batch_group_count = 1;
};
struct GatherAttributes {
  Dims offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
};
struct ScatterAttributes {
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, input_batching_dims,
      scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false;
  bool unique_indices = false;
};
struct SortAttributes {
  int64_t dimension = 0;
  bool is_stable = false;
};
struct TupleIndexAttributes {
  int64_t index = 0;
};
/// conditional: by predicate (true_computation, false_computation) or by s32 index (branch_computations).
struct ConditionalAttributes {
  bool by_predicate = false;
};

/// `{0}: (1, {2}, must-alias)`: result `output` lives in operand (or entry parameter) `operand` at `operand_index`.
struct AliasEntry {
  ShapeIndex output;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool must_alias = false;
};
enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };
struct FusionAttributes {
  FusionKind kind = FusionKind::kLoop;
  std::vector<AliasEntry> output_to_operand_aliasing;
};
/// custom-call: target, operands that alias results, side effects; other parameters of the target are `opaque` text.
struct CustomCallAttributes {
  std::string target;
  std::string api_version;  ///< as written; empty if missing
  bool has_side_effect = false;
  std::vector<AliasEntry> output_to_operand_aliasing;
};
enum class RngDistribution : uint8_t { kUniform, kNormal };
struct RngAttributes {
  RngDistribution distribution = RngDistribution::kUniform;
};
enum class RngAlgorithm : uint8_t { kDefault, kPhilox, kThreeFry };
struct RngBitGeneratorAttributes {
  RngAlgorithm algorithm = RngAlgorithm::kDefault;
};
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
struct FftAttributes {
  FftType type = FftType::kFft;
  Dims length;
};
struct CholeskyAttributes {
  bool lower = false;
};
enum class Transposition : uint8_t { kNone, kTranspose, kAdjoint };
struct TriangularSolveAttributes {
  bool left_side = false, lower = false, unit_diagonal = false;
  Transposition transpose_a = Transposition::kNone;
};
struct BatchNormAttributes {
  double epsilon = 0;
  int64_t feature_index = 0;
};
/// all-gather, all-reduce, all-to-all, collective-permute, ... and their -start forms.
struct CollectiveAttributes {
  ReplicaGroups replica_groups;
  std::string source_target_pairs;  ///< as written: `{{0,1},{1,2}}`
  Dims dimensions;                  ///< empty if the operation has none
  bool use_global_device_ids = false;
};
struct TopKAttributes {
  int64_t k = 0;
  bool largest = true;
};
struct DeltaAttributes {  // rng-get-and-update-state
  int64_t delta = 0;
};

struct AsyncAttributes;  // below: it holds the attributes of the operation it wraps

using Attributes =
    std::variant<std::monostate, ParameterAttributes, ConstantAttributes, IotaAttributes, DimensionsAttributes,
                 ScanAttributes, CompareAttributes, ReducePrecisionAttributes, SliceAttributes, DynamicSliceAttributes,
                 PadAttributes, DotAttributes, WindowAttributes, ConvolutionAttributes, GatherAttributes,
                 ScatterAttributes, SortAttributes, TupleIndexAttributes, ConditionalAttributes, FusionAttributes,
                 CustomCallAttributes, RngAttributes, RngBitGeneratorAttributes, FftAttributes, CholeskyAttributes,
                 TriangularSolveAttributes, BatchNormAttributes, CollectiveAttributes, TopKAttributes, DeltaAttributes,
                 std::shared_ptr<const AsyncAttributes>>;

/// `%s = (...) reduce-scatter-start(%x), ...`: an async-start (-update, -done) of one operation, written without a
/// wrapped computation. Plain `async-start(%x), calls=%wrapped` has no attributes of this kind.
struct AsyncAttributes {
  Opcode wrapped = Opcode::kCopy;
  Attributes inner;
};

}  // namespace lowtide::engine
