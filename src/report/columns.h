#pragma once
/// Text in columns: widths in characters as a terminal shows them (every character here is one column wide).

#include <string>
#include <string_view>
#include <vector>

namespace lowtide::engine {

size_t display_width(std::string_view text);                  ///< UTF-8 characters
std::string fit(std::string_view text, size_t width);         ///< cut with "…" if it is wider
std::string fit_end(std::string_view text, size_t width);     ///< cut at the front: "…/mlp/wi_0"
std::string fit_middle(std::string_view text, size_t width);  ///< cut inside: "state.opt_state…mlp.wi_0"
std::string pad_right(std::string_view text, size_t width);   ///< cut or padded to the width
std::string pad_left(std::string_view text, size_t width);
/// Breaks at spaces into lines of at most `width`; a longer word is cut.
std::vector<std::string> wrap(std::string_view text, size_t width);
/// Replaces every character beyond ASCII by a similar one, so that columns keep their positions.
std::string to_ascii(std::string_view text);

}  // namespace lowtide::engine
