// Products of attention calls, by target and by shape.
#include "ops/attention_terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "read_module.h"

namespace lowtide::engine {
namespace {

/// 2 batches, 128 positions, 4 heads of 16 numbers.
double terms_of(const std::string& target) {
  const std::string text = fmt::format(
      "HloModule m\nENTRY main {{\n  q = bf16[2,128,4,16] parameter(0)\n  k = bf16[2,64,4,16] parameter(1)\n"
      "  ROOT a = bf16[2,128,4,16] custom-call(q, k), custom_call_target=\"{}\"\n}}\n",
      target);
  return attention_terms(*read(text)->entry->root);
}

TEST(AttentionTerms, TwoProductsForwardsFiveBackwards) {
  const double product = 2.0 * 128 * 64 * 4 * 16;
  EXPECT_EQ(terms_of("te_fused_attn_forward_ffi"), 2 * product);
  EXPECT_EQ(terms_of("te_fused_attn_backward_ffi"), 5 * product);
  EXPECT_EQ(terms_of("__cudnn$fmhaSoftmax"), 2 * product);
  EXPECT_EQ(terms_of("__cudnn$fmhaSoftmaxBackward"), 5 * product);
  EXPECT_EQ(terms_of("te_layernorm_forward_ffi"), 0) << "no attention";
}

}  // namespace
}  // namespace lowtide::engine
