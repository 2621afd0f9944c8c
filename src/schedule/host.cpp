#include "schedule/host.h"

#include <algorithm>
#include <utility>

namespace lowtide::engine {
namespace {

constexpr int64_t kAlignment = 64;

bool overlap(const LivePieces& a, const LivePieces& b) {
  size_t j = 0;
  for (const Lifetime& life : a) {
    while (j < b.size() && b[j].dies <= life.born) ++j;
    if (j < b.size() && b[j].born < life.dies) return true;
  }
  return false;
}

class FindHosts {
 public:
  FindHosts(const Classes& classes, const std::vector<LivePieces>& alive, Step steps, Hosting& hosting)
      : classes_(classes),
        alive_(alive),
        live_(static_cast<size_t>(steps) + 1, 0),
        guests_(classes.all.size()),
        out_(hosting) {}

  void run() {
    for (size_t c = 0; c < classes_.all.size(); ++c) {
      const ValueClass& k = classes_.all[c];
      const auto id = static_cast<int32_t>(c);
      if (k.bytes == 0 || k.in_host) continue;
      if (out_.host[c] != kNoId) {
        insert(out_.host[c], id);
        continue;
      }
      if (k.argument != kNoId || k.output != kNoId) {
        if (k.argument == kNoId || k.donated) hosts_.push_back(id);
      } else if (!alive_[c].empty()) {
        count(id, k.bytes);
        if (!k.constant) movable_.push_back(id);
      }
    }
    if (hosts_.empty()) return;
    const auto bytes = [&](int32_t c) { return classes_.all[c].bytes; };
    std::stable_sort(hosts_.begin(), hosts_.end(), [&](int32_t a, int32_t b) { return bytes(a) < bytes(b); });
    std::stable_sort(movable_.begin(), movable_.end(), [&](int32_t a, int32_t b) { return bytes(a) > bytes(b); });
    while (relieve_peak()) {
    }
  }

 private:
  void count(int32_t c, int64_t bytes) {
    for (const Lifetime& life : alive_[c]) {
      for (Step s = life.born; s < life.dies; ++s) live_[s] += bytes;
    }
  }

  bool alive_at(int32_t c, Step step) const {
    return std::any_of(alive_[c].begin(), alive_[c].end(),
                       [&](const Lifetime& life) { return life.born <= step && step < life.dies; });
  }

  /// Moves one class that is live at the step of the highest load out of the arena; false if none can move.
  bool relieve_peak() {
    const auto peak = static_cast<Step>(std::max_element(live_.begin(), live_.end()) - live_.begin());
    for (int32_t& movable : movable_) {
      if (movable == kNoId || !alive_at(movable, peak)) continue;
      // It is moved now or, since hosts only become fuller, never.
      const int32_t c = std::exchange(movable, kNoId);
      for (const int32_t host : hosts_) {
        const int64_t offset = room(host, c);
        if (offset < 0) continue;
        out_.host[c] = host;
        out_.offset[c] = offset;
        insert(host, c);
        count(c, -classes_.all[c].bytes);
        return true;
      }
    }
    return false;
  }

  void insert(int32_t host, int32_t guest) {
    std::vector<int32_t>& guests = guests_[host];
    const auto offset = [&](int32_t c) { return out_.offset[c]; };
    const auto behind = [&](int32_t a, int32_t b) { return offset(a) < offset(b); };
    guests.insert(std::upper_bound(guests.begin(), guests.end(), guest, behind), guest);
  }

  /// The lowest offset in the host where the class meets neither the host's values nor other guests; -1 if none.
  int64_t room(int32_t host, int32_t c) const {
    const int64_t bytes = classes_.all[c].bytes;
    const int64_t limit = classes_.all[host].bytes;
    if (bytes > limit) return -1;
    const LivePieces& alive = alive_[c];
    if (overlap(alive, alive_[host])) return -1;
    int64_t offset = 0;
    for (const int32_t guest : guests_[host]) {
      const int64_t begin = out_.offset[guest];
      const int64_t end = begin + classes_.all[guest].bytes;
      if (end <= offset || !overlap(alive, alive_[guest])) continue;
      if (offset + bytes <= begin) break;
      offset = std::max(offset, (end + kAlignment - 1) / kAlignment * kAlignment);
      if (offset + bytes > limit) return -1;
    }
    return offset + bytes <= limit ? offset : -1;
  }

  const Classes& classes_;
  const std::vector<LivePieces>& alive_;
  std::vector<int64_t> live_;  ///< arena bytes by step
  std::vector<int32_t> hosts_, movable_;
  std::vector<std::vector<int32_t>> guests_;  ///< by host, by offset
  Hosting& out_;
};

}  // namespace

void find_hosts(const Classes& classes, const std::vector<LivePieces>& alive, Step steps, Hosting& hosting) {
  FindHosts(classes, alive, steps, hosting).run();
}

}  // namespace lowtide::engine
