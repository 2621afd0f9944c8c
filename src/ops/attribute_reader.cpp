#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ops/attribute_text.h"
#include "ops/literal_text.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string shortened(std::string_view text) {
  constexpr size_t kShown = 40;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

Status wrong_form(std::string_view key, std::string_view text, std::string_view expected) {
  return Status::input(fmt::format("{}: found '{}', expected {}", key, shortened(text), expected));
}

/// Prefixes an error in an attribute's value with the attribute's name.
Status in_attribute(std::string_view key, const Status& status) {
  return Status(status.fault(), fmt::format("{}: {}", key, status.message()));
}

}  // namespace

bool AttributeReader::has(std::string_view key) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& i) { return !i.taken && i.key == key; });
}

AttributeReader::Item* AttributeReader::take(std::string_view key) {
  for (Item& item : items_) {
    if (item.taken || item.key != key) continue;
    item.taken = true;
    return &item;
  }
  return nullptr;
}

Status AttributeReader::fault_at(std::string_view key, std::string message) const {
  Status fault = Status::input(std::move(message));
  for (const Item& item : items_) {
    if (item.key == key) return fault.at(source_, item.place);
  }
  return fault;
}

Result<std::string_view> AttributeReader::take_text(std::string_view key) {
  const Item* item = take(key);
  if (!item) return Status::input(fmt::format("attribute '{}' is missing", key));
  return trimmed(item->text);
}

Result<int64_t> AttributeReader::payload_integer() const {
  TextCursor cursor(payload_);
  const std::optional<int64_t> value = cursor.integer();
  if (!value || !cursor.done()) {
    return Status::input(fmt::format("found '{}' between the parentheses, expected an integer", shortened(payload_)))
        .at(source_, payload_place_);
  }
  return *value;
}

Result<Value> AttributeReader::payload_literal(const Shape& shape) const {
  return parse_literal(payload_, shape, source_, payload_place_);
}

Result<int64_t> AttributeReader::take_integer(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  TextCursor cursor(text);
  const std::optional<int64_t> value = cursor.integer();
  if (!value || !cursor.done()) return fault_at(key, wrong_form(key, text, "an integer").message());
  return *value;
}

Result<int64_t> AttributeReader::take_integer_or(std::string_view key, int64_t absent) {
  if (!has(key)) return absent;
  return take_integer(key);
}

Result<double> AttributeReader::take_number(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return fault_at(key, wrong_form(key, text, "a number").message());
  }
  return value;
}

Result<bool> AttributeReader::take_bool_or(std::string_view key, bool absent) {
  if (!has(key)) return absent;
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return fault_at(key, wrong_form(key, text, "true or false").message());
}

Result<std::string> AttributeReader::take_word(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  if (text.empty() || text.find_first_of("{}()\"") != std::string_view::npos) {
    return fault_at(key, wrong_form(key, text, "a word").message());
  }
  return std::string(text);
}

Result<std::string> AttributeReader::take_word_or(std::string_view key, std::string absent) {
  if (!has(key)) return absent;
  return take_word(key);
}

Result<std::string> AttributeReader::take_string(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  Result<std::string> value = unquote(text);
  if (!value.ok()) return fault_at(key, in_attribute(key, value.status()).message());
  return value;
}

Result<Dims> AttributeReader::take_dims(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  Result<Dims> value = parse_dims(text);
  if (!value.ok()) return fault_at(key, in_attribute(key, value.status()).message());
  return value;
}

Result<Dims> AttributeReader::take_dims_or(std::string_view key, Dims absent) {
  if (!has(key)) return absent;
  return take_dims(key);
}

Result<Computation*> AttributeReader::take_computation(std::string_view key) {
  const Item* item = take(key);
  if (!item) return Status::input(fmt::format("attribute '{}' is missing", key));
  return find_computation_(trimmed(item->text), item->place);
}

Result<std::vector<Computation*>> AttributeReader::take_computations(std::string_view key) {
  const Item* item = take(key);
  if (!item) return Status::input(fmt::format("attribute '{}' is missing", key));
  const std::string_view text = trimmed(item->text);
  const auto place_of = [&](size_t at) {
    const auto lead = static_cast<Offset>(text.data() - item->text.data());
    return item->place == kNowhere ? kNowhere : item->place + lead + static_cast<Offset>(at);
  };
  std::vector<Computation*> found;
  // A brace opens either a list of names or the body of one computation; a body contains an `=`.
  const bool is_list =
      text.starts_with('{') && (text.find('=') == std::string_view::npos ||
                                (skip_blank(text, 1) < text.size() && text[skip_blank(text, 1)] == '{'));
  if (!is_list) {
    LT_ASSIGN_OR_RETURN(Computation * one, find_computation_(text, place_of(0)));
    found.push_back(one);
    return found;
  }
  size_t at = skip_blank(text, 1);
  while (at < text.size() && text[at] != '}') {
    size_t end = at;
    if (text[at] == '{') {
      end = end_of_brackets(text, at);
      if (end == std::string_view::npos)
        return fault_at(key, wrong_form(key, text, "a list of computations").message());
    } else {
      while (end < text.size() && text[end] != ',' && text[end] != '}' && !is_space(text[end])) ++end;
    }
    LT_ASSIGN_OR_RETURN(Computation * one, find_computation_(text.substr(at, end - at), place_of(at)));
    found.push_back(one);
    at = skip_blank(text, end);
    if (at < text.size() && text[at] == ',') at = skip_blank(text, at + 1);
  }
  if (at + 1 != text.size()) return fault_at(key, wrong_form(key, text, "a list of computations").message());
  return found;
}

Result<ReplicaGroups> AttributeReader::take_replica_groups(std::string_view key) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  Result<ReplicaGroups> value = parse_replica_groups(text);
  if (!value.ok()) return fault_at(key, in_attribute(key, value.status()).message());
  return value;
}

Result<std::vector<AliasEntry>> AttributeReader::take_aliases_or_none(std::string_view key) {
  if (!has(key)) return std::vector<AliasEntry>{};
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  Result<std::vector<AliasEntry>> value = parse_aliases(text);
  if (!value.ok()) return fault_at(key, in_attribute(key, value.status()).message());
  return value;
}

Result<Window> AttributeReader::take_window_or_none(std::string_view key) {
  if (!has(key)) return Window{};
  LT_ASSIGN_OR_RETURN(const std::string_view text, take_text(key));
  Result<Window> value = parse_window(text);
  if (!value.ok()) return fault_at(key, in_attribute(key, value.status()).message());
  return value;
}

std::vector<AttributeReader::Item> AttributeReader::rest() && {
  std::erase_if(items_, [](const Item& item) { return item.taken; });
  return std::move(items_);
}

}  // namespace lowtide::engine
