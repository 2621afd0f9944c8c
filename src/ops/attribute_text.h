#pragma once
/// Attributes as text: the grammar of the values to the right of `=` in HLO. Readers of whole programs split
/// `key=value` and leave the values to the operations' rules, which use these two classes.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "ops/literal_text.h"

namespace lowtide::engine {

/// The attributes of one instruction, taken one by one. Each take_* fails with the attribute's place if the text
/// doesn't have the requested form, or the attribute is absent (take_*_or doesn't fail for an absent one).
class AttributeReader {
 public:
  struct Item {
    std::string key;
    std::string_view text;  ///< value, as written
    Offset place = kNowhere;
    bool taken = false;
  };
  using FindComputation = std::function<Result<Computation*>(std::string_view text, Offset place)>;

  AttributeReader(const Source& source, std::string_view payload, Offset payload_place, std::vector<Item> items,
                  FindComputation find_computation)
      : source_(source),
        payload_(payload),
        payload_place_(payload_place),
        items_(std::move(items)),
        find_computation_(std::move(find_computation)) {}

  bool has(std::string_view key) const;
  /// The text between the parentheses of an operation without operands: `parameter(0)`, `constant({1,2})`.
  std::string_view payload() const { return payload_; }
  Offset payload_place() const { return payload_place_; }
  Result<int64_t> payload_integer() const;                  ///< parameter(3)
  Result<Value> payload_literal(const Shape& shape) const;  ///< constant({1,2}); errors have their exact place
  const Source& source() const { return source_; }

  Result<int64_t> take_integer(std::string_view key);
  Result<int64_t> take_integer_or(std::string_view key, int64_t absent);
  Result<double> take_number(std::string_view key);
  Result<bool> take_bool_or(std::string_view key, bool absent);
  Result<std::string> take_word(std::string_view key);  ///< EQ, kLoop, RFFT
  Result<std::string> take_word_or(std::string_view key, std::string absent);
  Result<std::string> take_string(std::string_view key);  ///< "..." without its quotes, unescaped
  Result<Dims> take_dims(std::string_view key);           ///< {0,1}
  Result<Dims> take_dims_or(std::string_view key, Dims absent);
  Result<Computation*> take_computation(std::string_view key);                ///< %name, name or an inline {...}
  Result<std::vector<Computation*>> take_computations(std::string_view key);  ///< {%a, %b}, or one
  Result<ReplicaGroups> take_replica_groups(std::string_view key);
  Result<std::vector<AliasEntry>> take_aliases_or_none(std::string_view key);
  Result<Window> take_window_or_none(std::string_view key);
  Result<std::string_view> take_text(std::string_view key);  ///< the value as written

  std::vector<Item> rest() &&;                                       ///< the attributes not taken, in order
  Status fault_at(std::string_view key, std::string message) const;  ///< an error with that attribute's place

 private:
  Item* take(std::string_view key);
  const Source& source_;
  std::string_view payload_;
  Offset payload_place_;
  std::vector<Item> items_;
  FindComputation find_computation_;
};

/// Collects `, key=value` in the order of the calls.
class AttributeWriter {
 public:
  explicit AttributeWriter(std::string& out, std::string* payload = nullptr,
                           LargeConstants large_constants = LargeConstants::kWhole)
      : out_(out), payload_(payload), large_constants_(large_constants) {}
  /// Sets the text between the parentheses of an operation without operands.
  void payload(std::string_view value);
  void payload(const Literal& value);
  void text(std::string_view key, std::string_view value);
  void integer(std::string_view key, int64_t value);
  void boolean(std::string_view key, bool value);
  void string(std::string_view key, std::string_view value);  ///< quoted and escaped
  void dims(std::string_view key, const Dims& value);         ///< {0,1}
  void computation(std::string_view key, const Computation& value);
  void computations(std::string_view key, const std::vector<Computation*>& value);
  void aliases(std::string_view key, const std::vector<AliasEntry>& value);
  void window(std::string_view key, const Window& value);

 private:
  std::string& out_;
  std::string* payload_;  ///< null if the caller doesn't need it
  LargeConstants large_constants_;
};

Result<Sharding> parse_sharding(std::string_view text);  ///< `{devices=[2,1]<=[2]}`, braces included
Result<ReplicaGroups> parse_replica_groups(std::string_view text);
Result<std::vector<AliasEntry>> parse_aliases(std::string_view text);
Result<Dims> parse_dims(std::string_view text);
/// The order of dimensions that a layout gives, minor to major: "{0,1}", or "{0,1:E(4)}" with the bits per element to
/// which XLA packs them. An error for anything else, such as tiles.
Result<Dims> parse_order(std::string_view layout);
Result<Window> parse_window(std::string_view text);
std::string to_string(const std::vector<AliasEntry>& aliases, bool with_kind);
std::string quote(std::string_view raw);  ///< C-escaped, with quotes
Result<std::string> unquote(std::string_view quoted);

}  // namespace lowtide::engine
