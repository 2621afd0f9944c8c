#include "ir/entry_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lowtide::engine {
namespace {

constexpr size_t kMostNumbers = 1 << 20;

std::string opening(EntrySide side, EntryNote note) {
  return fmt::format("lowtide.{}_{}=\"", side == EntrySide::kArguments ? "argument" : "result",
                     note == EntryNote::kLayout ? "layouts" : "memory_kinds");
}

/// The range of the notes, from the name to the closing quote; empty if there are none.
std::pair<size_t, size_t> find_notes(std::string_view attributes, const std::string& key) {
  const size_t begin = attributes.find(key);
  if (begin == std::string_view::npos) return {0, 0};
  const size_t end = attributes.find('"', begin + key.size());
  return {begin, end == std::string_view::npos ? attributes.size() : end + 1};
}

}  // namespace

std::string_view attribute_of(EntryNote note) {
  return note == EntryNote::kLayout ? "mhlo.layout_mode" : "mhlo.memory_kind";
}

std::vector<std::string> entry_notes(const Module& module, EntrySide side, EntryNote note) {
  std::vector<std::string> notes;
  const std::string key = opening(side, note);
  const auto [begin, end] = find_notes(module.frontend_attributes, key);
  if (begin == end) return notes;
  std::string_view rest = std::string_view(module.frontend_attributes).substr(begin + key.size());
  rest = rest.substr(0, rest.find('"'));
  while (!rest.empty()) {
    std::string_view entry = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    size_t number = 0;
    const auto [after, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (error != std::errc() || number > kMostNumbers) continue;  // not written by set_entry_notes()
    entry.remove_prefix(static_cast<size_t>(after - entry.data()));
    if (!entry.starts_with(':')) continue;
    if (notes.size() <= number) notes.resize(number + 1);
    notes[number] = entry.substr(1);
  }
  return notes;
}

void set_entry_notes(Module& module, EntrySide side, EntryNote note, const std::vector<std::string>& notes) {
  std::string text;
  for (size_t i = 0; i < notes.size(); ++i) {
    const bool plain = notes[i].find_first_of(" \"\\\n\t") == std::string::npos;
    if (!notes[i].empty() && plain) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", i, notes[i]);
  }
  std::string& all = module.frontend_attributes;
  const std::string key = opening(side, note);
  auto [begin, end] = find_notes(all, key);
  if (begin != end) {
    if (end < all.size() && all[end] == ',') {
      ++end;
    } else if (all[begin - 1] == ',') {
      --begin;
    }
    all.erase(begin, end - begin);
    if (all == "{}") all.clear();
  }
  if (text.empty()) return;
  if (all.empty()) all = "{}";
  all.insert(all.size() - 1, fmt::format("{}{}{}\"", all.size() > 2 ? "," : "", key, text));
}

}  // namespace lowtide::engine
