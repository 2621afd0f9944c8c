#include "passes/windows/row_form.h"

#include <algorithm>

#include "analysis/dimension_roles.h"
#include "ir/literal.h"
#include "passes/rewrite.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

using Kind = RowPiece::Kind;

class Former {
 public:
  Former(const Instruction& i, int64_t d) : i_(i), d_(d), at_(static_cast<size_t>(d)), rows_(i.shape.dims[at_]) {}

  std::optional<RowForm> form() {
    bool fits = false;
    switch (i_.opcode) {
      case Opcode::kSlice: fits = slice(); break;
      case Opcode::kPad: fits = pad(); break;
      case Opcode::kConcatenate: fits = concatenate(); break;
      case Opcode::kDynamicUpdateSlice: fits = update(); break;
      case Opcode::kReduceWindow:
      case Opcode::kConvolution: fits = windows(); break;
      case Opcode::kIota: fits = iota(); break;
      default: fits = in_step();
    }
    if (!fits || form_.pieces.empty()) return std::nullopt;
    for (size_t k = 0; k < form_.pieces.size(); ++k) {
      const auto length = [&](size_t p) { return form_.pieces[p].end - form_.pieces[p].begin; };
      if (length(k) > length(form_.main)) form_.main = k;
    }
    return std::move(form_);
  }

 private:
  RowPiece& add(int64_t begin, int64_t end, Kind kind, size_t source = 0) {
    form_.pieces.push_back({begin, end, kind, source, std::vector<RowRead>(i_.operands.size())});
    return form_.pieces.back();
  }
  int64_t extent_of(size_t operand) const { return i_.operand(operand).shape.dims[at_]; }
  bool whole_beside(const Shape& a, const Shape& b) const {
    for (size_t k = 0; k < a.dims.size(); ++k) {
      if (k != at_ && a.dims[k] != b.dims[k]) return false;
    }
    return true;
  }

  bool in_step() {
    if (!can_be_made_by_slices(i_, d_)) return false;
    RowPiece& piece = add(0, rows_, Kind::kMade);
    for (size_t k = 0; k < i_.operands.size(); ++k) {
      int64_t j = 0;
      const bool walks = operand_in_step(i_, k, d_, j) == InStep::kYes;
      piece.reads[k] = {.dimension = walks ? j : RowRead::kWhole};
    }
    return true;
  }

  bool slice() {
    const auto& slice = i_.as<SliceAttributes>();
    if (slice.strides[at_] != 1) return false;
    bool all = true;
    for (size_t k = 0; k < slice.strides.size(); ++k) all &= slice.strides[k] == 1;
    const bool same = all && whole_beside(i_.shape, i_.operand(0).shape);
    add(0, rows_, same ? Kind::kSame : Kind::kMade).reads[0] = {.dimension = d_, .shift = slice.starts[at_]};
    return true;
  }

  bool pad() {
    const auto& pad = i_.as<PadAttributes>();
    if (pad.interior[at_] != 0) return false;
    bool bare = true;
    for (size_t k = 0; k < pad.low.size(); ++k) {
      if (k != at_) bare &= pad.low[k] == 0 && pad.high[k] == 0 && pad.interior[k] == 0;
    }
    const int64_t begin = std::clamp<int64_t>(pad.low[at_], 0, rows_);
    const int64_t end = std::clamp<int64_t>(pad.low[at_] + extent_of(0), begin, rows_);
    const auto fill = [&](int64_t from, int64_t to) {
      if (from < to) add(from, to, Kind::kFilled, 1).reads[1] = {.dimension = RowRead::kWhole};
    };
    fill(0, begin);
    if (begin < end) {
      RowPiece& piece = add(begin, end, bare ? Kind::kSame : Kind::kMade);
      piece.reads[0] = {.dimension = d_, .shift = -pad.low[at_]};
      if (!bare) piece.reads[1] = {.dimension = RowRead::kWhole};
    }
    fill(end, rows_);
    return true;
  }

  bool concatenate() {
    if (i_.as<DimensionsAttributes>().dimensions[0] != d_) return in_step();
    int64_t before = 0;
    for (size_t k = 0; k < i_.operands.size(); ++k) {
      const int64_t more = extent_of(k);
      if (more > 0) add(before, before + more, Kind::kSame, k).reads[k] = {.dimension = d_, .shift = -before};
      before += more;
    }
    return true;
  }

  bool update() {
    const int64_t more = extent_of(1);
    if (more == rows_) return in_step();
    const Literal* start = known_constant(i_.operand(2 + at_));
    if (start == nullptr || more == 0) return false;
    const int64_t begin = std::clamp<int64_t>(index_at(*start, 0), 0, rows_ - more);
    const auto keep = [&](int64_t from, int64_t to) {
      if (from < to) add(from, to, Kind::kSame).reads[0] = {.dimension = d_};
    };
    keep(0, begin);
    // As many rows of the update as of what it goes into: along them it starts at the first, whatever it is told.
    const bool all = whole_beside(i_.shape, i_.operand(1).shape);
    RowPiece& piece = add(begin, begin + more, all ? Kind::kSame : Kind::kMade, 1);
    piece.reads[1] = {.dimension = d_, .shift = -begin};
    if (!all) {
      piece.reads[0] = {.dimension = d_};
      for (size_t k = 2; k < i_.operands.size(); ++k) piece.reads[k] = {.dimension = RowRead::kWhole};
    }
    keep(begin + more, rows_);
    return true;
  }

  bool windows() {
    if (can_be_made_by_slices(i_, d_)) return in_step();
    if (i_.operands.size() != 2) return false;
    const std::vector<OperandDimension> roles = operand_roles(i_, 0);
    const auto along = std::ranges::find_if(roles, [&](const OperandDimension& r) {
      return r.result_dimension == d_ && (r.role == DimensionRole::kPointwise || r.role == DimensionRole::kWindowed);
    });
    if (along == roles.end() || along->stride != 1) return false;
    const auto j = static_cast<int64_t>(along - roles.begin());
    const int64_t extent = i_.operand(0).shape.dims[static_cast<size_t>(j)];
    // Every window has a row to cover.
    if (along->offset + along->reach < 0 || rows_ - 1 + along->offset >= extent) return false;
    const int64_t begin = std::clamp<int64_t>(-along->offset, 0, rows_);
    const int64_t end = std::clamp<int64_t>(extent - along->offset - along->reach, begin, rows_);
    for (const auto& [from, to] : {std::pair{int64_t{0}, begin}, std::pair{begin, end}, std::pair{end, rows_}}) {
      if (from == to) continue;
      RowPiece& piece = add(from, to, Kind::kMade);
      piece.reads[0] = {.dimension = j, .shift = along->offset, .reach = along->reach};
      piece.reads[1] = {.dimension = RowRead::kWhole};
    }
    return true;
  }

  /// What counts rows is what they are made of and the first row's number.
  bool iota() {
    const bool counts = i_.as<IotaAttributes>().dimension == d_;
    const ElementType type = i_.shape.type;
    const bool exact = type == ElementType::kS32 || type == ElementType::kU32 || type == ElementType::kS64 ||
                       type == ElementType::kU64;
    if (counts && !exact) return false;
    add(0, rows_, Kind::kMade);
    return true;
  }

  const Instruction& i_;
  const int64_t d_;
  const size_t at_;
  const int64_t rows_;
  RowForm form_;
};

}  // namespace

std::optional<RowForm> row_form(const Instruction& i, int64_t d) {
  const bool plain = i.shape.is_array() && i.shape.dynamic.empty() && i.control_predecessors.empty();
  if (!plain || d < 0 || d >= i.shape.rank() || i.shape.dims[static_cast<size_t>(d)] == 0) return std::nullopt;
  return Former(i, d).form();
}

RowRange rows_read(const RowRead& read, RowRange rows, int64_t extent) {
  RowRange range{rows.begin + read.shift, rows.end + read.shift + read.reach};
  if (extent >= 0) range = {std::max<int64_t>(range.begin, 0), std::min(range.end, extent)};
  return range;
}

void adapt_to_rows(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                   Attributes& attributes) {
  const auto at = static_cast<size_t>(d);
  adapt_to_slice(original, d, rows.end - rows.begin, attributes);
  if (auto* slice = std::get_if<SliceAttributes>(&attributes)) {
    slice->starts[at] = 0;
    slice->limits[at] = rows.end - rows.begin;
  }
  if (auto* pad = std::get_if<PadAttributes>(&attributes)) pad->low[at] = pad->high[at] = 0;
  const auto clip = [&](Window& window, size_t w) {
    if (window.size[w] == 1 && piece.reads[0].shift == 0 && piece.reads[0].reach == 0) return;
    const RowRead& read = piece.reads[0];
    const int64_t extent = original.operand(0).shape.dims[static_cast<size_t>(read.dimension)];
    const RowRange all = rows_read(read, rows, -1), there = rows_read(read, rows, at_edges ? extent : -1);
    window.pad_low[w] = there.begin - all.begin;
    window.pad_high[w] = all.end - there.end;
  };
  if (auto* reduce = std::get_if<WindowAttributes>(&attributes)) clip(reduce->window, at);
  if (auto* convolution = std::get_if<ConvolutionAttributes>(&attributes)) {
    const Dims& spatial = convolution->output_spatial;
    const auto w = std::ranges::find(spatial, d);
    if (w != spatial.end()) clip(convolution->window, static_cast<size_t>(w - spatial.begin()));
  }
}

}  // namespace lowtide::engine
