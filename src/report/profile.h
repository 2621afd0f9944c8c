#pragma once
/// Renders profiles (include/lowtide/profile.h).

#include <string>

#include "lowtide/profile.h"

namespace lowtide::engine {

std::string profile_json(const Profile& profile);
std::string profile_text(const Profile& profile, int64_t rows, bool utf8);
std::string profile_trace(const Profile& profile);

}  // namespace lowtide::engine
