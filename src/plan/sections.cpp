#include "plan/sections.h"

#include <algorithm>

namespace lowtide::engine {

Sections make_sections(const Problem& problem, std::span<const int32_t> chosen) {
  struct Event {
    Step at;
    bool birth;
  };
  std::vector<Event> events;
  for (const int32_t b : chosen) {
    for (const Lifetime& life : problem.buffers[b].alive) {
      if (life.dies <= life.born) continue;
      events.push_back({life.born, true});
      events.push_back({life.dies, false});
    }
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.at != b.at ? a.at < b.at : a.birth < b.birth; });
  std::vector<Step> moments;  // the last birth before a death
  bool grown = false;
  Step last_birth = 0;
  for (const Event& event : events) {
    if (event.birth) {
      grown = true;
      last_birth = event.at;
    } else if (grown) {
      moments.push_back(last_birth);
      grown = false;
    }
  }

  Sections sections;
  sections.ranges.resize(chosen.size());
  sections.members.resize(moments.size());
  sections.overlaps.resize(chosen.size());
  const auto index = [&](Step at) {
    return static_cast<int32_t>(std::lower_bound(moments.begin(), moments.end(), at) - moments.begin());
  };
  for (size_t i = 0; i < chosen.size(); ++i) {
    for (const Lifetime& life : problem.buffers[chosen[i]].alive) {
      if (life.dies <= life.born) continue;
      const Sections::Range range{index(life.born), index(life.dies)};
      sections.ranges[i].push_back(range);
      for (int32_t s = range.begin; s < range.end; ++s) {
        sections.members[s].push_back(static_cast<int32_t>(i));
      }
    }
  }
  std::vector<int32_t> seen_by(chosen.size(), -1);
  for (size_t i = 0; i < chosen.size(); ++i) {
    seen_by[i] = static_cast<int32_t>(i);
    for (const Sections::Range& range : sections.ranges[i]) {
      for (int32_t s = range.begin; s < range.end; ++s) {
        for (const int32_t other : sections.members[s]) {
          if (seen_by[other] == static_cast<int32_t>(i)) continue;
          seen_by[other] = static_cast<int32_t>(i);
          sections.overlaps[i].push_back(other);
        }
      }
    }
  }
  return sections;
}

}  // namespace lowtide::engine
