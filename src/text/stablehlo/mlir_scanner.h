#pragma once
/// Tokens of MLIR text: names with their signs, bracketed pieces in which `<` counts, values of attributes.

#include <string_view>

#include "text/hlo/scanner.h"

namespace lowtide::engine {

/// The end of the bracket ( [ { or < that opens at `at`: after its closing one, or npos. Strings, comments and arrows
/// are skipped.
size_t end_of_mlir_brackets(std::string_view text, size_t at);

class MlirScanner : public Scanner {
 public:
  using Scanner::Scanner;

  /// `stablehlo.add`, `dense`, `cond`; empty when none is here.
  std::string_view identifier();
  /// What follows `%`, `@`, `^`, `#` or `!`, of which `sign` must be next: `arg0`, `"a name"` without its quotes.
  std::string_view signed_name(char sign);
  bool next_is_word(std::string_view word);  ///< that identifier and not a longer one
  bool eat_word(std::string_view word);
  /// What a pair of brackets encloses, brackets included; empty when they don't match.
  std::string_view bracketed();
  /// A value in a dictionary: everything up to the next comma or bracket, its type included. Empty when there is none.
  std::string_view dictionary_value();
  /// A value in an operation's own syntax, which no type follows: `[0] x [0]`, `RFFT`, `<...>`, `{...}`.
  std::string_view plain_value();
};

}  // namespace lowtide::engine
