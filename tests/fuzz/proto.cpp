/// Any bytes as an HLO module in protobuf form.

#include "exercise.h"
#include "text/proto/hlo_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  (void)is_hlo_proto(text_of(data, size));
  const auto module = parse_hlo_proto(text_of(data, size), "fuzz.pb");
  if (module.ok()) exercise(**module);
  return 0;
}
