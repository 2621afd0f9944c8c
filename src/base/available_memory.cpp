// Available memory: the least of machine, control groups (both versions) and resource limits.
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
#include "base/sizes.h"

namespace lowtide::engine {
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

/// The number after `key` in a file of "key number" lines ("MemAvailable:  123 kB", "inactive_file 4096").
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

/// Bytes of a group that the kernel reclaims before it refuses memory: pages of files, active or inactive, and its
/// reclaimable slabs. (Dirty pages are included; they only need to be written first.)
int64_t reclaimable(const std::string& statistics, bool unified) {
  int64_t bytes = 0;
  for (const char* const key : {"inactive_file", "active_file", "slab_reclaimable"})
    bytes += number_behind(statistics, unified ? key : std::string("total_") + key).value_or(0);
  return bytes;
}

/// A group's limit binds everything below it.
void bound_by_groups(AvailableMemory& available, const std::string& machine) {
  std::ifstream in(machine + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const std::string root = machine + (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    for (std::string group = line.substr(second + 1);; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      const std::string at = root + group + "/";
      auto used = number_in_file(at + (unified ? "memory.current" : "memory.usage_in_bytes"));
      if (used) *used = std::max<int64_t>(0, *used - reclaimable(at + "memory.stat", unified));
      for (const char* const limit : {unified ? "memory.max" : "memory.limit_in_bytes", "memory.high"})
        bound(available, left(number_in_file(at + limit), used), "the control group");
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

AvailableMemory available_memory(const std::string& root) {
  AvailableMemory available{INT64_MAX, "this machine"};
  if (const auto kib = number_behind(root + "/proc/meminfo", "MemAvailable:")) available.bytes = *kib * 1024;
  bound_by_groups(available, root);
  // The kernel counts VmData against RLIMIT_DATA: private writable pages, touched or not.
  const auto process = [](const char* key) {
    const auto kib = number_behind("/proc/self/status", key);
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  };
  bound(available, left(limit_of(RLIMIT_AS), process("VmSize:")), "RLIMIT_AS");
  bound(available, left(limit_of(RLIMIT_DATA), process("VmData:")), "RLIMIT_DATA");
  return available;
}

Status out_of_memory() {
  const AvailableMemory available = available_memory();
  return {Fault::kLimit,
          fmt::format("out of memory: {} has {} left", available.bound_by, format_bytes(available.bytes))};
}

}  // namespace lowtide::engine
