#include "lowtide/io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "arrays/runtime.h"
#include "arrays/support.h"
#include "lowtide/ops.h"
#include "lowtide/tensors.h"
#include "lowtide/transforms.h"

namespace lowtide {

using namespace lazy;

namespace {

struct Spelling {
  Dtype dtype;
  const char* npy;
  const char* safetensors;
  const char* hlo;
};
const Spelling kSpellings[] = {
    {bool_, "|b1", "BOOL", "pred"}, {uint8, "|u1", "U8", "u8"},       {uint16, "<u2", "U16", "u16"},
    {uint32, "<u4", "U32", "u32"},  {uint64, "<u8", "U64", "u64"},    {int8, "|i1", "I8", "s8"},
    {int16, "<i2", "I16", "s16"},   {int32, "<i4", "I32", "s32"},     {int64, "<i8", "I64", "s64"},
    {float16, "<f2", "F16", "f16"}, {bfloat16, "", "BF16", "bf16"},   {float32, "<f4", "F32", "f32"},
    {float64, "<f8", "F64", "f64"}, {complex64, "<c8", "C64", "c64"},
};
const Spelling& spelling_of(Dtype dtype) { return kSpellings[static_cast<int>(dtype.val)]; }

const void* bytes_of(const array& a) {
  array(a).eval();
  a.wait();
  return a.state()->data->data;
}

/// Writes a file that gets its final name only when it is complete.
class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path), unfinished_(fmt::format("{}.{}.part", path, getpid())) {
    file_ = std::fopen(unfinished_.c_str(), "wb");
    if (!file_) fault("save", "{}: {}", path, std::strerror(errno));
  }
  ~Writer() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(unfinished_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  void write(const void* data, size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fault("save", "{}: {}", path_, std::strerror(errno));
  }
  void commit() {
    std::FILE* const file = std::exchange(file_, nullptr);
    const bool failed = std::fclose(file) != 0 || std::rename(unfinished_.c_str(), path_.c_str()) != 0;
    if (!failed) return;
    const std::string why = std::strerror(errno);
    std::remove(unfinished_.c_str());
    fault("save", "{}: {}", path_, why);
  }

 private:
  std::string path_, unfinished_;
  std::FILE* file_ = nullptr;
};

struct Mapped {
  char* data = nullptr;
  size_t bytes = 0;
};
/// Maps a file privately: writes to the pages don't change the file.
Mapped map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || fstat(file, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    fault("load", "{}: {}", path, why);
  }
  const auto bytes = static_cast<size_t>(status.st_size);
  void* const data = bytes ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (data == MAP_FAILED) fault("load", "{}: found {} bytes that can't be mapped", path, bytes);
  return {static_cast<char*>(data), bytes};
}

/// The text after 'key': in the dictionary of an .npy header.
std::string_view entry(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  const char open = header.empty() ? 0 : header.front();
  const size_t end = open == '(' ? header.find(')') : open == '\'' ? header.find('\'', 1) : header.find_first_of(",}");
  if (end == std::string_view::npos) return {};
  return open == '(' || open == '\'' ? header.substr(1, end - 1) : header.substr(0, end);
}

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      made += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      made += c;
    }
  }
  return made + "\"";
}

}  // namespace

array load(const std::string& file, StreamOrDevice) {
  const Mapped mapped = map_file(file);
  const auto unmap = [mapped](void*) { munmap(mapped.data, mapped.bytes); };
  try {
    if (mapped.bytes < 12 || std::memcmp(mapped.data, "\x93NUMPY", 6) != 0)
      fault("load", "{}: found no .npy file", file);
    const bool is_long = mapped.data[6] >= 2;
    uint32_t length = 0;
    std::memcpy(&length, mapped.data + 8, is_long ? 4 : 2);
    const size_t begin = (is_long ? 12 : 10) + size_t{length};
    if (begin > mapped.bytes)
      fault("load", "{}: found a header of {} bytes in a file of {}", file, length, mapped.bytes);
    const std::string_view header(mapped.data + (is_long ? 12 : 10), length);
    const std::string_view type = entry(header, "descr");
    const auto* const known =
        std::ranges::find_if(kSpellings, [&](const Spelling& s) { return *s.npy && type == s.npy; });
    if (known == std::end(kSpellings)) fault("load", "{}: found elements of type '{}'", file, type);
    if (entry(header, "fortran_order") != "False")
      fault("load", "{}: found elements by columns, expected them by rows", file);
    Shape shape;
    int64_t count = 1;
    for (std::string_view rest = entry(header, "shape"); !rest.empty();) {
      int64_t extent = 0;
      size_t digits = 0;
      while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])))
        extent = extent * 10 + (rest[digits++] - '0');
      if (digits > 0) {
        shape.push_back(extent);
        if (__builtin_mul_overflow(count, extent, &count))
          fault("load", "{}: found more elements than there can be", file);
      }
      rest.remove_prefix(std::max<size_t>(1, digits));
    }
    const auto bytes = static_cast<size_t>(count) * known->dtype.size();
    if (mapped.bytes - begin < bytes)
      fault("load", "{}: found {} bytes of elements, expected {}", file, mapped.bytes - begin, bytes);
    if (begin % known->dtype.size() != 0 || bytes == 0) {  // misaligned elements, or none
      array copy = zeros(shape, known->dtype);
      copy.eval();
      std::memcpy(copy.state()->data->data, mapped.data + begin, bytes);
      unmap(nullptr);
      return copy;
    }
    return array(mapped.data + begin, shape, known->dtype, unmap);
  } catch (const std::invalid_argument&) {
    unmap(nullptr);
    throw;
  }
}

void save(const std::string& file, const array& a) {
  const Spelling& spelling = spelling_of(a.dtype());
  if (!*spelling.npy) fault("save", "{}: found {}, which NumPy lacks", file, dtype_to_string(a.dtype()));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", spelling.npy, to_string(a.shape()));
  header.resize((10 + header.size() + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  const void* const elements = bytes_of(a);
  Writer writer(file);
  writer.write("\x93NUMPY\x01\x00", 8);
  const auto length = static_cast<uint16_t>(header.size());
  writer.write(&length, 2);
  writer.write(header.data(), header.size());
  writer.write(elements, a.nbytes());
  writer.commit();
}

SafetensorsLoad load_safetensors(const std::string& file, StreamOrDevice) {
  auto opened = Runtime::get().session().open_tensors(file);
  if (!opened.ok()) throw_error(opened.error());
  SafetensorsLoad made;
  for (const auto& [key, text] : opened->metadata()) made.second.emplace(key, text);
  for (const std::string& name : opened->names()) {
    const auto described = opened->array(name);
    if (!described.ok()) throw_error(described.error());
    const auto* const known =
        std::ranges::find_if(kSpellings, [&](const Spelling& s) { return described->type == s.hlo; });
    if (known == std::end(kSpellings))
      fault("load_safetensors", "{}: found {} of type {}", file, name, described->type);
    array a = zeros(described->dims, known->dtype);
    a.eval();
    if (const auto read = opened->read(name, a.state()->data->data); !read.ok()) throw_error(read.error());
    made.first.emplace(name, a);
  }
  return made;
}

void save_safetensors(const std::string& file, const std::unordered_map<std::string, array>& arrays,
                      const std::unordered_map<std::string, std::string>& metadata) {
  std::map<std::string, array> ordered(arrays.begin(), arrays.end());
  std::vector<array> all;
  for (const auto& [name, a] : ordered) all.push_back(a);
  eval(all);
  std::string header = "{";
  if (!metadata.empty()) {
    std::string pairs;
    for (const auto& [key, text] : std::map<std::string, std::string>(metadata.begin(), metadata.end()))
      pairs += fmt::format("{}{}:{}", pairs.empty() ? "" : ",", quoted(key), quoted(text));
    header += fmt::format("\"__metadata__\":{{{}}}", pairs);
  }
  size_t at = 0;
  for (const auto& [name, a] : ordered) {
    header +=
        fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", header.size() > 1 ? "," : "",
                    quoted(name), spelling_of(a.dtype()).safetensors, fmt::join(a.shape(), ","), at, at + a.nbytes());
    at += a.nbytes();
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  Writer writer(file);
  const uint64_t length = header.size();
  writer.write(&length, 8);
  writer.write(header.data(), header.size());
  for (const auto& [name, a] : ordered) writer.write(bytes_of(a), a.nbytes());
  writer.commit();
}

}  // namespace lowtide
