#include "schedule/access_history.h"

#include <algorithm>
#include <tuple>

namespace lowtide::engine {

std::vector<ByteAccess> united(std::vector<ByteAccess> accesses) {
  const auto key = [](const ByteAccess& a) { return std::tuple(a.writes, a.space, a.begin, a.end); };
  std::ranges::sort(accesses, {}, key);
  std::vector<ByteAccess> out;
  for (const ByteAccess& a : accesses) {
    const bool goes_on =
        !out.empty() && out.back().writes == a.writes && out.back().space == a.space && a.begin <= out.back().end;
    if (goes_on) {
      out.back().end = std::max(out.back().end, a.end);
    } else {
      out.push_back(a);
    }
  }
  return out;
}

/// Splits the entry that contains this byte so that one begins there. Returns the first entry from there on.
AccessHistory::Places::iterator AccessHistory::cut(int32_t space, int64_t at) {
  auto next = touched_.lower_bound({space, at});
  if (next == touched_.begin()) return next;
  const auto before = std::prev(next);
  if (before->first.first != space || before->second.end <= at) return next;
  Touched rest = before->second;
  before->second.end = at;
  return touched_.emplace_hint(next, Place{space, at}, std::move(rest));
}

void AccessHistory::touch(const ByteAccess& access, int32_t step, std::vector<int32_t>& waits_for) {
  if (access.begin >= access.end) return;
  cut(access.space, access.end);
  auto at = cut(access.space, access.begin);
  const auto inside = [&] {
    return at != touched_.end() && at->first.first == access.space && at->first.second < access.end;
  };
  const auto wait_for = [&](int32_t other) {
    if (other != -1 && other != step) waits_for.push_back(other);
  };
  if (access.writes) {
    while (inside()) {
      const bool was_read = std::ranges::any_of(at->second.readers, [&](int32_t r) { return r != step; });
      for (const int32_t reader : at->second.readers) wait_for(reader);
      if (!was_read) wait_for(at->second.writer);  // otherwise the readers have waited for the writer
      at = touched_.erase(at);
    }
    touched_.emplace_hint(at, Place{access.space, access.begin}, Touched{access.end, step, {}});
    return;
  }
  int64_t from = access.begin;
  const auto fill = [&](int64_t to) {
    if (from < to) touched_.emplace_hint(at, Place{access.space, from}, Touched{to, -1, {step}});
  };
  for (; inside(); ++at) {
    fill(at->first.second);
    wait_for(at->second.writer);
    if (at->second.readers.empty() || at->second.readers.back() != step) at->second.readers.push_back(step);
    from = at->second.end;
  }
  fill(access.end);
}

}  // namespace lowtide::engine
