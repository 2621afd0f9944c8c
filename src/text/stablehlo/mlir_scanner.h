#pragma once
/// Reads tokens of MLIR text: names with their signs, bracketed pieces, where `<` is a bracket, and values of
/// attributes.

#include <string_view>

#include "text/hlo/scanner.h"

namespace lowtide::engine {

/// The place after the bracket that closes the ( [ { or < at `at`; npos if there is none. Strings, comments and arrows
/// are skipped.
size_t end_of_mlir_brackets(std::string_view text, size_t at);

class MlirScanner : public Scanner {
 public:
  using Scanner::Scanner;

  /// `stablehlo.add`, `dense`, `cond`; empty if no identifier follows.
  std::string_view identifier();
  /// The name after `sign` (`%`, `@`, `^`, `#` or `!`), which must be next: `arg0`, or `"a name"` without its quotes.
  std::string_view signed_name(char sign);
  bool next_is_word(std::string_view word);  ///< is the next identifier exactly `word`?
  bool eat_word(std::string_view word);
  /// The text in a pair of brackets, including the brackets; empty if they don't match.
  std::string_view bracketed();
  /// A value in a dictionary: everything up to the next comma or bracket, including its type. Empty if there is none.
  std::string_view dictionary_value();
  /// A value in an operation's own syntax, without a type: `[0] x [0]`, `RFFT`, `<...>`, `{...}`.
  std::string_view plain_value();
};

}  // namespace lowtide::engine
