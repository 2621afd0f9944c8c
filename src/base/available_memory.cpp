// Machine, control groups (both versions) and resource limits, whichever leaves least.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "base/memory.h"

namespace lowtide {
namespace {

std::optional<int64_t> number_in_file(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  if (!(in >> word) || word == "max") return std::nullopt;
  try {
    return std::stoll(word);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// The number behind `key` in a file of "key number" lines ("MemAvailable:  123 kB", "inactive_file 4096").
std::optional<int64_t> number_behind(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    int64_t number = 0;
    if (word == key && in >> number) return number;
  }
  return std::nullopt;
}

void bound(AvailableMemory& available, std::optional<int64_t> bytes, const char* by) {
  if (bytes && *bytes < available.bytes) available = {std::max<int64_t>(0, *bytes), by};
}

std::optional<int64_t> left(std::optional<int64_t> limit, std::optional<int64_t> used) {
  return limit && used ? std::optional(*limit - *used) : std::nullopt;
}

/// A group's limit binds everything below it, and pages of files that nobody uses go before anything is refused.
void bound_by_groups(AvailableMemory& available) {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string group = line.substr(second + 1);; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      const std::string at = root + group + "/";
      const auto limit = number_in_file(at + (unified ? "memory.max" : "memory.limit_in_bytes"));
      auto used = number_in_file(at + (unified ? "memory.current" : "memory.usage_in_bytes"));
      if (used)
        *used -= number_behind(at + "memory.stat", unified ? "inactive_file" : "total_inactive_file").value_or(0);
      bound(available, left(limit, used), "the control group");
      if (group.rfind('/') == std::string::npos) break;
    }
  }
}

std::optional<int64_t> limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

AvailableMemory available_memory() {
  AvailableMemory available{INT64_MAX, "this machine"};
  if (const auto kib = number_behind("/proc/meminfo", "MemAvailable:")) available.bytes = *kib * 1024;
  bound_by_groups(available);
  // The kernel counts VmData against RLIMIT_DATA: private writable pages, touched or not.
  const auto process = [](const char* key) {
    const auto kib = number_behind("/proc/self/status", key);
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  };
  bound(available, left(limit_of(RLIMIT_AS), process("VmSize:")), "RLIMIT_AS");
  bound(available, left(limit_of(RLIMIT_DATA), process("VmData:")), "RLIMIT_DATA");
  return available;
}

}  // namespace lowtide
