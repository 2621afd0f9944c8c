#include "ops/convolution_labels.h"

namespace lowtide::engine {
namespace {

std::string labels(int64_t first, int64_t second, const Dims& spatial, const char* letters) {
  std::string text(spatial.size() + 2, '?');
  text[first] = letters[0];
  text[second] = letters[1];
  for (size_t w = 0; w < spatial.size(); ++w) text[spatial[w]] = static_cast<char>('0' + w);
  return text;
}

}  // namespace

std::string dim_labels_of(const ConvolutionAttributes& a) {
  return labels(a.input_batch, a.input_feature, a.input_spatial, "bf") + "_" +
         labels(a.kernel_output_feature, a.kernel_input_feature, a.kernel_spatial, "oi") + "->" +
         labels(a.output_batch, a.output_feature, a.output_spatial, "bf");
}

}  // namespace lowtide::engine
