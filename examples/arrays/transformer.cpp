// transformer [STEPS]: a small language model learns a text of its own, in half of what its step takes without a limit.
#include <cstdlib>
#include <cstring>

#include "report.h"

using namespace lowtide;

namespace {
constexpr int kVocabulary = 64, kWidth = 64, kHeads = 4, kLength = 128, kBatch = 8, kLayers = 4;

array attention(const array& x, const array& weights) {
  const auto heads = [](const array& a) {
    return transpose(reshape(a, {kBatch, kLength, kHeads, kWidth / kHeads}), {0, 2, 1, 3});
  };
  const auto qkv = split(matmul(x, weights), 3, -1);
  const array mixed = fast::scaled_dot_product_attention(heads(qkv[0]), heads(qkv[1]), heads(qkv[2]), 0.25F, "causal");
  return reshape(transpose(mixed, {0, 2, 1, 3}), {kBatch, kLength, kWidth});
}

/// params: embedding, then for all layers stacked: attention, its output, two layers of a perceptron; tokens last.
array loss(const std::vector<array>& in) {
  const array& tokens = in[5];
  const auto layer = [](const std::vector<array>& x, const std::vector<array>& w) {
    const array mixed = x[0] + matmul(attention(fast::rms_norm(x[0], {}, 1e-5F), w[0]), w[1]);
    const array next = mixed + matmul(tanh(matmul(fast::rms_norm(mixed, {}, 1e-5F), w[2])), w[3]);
    return std::pair(std::vector<array>{next}, std::vector<array>{});
  };
  const array x = take(in[0], slice(tokens, {0, 0}, {kBatch, kLength}), 0);
  const array last = scan(layer, {x}, {in[1], in[2], in[3], in[4]}).first[0];
  const array logits = matmul(fast::rms_norm(last, {}, 1e-5F), transpose(in[0]));
  const array wanted = slice(tokens, {0, 1}, {kBatch, kLength + 1});
  return mean(logsumexp(logits, -1) - squeeze(take_along_axis(logits, expand_dims(wanted, -1), -1), -1));
}
}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 30;
  random::seed(0);
  const auto weights = [](Shape shape) { return random::normal(shape, float32, 0, 0.05F); };
  std::vector<array> params = {weights({kVocabulary, kWidth}), weights({kLayers, kWidth, 3 * kWidth}),
                               weights({kLayers, kWidth, kWidth}), weights({kLayers, kWidth, 4 * kWidth}),
                               weights({kLayers, 4 * kWidth, kWidth})};
  // A sequence with a rule: each token follows from the one before.
  const array start = random::randint(0, kVocabulary, {kBatch, 1});
  const array tokens = (start * 7 + arange(kLength + 1) * 5) % kVocabulary;
  eval(params);
  const auto both = value_and_grad(ManyToOne(loss), {0, 1, 2, 3, 4});
  const ManyToMany step = [&](const std::vector<array>& in) {
    auto [value, gradients] = both(in);
    std::vector<array> next = {value};
    for (size_t p = 0; p < gradients.size(); ++p) next.push_back(in[p] - 0.5F * gradients[p]);
    return next;
  };
  std::vector<array> in = params;
  in.push_back(tokens);
  eval(in);
  const Plan free = plan(step, in);
  const auto budget = static_cast<size_t>(free.peak_bytes() * 6 / 10);
  const ManyToMany limited = limit(step, budget);
  params.clear();
  size_t peak = 0;
  for (int k = 0; k < steps; ++k) {
    reset_peak_memory();
    std::vector<array> next = limited(in);
    peak = std::max(peak, get_peak_memory());
    if (k % 10 == 0 || k + 1 == steps)
      std::printf("step %d: loss %.4f\n", k, static_cast<double>(next[0].item<float>()));
    for (size_t p = 0; p < 5; ++p) in[p] = next[p + 1];
  }
  std::printf("without a limit %.2f MB, with one of %.2f MB\n", static_cast<double>(free.peak_bytes()) / 1e6,
              static_cast<double>(budget) / 1e6);
  print_peak("training step", peak, free.floor_of_any()->bytes);
}
