#include "runtime/kernel_notes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/debug.h"

namespace lowtide {
namespace {

/// A note is words of 64 bits: the key; how many pieces, and four words of each; what each buffer skips.
using Words = std::vector<uint64_t>;

constexpr size_t kWordsOfPiece = 4;

Words words_of(const Kernel& kernel) {
  Words words{kernel.key.low, kernel.key.high, kernel.pieces.size()};
  for (const KernelPiece& piece : kernel.pieces) {
    words.insert(words.end(), {static_cast<uint64_t>(piece.extent), static_cast<uint64_t>(piece.granule),
                               std::bit_cast<uint64_t>(piece.cost), piece.sequential});
  }
  for (const int64_t skip : kernel.skips) words.push_back(static_cast<uint64_t>(skip));
  return words;
}

struct Note {
  TextHash key;
  std::vector<KernelPiece> pieces;
  std::vector<int64_t> skips;
};

/// What no kernel is: it would be run out of bounds, or divided by.
bool is_sound(const KernelPiece& piece) {
  return piece.extent >= 0 && piece.granule > 0 && std::isfinite(piece.cost) && piece.cost >= 0;
}

std::optional<Note> read_note(const Words& words) {
  constexpr size_t kHead = 3;
  if (words.size() < kHead || words[2] > (words.size() - kHead) / kWordsOfPiece) return {};
  Note note{.key = {words[0], words[1]}, .pieces = {}, .skips = {}};
  size_t at = kHead;
  for (uint64_t p = 0; p < words[2]; ++p, at += kWordsOfPiece) {
    note.pieces.push_back({.extent = static_cast<int64_t>(words[at]),
                           .granule = static_cast<int64_t>(words[at + 1]),
                           .cost = std::bit_cast<double>(words[at + 2]),
                           .sequential = words[at + 3] != 0});
    if (!is_sound(note.pieces.back())) return {};
  }
  for (; at < words.size(); ++at) {
    note.skips.push_back(static_cast<int64_t>(words[at]));
    if (note.skips.back() < 0) return {};
  }
  return note;
}

}  // namespace

KernelNotes::KernelNotes(const CompileOptions& options, std::string target, const std::string& directory)
    : target_(std::move(target)),
      cache_(options.use_cache && !build_id().empty() && !is_debugging() ? directory : "") {}

Result<KernelNotes> KernelNotes::make(const CompileOptions& options, const std::string& directory) {
  LT_ASSIGN_OR_RETURN(std::string target, kernel_target(options));
  return KernelNotes(options, std::move(target), directory);
}

TextHash KernelNotes::name_of(const std::string& source) const {
  return hash_text("note\n" + build_id() + "\n" + target_ + source);
}

std::optional<Kernel> KernelNotes::find(const std::string& source) const {
  const std::optional<std::string> text = cache_.find(name_of(source));
  if (!text || text->size() % sizeof(uint64_t) != 0) return {};
  Words words(text->size() / sizeof(uint64_t));
  std::memcpy(words.data(), text->data(), text->size());
  std::optional<Note> note = read_note(words);
  if (!note) return {};
  std::optional<Kernel> kernel = find_kernel(note->key, note->pieces, cache_);
  if (kernel) kernel->skips = std::move(note->skips);
  return kernel;
}

void KernelNotes::store(const std::string& source, const Kernel& kernel) const {
  const Words words = words_of(kernel);
  cache_.store(name_of(source), {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)});
}

}  // namespace lowtide
