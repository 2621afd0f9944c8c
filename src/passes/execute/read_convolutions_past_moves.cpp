#include "passes/execute/read_convolutions_past_moves.h"

#include <algorithm>
#include <optional>

#include "ops/convolution_labels.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kUnit = -1;  ///< a dimension of one element, whose place doesn't matter

/// A value traced through moves: dimension d of the value is dimension map[d] of `from`, possibly reversed.
struct Behind {
  Instruction* from = nullptr;
  Dims map;
  std::vector<bool> reversed;
  bool moved = false;
};

/// Maps result dimensions to operand dimensions, if the shapes differ only in dimensions of one element.
std::optional<Dims> same_but_units(const Dims& result, const Dims& operand) {
  Dims map;
  size_t next = 0;
  for (const int64_t extent : result) {
    while (next < operand.size() && operand[next] == 1) ++next;
    if (extent == 1) {
      map.push_back(kUnit);
    } else if (next < operand.size() && operand[next] == extent) {
      map.push_back(static_cast<int64_t>(next++));
    } else {
      return std::nullopt;
    }
  }
  while (next < operand.size() && operand[next] == 1) ++next;
  return next == operand.size() ? std::optional(map) : std::nullopt;
}

/// Traces a value through moves. `reversible`: dimensions of the value that may be read in reverse.
Behind behind_moves(Instruction* value, const Dims& reversible) {
  Behind behind{value, {}, {}, false};
  for (int64_t d = 0; d < value->shape.rank(); ++d) behind.map.push_back(d);
  behind.reversed.resize(behind.map.size());
  while (is_plain_array(*behind.from)) {
    const Instruction& move = *behind.from;
    Dims step;
    if (move.opcode == Opcode::kTranspose) {
      step = move.as<DimensionsAttributes>().dimensions;
    } else if (move.opcode == Opcode::kReshape) {
      const auto same = same_but_units(move.shape.dims, move.operand(0).shape.dims);
      if (!same) break;
      step = *same;
    } else if (move.opcode == Opcode::kReverse) {
      const Dims& ends = move.as<DimensionsAttributes>().dimensions;
      const auto is_reversed = [&](int64_t d) { return std::ranges::find(ends, behind.map[d]) != ends.end(); };
      if (std::ranges::count_if(reversible, is_reversed) != std::ssize(ends)) break;
      for (const int64_t d : reversible) {
        if (is_reversed(d)) behind.reversed[d].flip();
      }
      for (int64_t d = 0; d < move.shape.rank(); ++d) step.push_back(d);
    } else {
      break;
    }
    for (int64_t& d : behind.map) {
      if (d != kUnit) d = step[d];
    }
    behind.moved |= move.opcode != Opcode::kReshape;
    behind.from = move.operands[0];
  }
  return behind;
}

class Reader {
 public:
  Reader(const Instruction& convolution, Maker& maker)
      : convolution_(convolution), a_(convolution.as<ConvolutionAttributes>()), maker_(maker) {}

  Instruction* run() {
    std::vector<Instruction*> operands = convolution_.operands;
    bool any = false;
    for (size_t k = 0; k < 2; ++k) {
      const Behind behind = behind_moves(operands[k], k == 1 ? a_.kernel_spatial : Dims{});
      if (!behind.moved) continue;
      for (size_t w = 0; k == 1 && w < a_.kernel_spatial.size(); ++w) {
        if (behind.reversed[a_.kernel_spatial[w]]) a_.window.rhs_reversal[w].flip();
      }
      Dims places;
      operands[k] = as_it_lies(*operands[k], behind, places);
      relabel(k, places);
      any = true;
    }
    if (!any) return nullptr;
    a_.dim_labels = dim_labels_of(a_);
    Instruction* made = maker_.like(convolution_, convolution_.shape, operands);
    made->attributes = a_;
    made->extra = convolution_.extra;
    made->backend_config = convolution_.backend_config;
    made->frontend_attributes = convolution_.frontend_attributes;
    return made;
  }

 private:
  /// The value before the moves, reshaped to have the operand's dimensions of one element last; `places`: where each of
  /// the operand's dimensions is in it.
  Instruction* as_it_lies(const Instruction& operand, const Behind& behind, Dims& places) {
    const Dims& from = behind.from->shape.dims;
    Dims dims, at(from.size(), 0);
    for (size_t d = 0; d < from.size(); ++d) {
      if (from[d] == 1) continue;
      at[d] = static_cast<int64_t>(dims.size());
      dims.push_back(from[d]);
    }
    for (int64_t d = 0; d < operand.shape.rank(); ++d) {
      if (operand.shape.dims[d] == 1) {
        places.push_back(static_cast<int64_t>(dims.size()));
        dims.push_back(1);
      } else {
        places.push_back(at[behind.map[d]]);
      }
    }
    return maker_.reshape(behind.from, dims);
  }

  void relabel(size_t operand, const Dims& places) {
    const auto move = [&](int64_t& d) { d = places[d]; };
    move(operand == 0 ? a_.input_batch : a_.kernel_output_feature);
    move(operand == 0 ? a_.input_feature : a_.kernel_input_feature);
    for (int64_t& d : operand == 0 ? a_.input_spatial : a_.kernel_spatial) move(d);
  }

  const Instruction& convolution_;
  ConvolutionAttributes a_;
  Maker& maker_;
};

}  // namespace

Result<PassResult> read_convolutions_past_moves(Module& module, const Target& target) {
  return rewrite_each(
      module, {Opcode::kConvolution},
      [&](Instruction& i, Maker& maker) -> Instruction* {
        if (!is_plain_array(i) || target.role_of(i) != OpRole::kLibrary) return nullptr;
        if (i.as<ConvolutionAttributes>().dim_labels.find('?') != std::string::npos) return nullptr;
        return Reader(i, maker).run();
      },
      "convolutions read past moves");
}

}  // namespace lowtide::engine
