// What tests of the cache do to its files: every byte changed, and entries forged with right checksums.
//   cache_tool flip FOLDER            each byte of each entry changed, one after the other: none may be taken. Their
//   number. cache_tool flip FOLDER --control  nothing is changed: each is taken, and that must be noticed (exit 1)
//   cache_tool show FOLDER NAME       the content of an entry, to stdout
//   cache_tool forge FOLDER NAME      the content from stdin becomes the entry's, with its checksum
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "codegen/kernel_cache.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file's name is 32 digits of a hash.
TextHash name_of(const fs::path& path) {
  const std::string digits = path.stem();
  TextHash name;
  std::from_chars(digits.data(), digits.data() + 16, name.high, 16);
  std::from_chars(digits.data() + 16, digits.data() + 32, name.low, 16);
  return name;
}

int flip(const std::string& folder, bool control) {
  const KernelCache cache(folder);
  int64_t entries = 0, bytes = 0, taken = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string raw = read(entry.path());
    const TextHash name = name_of(entry.path());
    if (!cache.find_named(name)) return std::printf("%s isn't taken as it is\n", entry.path().c_str()), 1;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    ++entries;
    for (size_t at = 0; at < raw.size(); ++at, ++bytes) {
      const auto put = [&](char byte) {
        file.seekp(static_cast<std::streamoff>(at));
        file.put(byte).flush();
      };
      put(control ? raw[at] : static_cast<char>(raw[at] ^ (1 << (at % 8))));
      if (cache.find_named(name)) ++taken;
      put(raw[at]);
    }
    for (size_t kept = 0; kept < raw.size(); kept += 1 + raw.size() / 50) {
      fs::resize_file(entry.path(), kept);
      if (cache.find_named(name)) ++taken;
      fs::resize_file(entry.path(), raw.size());
    }
    file.close();
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << raw;
  }
  std::printf("%lld entries, %lld bytes changed, %lld taken\n", static_cast<long long>(entries),
              static_cast<long long>(bytes), static_cast<long long>(taken));
  return taken == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "", folder = argc > 2 ? argv[2] : "", more = argc > 3 ? argv[3] : "";
  if (what == "flip") return flip(folder, more == "--control");
  const KernelCache cache(folder);
  if (what == "show") {
    const auto content = cache.find_named(name_of(more));
    if (!content) return 1;
    std::cout << *content;
    return 0;
  }
  if (what == "forge") {
    const std::string content{std::istreambuf_iterator<char>(std::cin), {}};
    cache.store_named(name_of(more), content);
    return 0;
  }
  return 2;
}

}  // namespace
}  // namespace lowtide::engine

int main(int argc, char** argv) { return lowtide::engine::run(argc, argv); }
