#include "analysis/platform.h"

#include <gtest/gtest.h>

#include "text/hlo.h"

namespace lowtide::engine {
namespace {

Platform platform_with(const std::string& line) {
  const std::string text = "HloModule m\nENTRY e {\n  x = f32[16,256]{1,0} parameter(0)\n  ROOT y = " + line + "\n}\n";
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? platform_of(**module) : Platform::kUnknown;
}

TEST(Platform, IsToldByCallsLayoutsAndNotes) {
  EXPECT_EQ(platform_with("f32[16,256]{1,0} negate(x)"), Platform::kUnknown);
  EXPECT_EQ(platform_with("f32[16,256]{1,0} custom-call(x), custom_call_target=\"Sharding\""), Platform::kUnknown);
  EXPECT_EQ(platform_with("f32[16,256]{1,0} custom-call(x), custom_call_target=\"te_fused_attn_forward_ffi\""),
            Platform::kGpu);
  EXPECT_EQ(platform_with("f32[16,256]{1,0} negate(x), backend_config={\"operation_queue_id\":\"0\"}"), Platform::kGpu);
  EXPECT_EQ(platform_with("f32[16,256]{1,0} custom-call(x), custom_call_target=\"tpu_custom_call\""), Platform::kTpu);
  EXPECT_EQ(platform_with("f32[16,256]{1,0:T(8,128)} negate(x)"), Platform::kTpu);
}

}  // namespace
}  // namespace lowtide::engine
