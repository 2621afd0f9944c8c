/// Any bytes as a safetensors file.

#include "text/safetensors.h"
#include "exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  const auto file = TensorFile::parse(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
  if (!file.ok()) return 0;
  (void)file->count_of("arg");
  for (const std::string& name : file->names()) {
    const auto value = file->load(name);
    must(value.ok() && (*value)->bytes().size() <= size, "a tensor larger than its file");
    (void)file->load_as(name, Shape::array(ElementType::kS4, file->shape_of(name).dims));
  }
  return 0;
}
