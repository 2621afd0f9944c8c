/// Any bytes as MLIR bytecode, and as what jax.export writes around it; what is read is a module like any other.

#include "text/bytecode.h"
#include "exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  std::string_view bytes = text_of(data, size);
  if (!is_bytecode(bytes) && is_exported(bytes)) {
    const auto inner = bytecode_of_exported(bytes, "fuzz");
    if (!inner.ok()) return must(inner.status().fault() == Fault::kInput, "a fault of another kind"), 0;
    bytes = *inner;
  }
  const auto module = parse_bytecode(bytes, "fuzz.mlirbc");
  if (!module.ok()) {
    must(module.status().fault() == Fault::kInput || module.status().fault() == Fault::kUnsupported,
         "a fault of another kind");
    return 0;
  }
  exercise(**module);
  return 0;
}
