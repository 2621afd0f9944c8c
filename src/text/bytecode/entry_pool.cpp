#include "text/bytecode/entry_pool.h"

#include <algorithm>
#include <bit>

#include "base/status.h"
#include "text/bytecode/bytecode_file.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kVersion = 6;

}  // namespace

EntryPool::Number EntryPool::string(std::string_view text) {
  const auto [at, is_new] = string_numbers_.try_emplace(std::string(text), strings_.size());
  if (is_new) strings_.emplace_back(text);
  return at->second;
}

EntryPool::Number EntryPool::dialect(std::string_view name) {
  const Number wanted = string(name);
  const auto found = std::ranges::find(dialects_, wanted);
  if (found == dialects_.end()) return dialects_.push_back(wanted), dialects_.size() - 1;
  return static_cast<Number>(found - dialects_.begin());
}

EntryPool::Number EntryPool::operation(std::string_view dialect_name, std::string_view name) {
  const std::pair<Number, Number> wanted = {dialect(dialect_name), string(name)};
  const auto found = std::ranges::find(operations_, wanted);
  if (found == operations_.end()) return operations_.push_back(wanted), operations_.size() - 1;
  return static_cast<Number>(found - operations_.begin());
}

EntryPool::Number EntryPool::enter(Entries& entries, std::string_view dialect_name, std::string bytes) {
  const Number of = dialect(dialect_name);
  const auto [at, is_new] = entries.numbers.try_emplace({of, bytes}, entries.all.size());
  if (is_new) entries.all.push_back({of, std::move(bytes)});
  return at->second;
}

EntryPool::Number EntryPool::properties(const std::vector<Number>& attributes) {
  ByteWriter out;
  for (const Number attribute : attributes) out.varint(attribute);
  return enter_properties(out.take());
}

EntryPool::Number EntryPool::optional_properties(const std::vector<std::optional<Number>>& attributes) {
  ByteWriter out;
  for (const std::optional<Number>& attribute : attributes) {
    if (attribute) {
      out.flagged(*attribute, true);
    } else {
      out.varint(0);
    }
  }
  return enter_properties(out.take());
}

EntryPool::Number EntryPool::enter_properties(std::string bytes) {
  const auto [at, is_new] = property_numbers_.try_emplace(bytes, properties_.size());
  if (is_new) properties_.push_back(std::move(bytes));
  return at->second;
}

std::string EntryPool::names_section() const {
  ByteWriter out;
  out.varint(dialects_.size());
  for (const Number name : dialects_) out.flagged(name, false);
  out.varint(operations_.size());
  // A group is a run of operations of one dialect.
  for (size_t i = 0, end = 0; i < operations_.size(); i = end) {
    while (end < operations_.size() && operations_[end].first == operations_[i].first) ++end;
    out.varint(operations_[i].first);
    out.varint(end - i);
    for (size_t k = i; k < end; ++k) out.flagged(operations_[k].second, true);
  }
  return out.take();
}

std::string EntryPool::strings_section() const {
  ByteWriter out;
  out.varint(strings_.size());
  for (size_t i = strings_.size(); i-- > 0;) out.varint(strings_[i].size() + 1);
  for (const std::string& text : strings_) {
    out.bytes(text);
    out.byte(0);
  }
  return out.take();
}

std::string EntryPool::file(std::string_view producer, std::string_view operations) const {
  enum Section : uint8_t { kStrings = 0, kDialects = 1, kEntries = 2, kOffsets = 3, kOperations = 4, kProperties = 8 };
  ByteWriter offsets, entries, properties, out;
  offsets.varint(attributes_.all.size());
  offsets.varint(types_.all.size());
  for (const Entries* kind : {&attributes_, &types_}) {
    const std::vector<Entry>& all = kind->all;
    for (size_t i = 0, end = 0; i < all.size(); i = end) {
      while (end < all.size() && all[end].dialect == all[i].dialect) ++end;
      offsets.varint(all[i].dialect);
      offsets.varint(end - i);
      for (size_t k = i; k < end; ++k) {
        offsets.flagged(all[k].bytes.size(), true);
        entries.bytes(all[k].bytes);
      }
    }
  }
  properties.varint(properties_.size());
  for (const std::string& one : properties_) properties.blob(one);
  out.bytes(kBytecodeMagic);
  out.varint(kVersion);
  out.bytes(producer);
  out.byte(0);
  out.section(kDialects, names_section());
  out.section(kOffsets, offsets.out());
  out.section(kEntries, entries.out());
  out.section(kOperations, operations);
  out.section(kStrings, strings_section());
  out.section(kProperties, properties.out());
  return out.take();
}

}  // namespace lowtide::engine
