#include "lowtide/words.h"

#include "base/near_words.h"
#include "base/sizes.h"
#include "session/guard.h"

namespace lowtide {

Result<int64_t> parse_size(std::string_view text) {
  return engine::guarded([&]() -> Result<int64_t> {
    LT_TAKE(const int64_t bytes, engine::parse_size(text));
    return bytes;
  });
}

std::string format_bytes(int64_t bytes) { return engine::format_bytes(bytes); }
std::string format_count(int64_t count) { return engine::format_count(count); }

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  return engine::did_you_mean(engine::near_words(word, known));
}

}  // namespace lowtide
