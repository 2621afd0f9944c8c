#include "session/guard.h"

#include <charconv>
#include <string_view>

namespace lowtide::engine {
namespace {

/// Removes ":12" from the end and returns the number; 0 if the text doesn't end this way.
int64_t take_number(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return 0;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return 0;
  text = text.substr(0, colon);
  return number;
}

/// Parses the "file:12:3: " that Status::at() puts before the message.
std::optional<Place> place_of(std::string_view message) {
  for (size_t at = message.find(": "); at != std::string_view::npos; at = message.find(": ", at + 1)) {
    std::string_view file = message.substr(0, at);
    const int64_t column = take_number(file);
    const int64_t line = column > 0 ? take_number(file) : 0;
    if (line > 0) return Place{std::string(file), line, column};
  }
  return {};
}

}  // namespace

Error error_of(const Status& status) {
  Error error{static_cast<ErrorKind>(static_cast<int>(status.fault())), status.message()};
  if (status.has_place()) error.place = place_of(status.message());
  return error;
}

Error internal_error(const std::exception& thrown) {
  return {ErrorKind::kInternal, std::string("internal error: ") + thrown.what()};
}

}  // namespace lowtide::engine
