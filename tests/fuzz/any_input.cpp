/// Any bytes as a file of any form: text, protobuf, gzipped or not, and its first bytes as an entry of a directory.

#include "exercise.h"
#include "text/dump/dump_files.h"
#include "text/gzip.h"
#include "text/module_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  const std::string_view bytes = text_of(data, size);
  const size_t head = std::min<size_t>(size, 512);
  (void)gunzip_head(bytes, 300);
  (void)classify_dump_file("module_0001.jit_f.txt", "module_0001.jit_f.txt", bytes.substr(0, head));
  (void)classify_dump_file(std::string(bytes.substr(0, head)), bytes.substr(0, head), bytes.substr(0, head));
  std::string unpacked(bytes);
  if (is_gzip(bytes)) {
    auto content = gunzip(bytes, size_t{1} << 20);
    if (!content.ok()) return 0;
    unpacked = content.take();
  }
  for (const char* name : {"fuzz", "fuzz.hlo", "fuzz.pb", "fuzz.mlir"}) {
    const auto module = parse_module(unpacked, name);
    if (module.ok()) exercise(**module);
  }
  return 0;
}
