#include <algorithm>

#include "ir/element_type.h"
#include "schedule/check/copied_boxes.h"
#include "schedule/check/equation.h"
#include "schedule/check/moves_proof.h"

namespace lowtide::engine {
namespace {

/// A move as the runtime does it, in every block.
CopiedBox in_all_blocks(const BoxMove& move, const BoxMoves& moves) {
  CopiedBox box{move.to, move.from - move.to, {}};
  for (const BoxMove::Axis& axis : move.axes) box.axes.push_back({axis.stride, axis.extent});
  box.axes.push_back({1, move.run});
  box.axes.push_back({moves.block, moves.blocks});
  box.simplify();
  return box;
}

/// Two runs of each block that exchange places.
std::vector<BoxMove> rotation(const BoxMoves& moves) {
  BoxMove front, back;
  front.run = moves.block - moves.rotated;
  front.from = moves.rotated;
  back.run = moves.rotated;
  back.to = front.run;
  return {front, back};
}

/// Do the runs of one box follow each other without overlap, within the block?
bool is_sound(const BoxMove& move, int64_t block) {
  Int128 inner = move.run;
  for (size_t k = move.axes.size(); k-- > 0;) {
    if (move.axes[k].extent <= 0 || move.axes[k].stride < inner) return false;
    inner += Int128{move.axes[k].stride} * (move.axes[k].extent - 1);
  }
  const auto within = [&](int64_t first) { return first >= 0 && first + inner <= block; };
  return move.run > 0 && within(move.to) && within(move.from);
}

/// May `writer` write what `reader` reads, in one block?
bool may_overwrite(const BoxMove& writer, const BoxMove& reader) {
  Equation meet;
  meet.add(Int128{writer.to} - reader.from);
  meet.add(1, 0, writer.run - 1);
  meet.add(-1, 0, reader.run - 1);
  for (const BoxMove::Axis& axis : writer.axes) meet.add(axis.stride, 0, axis.extent - 1);
  for (const BoxMove::Axis& axis : reader.axes) meet.add(-Int128{axis.stride}, 0, axis.extent - 1);
  return meet.may_hold();
}

Int128 bytes_kept(const BoxMove& move, int64_t element_bytes) {
  Int128 bytes = Int128{move.run} * element_bytes;
  for (const BoxMove::Axis& axis : move.axes) bytes *= axis.extent;
  return bytes;
}

/// Checks that each box in scratch has its own bytes, and that no move reads what an earlier one wrote.
std::string fault_of_order(const BoxMoves& moves) {
  for (size_t k = 0; k < moves.moves.size(); ++k) {
    const BoxMove& move = moves.moves[k];
    if (!is_sound(move, moves.block)) return "a box that moves isn't one of the block";
    const Int128 end = move.kept + bytes_kept(move, moves.element_bytes);
    if (move.kept != kNoId && (move.kept < 0 || end > moves.scratch_bytes)) return "scratch has no room for a box";
    for (size_t before = 0; before < k; ++before) {
      const BoxMove& other = moves.moves[before];
      if (move.kept == kNoId) {
        if (may_overwrite(other, move)) return "a box is read when it is overwritten";
      } else if (other.kept != kNoId && move.kept < other.kept + bytes_kept(other, moves.element_bytes) &&
                 other.kept < end) {
        return "two boxes are kept in the same bytes";
      }
    }
  }
  return {};
}

}  // namespace

std::string fault_of_moves(const PlacedKernel& kernel, const BoxMoves& moves) {
  const Touches& touches = kernel.touches;
  const int32_t result = kernel.inputs;
  const NestBuffer& buffer = touches.nest().buffers[result];
  if (moves.element_bytes != stored_bytes(buffer.type) || moves.block <= 0 || moves.blocks <= 0 ||
      Int128{moves.block} * moves.blocks != buffer.elements)
    return "its blocks are not the array";
  if (std::ssize(moves.runs) != touches.piece_count() || touches.pieces().empty()) return "it has other pieces";
  const auto runs = [&](int32_t piece) { return moves.runs[piece]; };

  std::vector<CopiedBox> wanted;
  Int128 elements = 0;
  for (const Touch& touch : touches.all()) {
    if (!touch.stores) {
      const bool there = touch.buffer >= kernel.inputs || kernel.place(touch.buffer).meets(kernel.place(result));
      if (there && (touch.first_piece != touch.last_piece || runs(touch.first_piece)))
        return "what has moved is read as well";
      continue;
    }
    const auto times = times_stored(touches, touch);
    if (touch.buffer != result || !times) return "something else is stored than elements that move";
    elements += *times;
    if (runs(touch.first_piece)) continue;
    const std::optional<CopiedBox> box = copied_box(kernel, touch);
    if (!box) return "a piece that moves boxes does more";
    if (box->ahead != 0) wanted.push_back(*box);
  }
  if (elements != buffer.elements) return "elements are stored more than once, or never";

  const bool rotates = moves.rotated > 0;
  if (rotates && (!moves.moves.empty() || moves.rotated >= moves.block)) return "it rotates and moves";
  const std::vector<BoxMove> made = rotates ? rotation(moves) : moves.moves;
  for (const BoxMove& move : made) {
    const auto same = std::ranges::find(wanted, in_all_blocks(move, moves));
    if (same == wanted.end()) return "a box moves that should stay";
    wanted.erase(same);
  }
  if (!wanted.empty()) return "a box stays that should move";
  return rotates ? std::string() : fault_of_order(moves);
}

}  // namespace lowtide::engine
