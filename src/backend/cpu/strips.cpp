#include "backend/cpu/strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "backend/cpu/box_moves.h"
#include "backend/cpu/split.h"
#include "base/copy_bytes.h"

namespace lowtide::engine {
namespace {

class InStrips {
 public:
  InStrips(const Kernel& kernel, const Strips& strips, std::span<void*> buffers, size_t inputs, std::byte* scratch,
           ThreadPool& pool)
      : kernel_(kernel), strips_(strips), buffers_(buffers), inputs_(inputs), scratch_(scratch), pool_(pool) {}

  void run() {
    run_whole(StripPiece::kFirst);
    make_patches();
    int64_t before = 0, end = 0, written = 0;
    for (int64_t next = strips_.phase > 0 ? strips_.phase : strips_.tile; end < strips_.elements; before = end) {
      end = std::min(strips_.elements, next);
      next += strips_.tile;
      run_tile(before, end, written);
      const int64_t filled = std::min(strips_.elements, end + strips_.spill);
      const int64_t done = end == strips_.elements ? end : std::max(written, end - strips_.delay);
      for (const Strips::Output& output : strips_.outputs) write_back(output, written, done, filled);
      written = done;
    }
    for (const Strips::Output& output : strips_.outputs) {
      copy_bytes(place(output), scratch_ + output.head, strips_.head * output.element_bytes, pool_);
    }
    place_patches();
  }

 private:
  void*& buffer(const Strips::Output& output) { return buffers_[inputs_ + static_cast<size_t>(output.number)]; }
  std::byte* place(const Strips::Output& output) { return static_cast<std::byte*>(buffer(output)); }

  void run_piece(size_t p, int64_t begin, int64_t end) {
    KernelPiece part = kernel_.pieces[p];
    part.extent = end - begin;
    const Portions how = portion(part, pool_.threads());
    const auto task = [&](int64_t i, int) {
      const int64_t from = begin + i * how.chunk;
      kernel_.run(buffers_.data(), static_cast<int64_t>(p), from, std::min(end, from + how.chunk));
    };
    if (how.chunks == 1) task(0, 0);
    if (how.chunks > 1) pool_.run(how.chunks, std::ref(task));
  }

  void run_whole(StripPiece::Kind kind) {
    for (size_t p = 0; p < strips_.pieces.size(); ++p) {
      if (strips_.pieces[p].kind == kind) run_piece(p, 0, strips_.pieces[p].extent);
    }
  }

  /// The first iteration that belongs to a tile from `end` on, rounded up to one at which a call may begin.
  int64_t iteration(size_t p, int64_t end) const {
    const StripPiece& piece = strips_.pieces[p];
    if (end >= strips_.elements) return piece.extent;
    if (end <= piece.first) return 0;
    const int64_t granule = std::max<int64_t>(1, kernel_.pieces[p].granule);
    const int64_t i = (end - piece.first + piece.stride - 1) / piece.stride;
    return std::min(piece.extent, (i + granule - 1) / granule * granule);
  }

  void run_tile(int64_t before, int64_t end, int64_t written) {
    // The window begins with the element that is written back next; the kernel gets an address as if all were there. It
    // may lie outside of every object, so that it is computed as a number.
    // NOLINTBEGIN(performance-no-int-to-ptr)
    std::array<void*, kMostStripOutputs> real{};
    const size_t count = strips_.outputs.size();
    for (size_t o = 0; o < count; ++o) {
      const Strips::Output& output = strips_.outputs[o];
      real[o] = buffer(output);
      const auto window = reinterpret_cast<uintptr_t>(scratch_ + output.window);
      buffer(output) = reinterpret_cast<void*>(window - static_cast<uintptr_t>(written * output.element_bytes));
    }
    // NOLINTEND(performance-no-int-to-ptr)
    for (size_t p = 0; p < strips_.pieces.size(); ++p) {
      if (strips_.pieces[p].kind != StripPiece::kSweep) continue;
      const int64_t from = before == 0 ? 0 : iteration(p, before), to = iteration(p, end);
      if (from < to) run_piece(p, from, to);
    }
    for (size_t o = 0; o < count; ++o) buffer(strips_.outputs[o]) = real[o];
  }

  /// Writes elements [from, to) back from the window and moves those up to `filled` to its front.
  void write_back(const Strips::Output& output, int64_t from, int64_t to, int64_t filled) {
    const int64_t size = output.element_bytes;
    std::byte* const window = scratch_ + output.window;
    const int64_t kept = std::clamp(strips_.head, from, to);
    if (kept > from) {
      std::memcpy(scratch_ + output.head + from * size, window, static_cast<size_t>((kept - from) * size));
    }
    copy_bytes(place(output) + kept * size, window + (kept - from) * size, (to - kept) * size, pool_);
    if (to > from && filled > to) {
      std::memmove(window, window + (to - from) * size, static_cast<size_t>((filled - to) * size));
    }
  }

  /// Computes single elements in place, saves them in scratch, and restores what was there before.
  void make_patches() {
    const auto& patches = strips_.patches;
    for (size_t p = 0; p < strips_.pieces.size(); ++p) {
      if (strips_.pieces[p].kind != StripPiece::kPatch) continue;
      for (size_t k = 0; k < patches.size(); ++k) {
        if (patches[k].piece == static_cast<int32_t>(p)) std::memcpy(kept(k) + kPatchBytes, target(k), bytes(k));
      }
      run_piece(p, 0, strips_.pieces[p].extent);
      for (size_t k = 0; k < patches.size(); ++k) {
        if (patches[k].piece != static_cast<int32_t>(p)) continue;
        std::memcpy(kept(k), target(k), bytes(k));
        std::memcpy(target(k), kept(k) + kPatchBytes, bytes(k));
      }
    }
  }
  void place_patches() {
    for (size_t k = 0; k < strips_.patches.size(); ++k) std::memcpy(target(k), kept(k), bytes(k));
  }
  const Strips::Output& output_of(size_t k) const { return strips_.outputs[strips_.patches[k].output]; }
  size_t bytes(size_t k) const { return static_cast<size_t>(output_of(k).element_bytes); }
  std::byte* kept(size_t k) const { return scratch_ + strips_.patch + static_cast<int64_t>(k) * 2 * kPatchBytes; }
  std::byte* target(size_t k) { return place(output_of(k)) + strips_.patches[k].element * output_of(k).element_bytes; }

  const Kernel& kernel_;
  const Strips& strips_;
  const std::span<void*> buffers_;
  const size_t inputs_;
  std::byte* const scratch_;
  ThreadPool& pool_;
};

}  // namespace

std::string check_strips(const Kernel& kernel, const Strips& strips) {
  if (strips.moves) {
    const bool same = kernel.pieces.size() == strips.moves->runs.size();
    return same ? "" : "a kernel has other pieces than its moves were planned with";
  }
  if (kernel.pieces.size() != strips.pieces.size())
    return "a kernel has other pieces than its strips were planned with";
  for (size_t p = 0; p < kernel.pieces.size(); ++p) {
    const KernelPiece& piece = kernel.pieces[p];
    const int64_t most = strips.pieces[p].kind == StripPiece::kSweep ? strips.pieces[p].granule : kMostGranule;
    if (piece.extent != strips.pieces[p].extent || most % std::max<int64_t>(1, piece.granule) != 0)
      return fmt::format("piece {} of a kernel is cut otherwise than its strips were planned with", p);
  }
  return {};
}

void run_in_strips(const Kernel& kernel, const Strips& strips, std::span<void*> buffers, size_t inputs,
                   std::byte* scratch, ThreadPool& pool) {
  if (strips.moves) {
    run_box_moves(*strips.moves, static_cast<std::byte*>(buffers[inputs]), scratch, pool);
    std::vector<int32_t> moved;
    for (size_t p = 0; p < kernel.pieces.size(); ++p) {
      if (!strips.moves->runs[p]) moved.push_back(static_cast<int32_t>(p));
    }
    run_kernel(kernel, portions_of(kernel, pool.threads()), moved, buffers.data(), pool);
    return;
  }
  InStrips(kernel, strips, buffers, inputs, scratch, pool).run();
}

}  // namespace lowtide::engine
