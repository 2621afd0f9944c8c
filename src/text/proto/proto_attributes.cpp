#include "text/proto/proto_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "ops/attribute_text.h"
#include "text/proto/proto_geometry.h"
#include "text/proto/proto_shape.h"
#include "text/proto/proto_sharding.h"

namespace lowtide::engine {
namespace {

/// Collects attributes; each add_* omits what HLO text omits.
class Items {
 public:
  explicit Items(const WireMessage& proto) : proto_(proto) {}
  std::vector<RawAttribute> all;

  void text(std::string key, std::string value) { all.push_back({std::move(key), std::move(value)}); }
  void integer(std::string key, uint32_t field, int64_t unless = 0) {
    if (const int64_t value = proto_.integer(field, unless); value != unless)
      text(std::move(key), std::to_string(value));
  }
  void flag(std::string key, uint32_t field) {
    if (proto_.flag(field)) text(std::move(key), "true");
  }
  void dims(std::string key, const WireMessage& message, uint32_t field) {
    text(std::move(key), braced(message.integers(field)));
  }
  void dims_if_any(std::string key, const WireMessage& message, uint32_t field) {
    if (message.has(field)) dims(std::move(key), message, field);
  }
  void quoted(std::string key, uint32_t field) {
    if (proto_.has(field)) text(std::move(key), quote(proto_.bytes(field)));
  }
  template <size_t N>
  void word(std::string key, uint32_t field, const std::array<std::string_view, N>& words) {
    const auto index = static_cast<uint64_t>(proto_.integer(field));
    if (index < N && !words[index].empty()) text(std::move(key), std::string(words[index]));
  }

 private:
  const WireMessage& proto_;
};

void add_dot(Items& items, const WireMessage& numbers) {
  items.dims_if_any("lhs_batch_dims", numbers, 3);
  items.dims("lhs_contracting_dims", numbers, 1);
  items.dims_if_any("rhs_batch_dims", numbers, 4);
  items.dims("rhs_contracting_dims", numbers, 2);
}

void add_precision(Items& items, const WireMessage& config) {
  constexpr std::array<std::string_view, 3> kPrecisions = {"default", "high", "highest"};
  constexpr std::array<std::string_view, 14> kAlgorithms = {"",
                                                            "dot_any_f8_any_f8_f32",
                                                            "dot_any_f8_any_f8_f32_fast_accum",
                                                            "dot_f16_f16_f16",
                                                            "dot_f16_f16_f32",
                                                            "dot_bf16_bf16_bf16",
                                                            "dot_bf16_bf16_f32",
                                                            "dot_bf16_bf16_f32_x3",
                                                            "dot_bf16_bf16_f32_x6",
                                                            "dot_tf32_tf32_f32",
                                                            "dot_tf32_tf32_f32_x3",
                                                            "dot_f32_f32_f32",
                                                            "dot_f64_f64_f64",
                                                            "dot_bf16_bf16_f32_x9"};
  std::string text;
  bool needed = false;
  for (const int64_t precision : config.integers(1)) {
    const auto index = static_cast<uint64_t>(precision);
    needed |= index != 0;
    text += fmt::format("{}{}", text.empty() ? "" : ",", index < kPrecisions.size() ? kPrecisions[index] : "default");
  }
  if (needed) items.text("operand_precision", fmt::format("{{{}}}", text));
  const auto algorithm = static_cast<uint64_t>(config.integer(2));
  if (algorithm != 0 && algorithm < kAlgorithms.size()) items.text("algorithm", std::string(kAlgorithms[algorithm]));
}

bool joins_devices(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectiveReduce:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter: return true;
    default: return false;
  }
}

void add_collective(Items& items, const WireMessage& proto, Opcode opcode) {
  enum : uint32_t { kOldGroups = 49, kGroups = 87, kIotaGroups = 92, kMeshGroups = 93 };
  const auto old_iota = proto.message(kGroups).message(2);  // in older files
  if (proto.has(kMeshGroups)) {
    items.text("replica_groups", mesh_groups_text(proto.message(kMeshGroups)));
  } else if (proto.has(kIotaGroups) || !old_iota.empty()) {
    items.text("replica_groups", iota_groups_text(proto.has(kIotaGroups) ? proto.message(kIotaGroups) : old_iota));
  } else if (joins_devices(opcode)) {
    const WireMessage groups = proto.message(kGroups);
    items.text("replica_groups", listed_groups_text(groups.empty() ? proto.messages(kOldGroups) : groups.messages(1)));
  }
  if (proto.has(52) || opcode == Opcode::kCollectivePermute || opcode == Opcode::kCollectivePermuteStart) {
    std::string pairs;
    for (const WireMessage& pair : proto.messages(52)) {
      pairs += fmt::format("{}{{{},{}}}", pairs.empty() ? "" : ",", pair.integer(1), pair.integer(2));
    }
    items.text("source_target_pairs", fmt::format("{{{}}}", pairs));
  }
}

/// The default type of a comparison.
std::string_view usual_comparison(const Instruction& instruction) {
  const ElementType type = instruction.operands.empty() ? ElementType::kF32 : instruction.operand(0).shape.type;
  switch (type_kind(type)) {
    case TypeKind::kSigned: return "SIGNED";
    case TypeKind::kUnsigned:
    case TypeKind::kPredicate: return "UNSIGNED";
    default: return "FLOAT";
  }
}

void add_called(Items& items, const Instruction& instruction, const std::vector<std::string>& called) {
  if (called.empty()) return;
  const auto all = [&] {
    std::string text;
    for (const std::string& name : called) text += (text.empty() ? "%" : ", %") + name;
    return fmt::format("{{{}}}", text);
  };
  const auto one = [&](std::string key, size_t i) { items.text(std::move(key), "%" + called[i]); };
  switch (instruction.opcode) {
    case Opcode::kWhile:
      if (called.size() < 2) return one("body", 0);
      one("condition", 1);
      return one("body", 0);
    case Opcode::kConditional:
      if (called.size() == 2 && !instruction.operands.empty() &&
          instruction.operand(0).shape.type == ElementType::kPred) {
        one("true_computation", 0);
        return one("false_computation", 1);
      }
      return items.text("branch_computations", all());
    case Opcode::kSelectAndScatter:
      one("select", 0);
      if (called.size() > 1) one("scatter", 1);
      return;
    case Opcode::kCustomCall: return items.text("called_computations", all());
    case Opcode::kFusion:
    case Opcode::kAsyncStart: return one("calls", 0);
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone: return;  // its start has the attributes
    default: return one("to_apply", 0);
  }
}

std::string result_accuracy_text(const WireMessage& proto) {
  if (proto.has(2)) {
    const WireMessage tolerance = proto.message(2);
    return fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", tolerance.number64(1), tolerance.number64(2),
                       tolerance.integer(3));
  }
  return proto.integer(1) == 1 ? "{mode=highest}" : "";
}

bool always_has_dimensions(Opcode opcode) {
  return opcode == Opcode::kBroadcast || opcode == Opcode::kTranspose || opcode == Opcode::kReverse ||
         opcode == Opcode::kReduce || opcode == Opcode::kMap;
}

}  // namespace

std::vector<RawAttribute> attributes_from_proto(const WireMessage& proto, const Instruction& instruction,
                                                const std::vector<std::string>& called) {
  Items items(proto);
  const Opcode opcode = instruction.opcode;
  if (opcode == Opcode::kIota) {
    const auto dimensions = proto.integers(14);
    items.text("iota_dimension", std::to_string(dimensions.empty() ? 0 : dimensions.front()));
  }
  if (opcode == Opcode::kGetTupleElement) items.text("index", std::to_string(proto.integer(13)));
  if (opcode == Opcode::kReducePrecision) {
    items.text("exponent_bits", std::to_string(proto.integer(18)));
    items.text("mantissa_bits", std::to_string(proto.integer(19)));
  }
  if (opcode == Opcode::kBatchNormGrad || opcode == Opcode::kBatchNormInference ||
      opcode == Opcode::kBatchNormTraining) {
    items.text("epsilon", fmt::format("{}", proto.number32(24)));
    items.text("feature_index", std::to_string(proto.integer(25)));
  }
  if (opcode == Opcode::kCompare) {
    items.text("direction", std::string(proto.bytes(63)));
    const std::string_view type = proto.bytes(72);
    if (!type.empty() && type != usual_comparison(instruction)) items.text("type", std::string(type));
  }
  if (opcode == Opcode::kFusion) items.text("kind", std::string(proto.bytes(11)));
  if (proto.integer(26) > 0) items.integer("channel_id", 26);
  if (proto.integer(26) <= 0 && proto.integer(45) > 0) items.integer("channel_id", 45);  // all_reduce_id, in old files
  items.flag("is_host_transfer", 47);
  add_collective(items, proto, opcode);
  if (opcode == Opcode::kCustomCall && proto.flag(56)) {
    std::string shapes;
    WireFault ignored;
    for (const WireMessage& shape : proto.messages(57)) {
      shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", to_string(shape_from_proto(shape, ignored)));
    }
    items.text("operand_layout_constraints", fmt::format("{{{}}}", shapes));
  } else {
    items.flag("constrain_layout", 56);
  }
  items.flag("use_global_device_ids", 71);
  if (opcode != Opcode::kIota && (proto.has(14) || always_has_dimensions(opcode))) items.dims("dimensions", proto, 14);
  if (opcode == Opcode::kSlice) items.text("slice", slice_text(proto.messages(17)));
  if (proto.message(15).has(1)) items.text("window", window_text(proto.message(15)));
  if (proto.has(16)) items.text("dim_labels", dim_labels_text(proto.message(16)));
  if (proto.integer(50) > 1) items.integer("feature_group_count", 50);
  if (proto.integer(58) > 1) items.integer("batch_group_count", 58);
  items.word<4>("convolution_kind", 97, {"", "fprop", "dgrad", "wgrad"});
  if (opcode == Opcode::kDynamicSlice) items.dims("dynamic_slice_sizes", proto, 20);
  if (opcode == Opcode::kPad) items.text("padding", padding_text(proto.message(21).messages(1)));
  if (proto.has(30)) add_dot(items, proto.message(30));
  if (proto.has(90)) {
    const WireMessage ragged = proto.message(90);
    add_dot(items, ragged.message(1));
    items.dims("lhs_ragged_dims", ragged, 2);
    items.dims("rhs_group_dims", ragged, 3);
  }
  if (proto.has(33)) {
    const WireMessage gather = proto.message(33);
    items.dims("offset_dims", gather, 1);
    items.dims("collapsed_slice_dims", gather, 2);
    items.dims("start_index_map", gather, 3);
    items.dims_if_any("operand_batching_dims", gather, 5);
    items.dims_if_any("start_indices_batching_dims", gather, 6);
    items.text("index_vector_dim", std::to_string(gather.integer(4)));
    items.dims("slice_sizes", proto, 34);
  }
  if (proto.has(48)) {
    const WireMessage scatter = proto.message(48);
    items.dims("update_window_dims", scatter, 1);
    items.dims("inserted_window_dims", scatter, 2);
    items.dims("scatter_dims_to_operand_dims", scatter, 3);
    items.dims_if_any("input_batching_dims", scatter, 5);
    items.dims_if_any("scatter_indices_batching_dims", scatter, 6);
    items.text("index_vector_dim", std::to_string(scatter.integer(4)));
  }
  items.flag("indices_are_sorted", 67);
  items.flag("unique_indices", 69);
  items.flag("is_stable", 60);
  items.integer("num_carries", 95);
  items.flag("is_reverse", 94);
  items.word<3>("is_associative", 96, {"", "true", "false"});
  if (opcode == Opcode::kFft) {
    items.word<4>("fft_type", 31, {"FFT", "IFFT", "RFFT", "IRFFT"});
    items.dims("fft_length", proto, 32);
  }
  if (opcode == Opcode::kRng) items.word<3>("distribution", 23, {"", "rng_uniform", "rng_normal"});
  if (opcode == Opcode::kRngBitGenerator)
    items.word<3>("algorithm", 70, {"rng_default", "rng_three_fry", "rng_philox"});
  if (opcode == Opcode::kRngGetAndUpdateState) items.text("delta", std::to_string(proto.integer(66)));
  if (proto.has(59)) {
    constexpr std::array<std::string_view, 4> kTransposes = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                                             "ADJOINT"};
    const WireMessage options = proto.message(59);
    if (options.flag(1)) items.text("left_side", "true");
    if (options.flag(2)) items.text("lower", "true");
    if (options.flag(3)) items.text("unit_diagonal", "true");
    const auto transpose = static_cast<uint64_t>(options.integer(4));
    items.text("transpose_a", std::string(kTransposes[transpose < kTransposes.size() ? transpose : 0]));
  }
  if (proto.message(62).flag(1)) items.text("lower", "true");
  if (opcode == Opcode::kTopK) {
    items.text("k", std::to_string(proto.integer(81)));
    items.text("largest", proto.flag(85) ? "true" : "false");
  }
  items.quoted("infeed_config", 27);
  if (opcode == Opcode::kOutfeed) {
    WireFault ignored;
    items.text("outfeed_shape", to_string(shape_from_proto(proto.message(29), ignored)));
    items.quoted("outfeed_config", 22);
  }
  if (opcode == Opcode::kDomain) {  // the file's `exit` is the text's `entry`
    items.text("domain", fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", sharding_text(proto.message(55)),
                                     sharding_text(proto.message(54))));
  }
  add_precision(items, proto.message(51));
  items.word<3>("padding_type", 75, {"", "PADDING_VALID", "PADDING_SAME"});
  if (opcode == Opcode::kCustomCall) {
    items.text("custom_call_target", quote(proto.bytes(28)));
    items.flag("custom_call_has_side_effect", 65);
    items.word<3>("schedule", 76, {"", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"});
    items.word<5>(
        "api_version", 77,
        {"", "", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"});
  }
  if (proto.has(74)) items.text("output_to_operand_aliasing", aliasing_text(proto.messages(74)));
  if (proto.has(80)) items.text("cross_program_prefetch_index", std::to_string(proto.integer(80)));
  if (proto.bytes(79) != "main") items.quoted("async_execution_thread", 79);
  if (proto.has(61)) {
    std::string leaves;
    for (const int64_t leaf : proto.message(61).integers(1))
      leaves += fmt::format("{}{}", leaves.empty() ? "" : ",", leaf != 0);
    items.text("parameter_replication", fmt::format("{{{}}}", leaves));
  }
  if (std::string accuracy = result_accuracy_text(proto.message(91)); !accuracy.empty())
    items.text("result_accuracy", std::move(accuracy));
  items.flag("is_composite", 89);
  add_called(items, instruction, called);
  return std::move(items.all);
}

}  // namespace lowtide::engine
