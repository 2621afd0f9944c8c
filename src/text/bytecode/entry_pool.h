#pragma once
/// Strings, attributes and types of an MLIR bytecode file that is being written: each is stored once and referred to by
/// its number.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/literal.h"
#include "ir/shape.h"
#include "text/bytecode/byte_writer.h"

namespace lowtide::engine {

class EntryPool {
 public:
  using Number = uint64_t;

  Number string(std::string_view text);
  Number dialect(std::string_view name);
  /// "vhlo", "add_v1"
  Number operation(std::string_view dialect, std::string_view name);
  Number attribute(std::string_view dialect, std::string bytes) {
    return enter(attributes_, dialect, std::move(bytes));
  }
  Number type(std::string_view dialect, std::string bytes) { return enter(types_, dialect, std::move(bytes)); }
  /// Properties of an operation, given the numbers of its attributes.
  Number properties(const std::vector<Number>& attributes);
  /// The same for an operation whose attributes may be absent.
  Number optional_properties(const std::vector<std::optional<Number>>& attributes);

  // Attributes of VHLO, from their contents.
  Number vhlo_string(std::string_view text);
  Number vhlo_bool(bool value);
  Number vhlo_integer(int64_t value, std::string_view type = "i64");
  Number vhlo_float(double value, bool is_double);
  Number vhlo_exactness();  ///< the default result accuracy of functions
  Number vhlo_alias(const std::vector<int64_t>& output, int64_t operand, const std::vector<int64_t>& index);
  Number vhlo_enumeration(uint64_t code, uint64_t value);
  Number vhlo_array(const std::vector<Number>& items);
  Number vhlo_dictionary(const std::vector<std::pair<Number, Number>>& items);
  Number vhlo_type(Number type);
  /// Integers of this element type ("i64", "index", "i1") and these extents.
  Number vhlo_integers(const std::vector<int64_t>& values, std::string_view element, const std::vector<int64_t>& dims);
  Number vhlo_tensor(Number type, std::string_view elements);
  /// The elements' bytes of a tensor of i1.
  static std::string packed_bits(const std::vector<bool>& bits);

  // Attributes of the builtin dialect.
  Number builtin_string(std::string_view text);
  Number builtin_integer(int64_t value, int bits);
  Number builtin_dictionary(const std::vector<std::pair<Number, Number>>& items);
  Number unknown_location();
  Number named_location(std::string_view name, Number child);
  Number file_location(std::string_view file, int64_t line);

  // Types of VHLO, and of the builtin dialect.
  Number element(ElementType type);  ///< an element type of VHLO
  Number plain(std::string_view name);
  Number of(const Shape& shape);
  Number function(const std::vector<Shape>& operands, const std::vector<Shape>& results);
  std::optional<Number> builtin_of(const Shape& shape);
  /// Does VHLO have this type?
  static bool has(const Shape& shape);

  /// The whole file with these operations; sections are in the order in which MLIR writes them.
  std::string file(std::string_view producer, std::string_view operations) const;

 private:
  struct Entry {
    Number dialect;
    std::string bytes;
  };
  struct Entries {
    std::vector<Entry> all;
    std::map<std::pair<Number, std::string>, Number> numbers;
  };
  Number enter(Entries& entries, std::string_view dialect, std::string bytes);
  Number enter_properties(std::string bytes);
  std::string names_section() const;
  std::string strings_section() const;

  std::vector<std::string> strings_;
  std::unordered_map<std::string, Number> string_numbers_;
  std::vector<Number> dialects_;                       ///< their names' numbers
  std::vector<std::pair<Number, Number>> operations_;  ///< numbers of dialect and name
  Entries attributes_, types_;
  std::vector<std::string> properties_;
  std::unordered_map<std::string, Number> property_numbers_;
};

}  // namespace lowtide::engine
