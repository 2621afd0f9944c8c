/// Any bytes as HLO text.

#include "exercise.h"
#include "text/hlo.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  const auto module = parse_hlo(std::make_shared<Source>(Source{"fuzz.hlo", std::string(text_of(data, size))}));
  if (module.ok()) {
    exercise(**module);
  } else {
    must(module.status().fault() == Fault::kInput || module.status().fault() == Fault::kUnsupported,
         "a fault of another kind");
  }
  return 0;
}
