#include "analysis/loop_fusion.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kSeveral = -2;  ///< readers in more than one kernel
constexpr int32_t kNone = -1;
constexpr int64_t kWindow = 32;  ///< elements of a reduced dimension that XLA:CPU doesn't divide

bool is_view(Opcode opcode) { return opcode == Opcode::kReshape || opcode == Opcode::kBitcast; }

bool can_be_virtual(const Instruction& i) {
  if (!i.shape.is_array() || !i.control_predecessors.empty()) return false;
  switch (i.opcode) {
    case Opcode::kIota: return true;
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kMap:
    case Opcode::kCopy: return false;
    case Opcode::kBitcastConvert: return true;
    default: break;
  }
  const MemoryClass memory = memory_class(i.opcode);
  return memory == MemoryClass::kElementwise || memory == MemoryClass::kIndexMap || is_view(i.opcode);
}

/// May this operand be fused into the reader?
bool takes_in(const Instruction& reader, const Instruction& operand) {
  switch (reader.opcode) {
    case Opcode::kReduce:
    case Opcode::kBitcastConvert:
    case Opcode::kCopy: return true;
    case Opcode::kDynamicUpdateSlice: return reader.operands.size() > 1 && reader.operands[0] != &operand;
    case Opcode::kScatter: return reader.operands.size() == 3 && reader.operands[0] != &operand;
    case Opcode::kMap: return false;
    default: break;
  }
  const MemoryClass memory = memory_class(reader.opcode);
  return memory == MemoryClass::kElementwise || memory == MemoryClass::kIndexMap || is_view(reader.opcode);
}

/// Would the reader compute elements of the operand more than once?
bool repeats(const Instruction& reader, const Instruction& operand) {
  if (reader.opcode == Opcode::kBroadcast || reader.opcode == Opcode::kGather) {
    return element_count(reader.shape) > element_count(operand.shape);
  }
  return false;
}

/// Does it cost almost nothing, and read no more bytes than storing it would write?
bool is_cheap(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast: return true;
    case Opcode::kConvert:
    case Opcode::kCompare:
    case Opcode::kSelect:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kNot: {
      int64_t read = 0;
      for (const Instruction* operand : i.operands) read = add_bytes(read, safe_logical_bytes(operand->shape));
      return read <= safe_logical_bytes(i.shape);
    }
    default: return false;
  }
}

bool is_type_of_ynnpack(ElementType type) { return is_wide_float(type) || type == ElementType::kBF16; }

/// A sum or an extremum of one array of floats.
bool is_reduction_by_ynnpack(const Instruction& reduce) {
  if (!reduce.shape.is_array() || !is_type_of_ynnpack(reduce.shape.type)) return false;
  const Opcode combiner = reduce.called[0]->root->opcode;
  return combiner == Opcode::kAdd || combiner == Opcode::kMaximum || combiner == Opcode::kMinimum;
}

/// Measured with jaxlib 0.10.2.
bool is_known_to_ynnpack(const Instruction& i) {
  if (!is_type_of_ynnpack(i.shape.type)) return false;
  switch (i.opcode) {
    case Opcode::kConvert: return is_type_of_ynnpack(i.operand(0).shape.type);
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kPower:
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kSign:
    case Opcode::kCeil:
    case Opcode::kFloor:
    case Opcode::kRoundNearestEven:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kPad:
    case Opcode::kConcatenate: return true;
    default: return false;
  }
}

bool is_divided_into_windows(const Instruction& reduce) {
  if (!reduce.shape.is_array() || is_reduction_by_ynnpack(reduce)) return false;
  const Dims& extents = reduce.operand(0).shape.dims;
  return std::ranges::any_of(reduce.as<DimensionsAttributes>().dimensions,
                             [&](int64_t d) { return extents[d] > kWindow; });
}

/// Does XLA:CPU store what the kernel of this reduction reads?
bool is_stored_for(const Instruction& reduce, const Instruction& operand) {
  return is_divided_into_windows(reduce) || (is_reduction_by_ynnpack(reduce) && !is_known_to_ynnpack(operand));
}

}  // namespace

std::vector<bool> fuse_loops(const Module& module, std::optional<XlaBackend> backend) {
  const Uses uses(module);
  std::vector<bool> is_virtual(static_cast<size_t>(module.id_limit()), false);
  std::unordered_map<int32_t, const Instruction*> reductions;  // for XLA:CPU
  std::vector<int32_t> kernel(static_cast<size_t>(module.id_limit()), kNone);
  for (const auto& computation : module.computations()) {
    const auto& instructions = computation->instructions();
    for (auto it = instructions.rbegin(); it != instructions.rend(); ++it) {
      const Instruction& i = **it;
      const auto id = static_cast<size_t>(i.id);
      kernel[id] = i.id;
      if (backend == XlaBackend::kCpu && i.opcode == Opcode::kReduce) reductions[i.id] = &i;
      if (&i == computation->root || !can_be_virtual(i)) continue;
      const auto readers = uses.of(i);
      if (readers.empty()) continue;
      int32_t in = kNone;
      bool possible = true;
      for (const Instruction* reader : readers) {
        // A view that isn't virtual is only an alias of its operand's buffer.
        const bool named = is_view(reader->opcode) && !is_virtual[reader->id];
        const int32_t theirs = kernel[reader->id];
        const auto reduction = reductions.find(theirs);
        if (named || !takes_in(*reader, i) || (repeats(*reader, i) && !is_cheap(i)) ||
            (reduction != reductions.end() && is_stored_for(*reduction->second, i))) {
          possible = false;
          break;
        }
        in = in == kNone || in == theirs ? theirs : kSeveral;
      }
      if (!possible || (in == kSeveral && !is_cheap(i))) continue;
      is_virtual[id] = true;
      kernel[id] = in;
    }
  }
  return is_virtual;
}

}  // namespace lowtide::engine
