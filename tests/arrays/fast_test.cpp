// Files, and what models are made of.
#include <cstdio>
#include <filesystem>

#include "support.h"

namespace lowtide {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("arrays." + std::to_string(reinterpret_cast<uintptr_t>(this)));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

TEST(ArraysFiles, WhatIsSavedIsLoaded) {
  const Folder folder;
  for (const array& a :
       {reshape(arange(6), {2, 3}), array({1.5F, -2.0F}, float16), array({true, false}), array(7.0F), zeros({0, 2})}) {
    save(folder / "a.npy", a);
    const array b = load(folder / "a.npy");
    EXPECT_EQ(b.dtype(), a.dtype());
    EXPECT_TRUE(array_equal(a, b).item<bool>());
  }
  const array w = random::normal({3, 4}, bfloat16, random::key(1));
  save_safetensors(folder / "m.safetensors", {{"layer \"0\"", w}, {"step", array(3)}}, {{"made", "here"}});
  const auto [arrays, metadata] = load_safetensors(folder / "m.safetensors");
  EXPECT_TRUE(array_equal(arrays.at("layer \"0\""), w).item<bool>());
  EXPECT_EQ(arrays.at("step").item<int>(), 3);
  EXPECT_EQ(metadata.at("made"), "here");
  // The control: a file that isn't whole is refused.
  save(folder / "b.npy", arange(100));
  std::filesystem::resize_file(folder / "b.npy", 300);
  EXPECT_NE(fault_of([&] { load(folder / "b.npy"); }).find("bytes of elements, expected 400"), std::string::npos);
  EXPECT_NE(fault_of([&] { load(folder / "none.npy"); }).find("No such file"), std::string::npos);
  EXPECT_NE(fault_of([&] { save(folder / "c.npy", w); }).find("which NumPy lacks"), std::string::npos);
}

TEST(ArraysFast, NormsAreTheirFormulas) {
  const array x({1.0F, 2.0F, 3.0F, 6.0F}, Shape{1, 4});
  const float rms = std::sqrt(50.0F / 4);
  expect_near(fast::rms_norm(x, array({1.0F, 1.0F, 1.0F, 2.0F}), 0), {1 / rms, 2 / rms, 3 / rms, 12 / rms});
  const float deviation = std::sqrt(14.0F / 4);
  expect_near(fast::layer_norm(x, {}, array({0.0F, 0.0F, 0.0F, 1.0F}), 0),
              {-2 / deviation, -1 / deviation, 0, 3 / deviation + 1});
}

TEST(ArraysFast, RopeTurnsPairs) {
  const array x({1.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 1.0F}, Shape{1, 2, 4});
  const float c = std::cos(1.0F), s = std::sin(1.0F), c2 = std::cos(0.01F), s2 = std::sin(0.01F);
  expect_near(fast::rope(x, 4, true, 10000.0F, 1, 0), {1, 0, 1, 0, -s, c, -s2, c2});
  expect_near(fast::rope(x, 4, false, 10000.0F, 1, 0), {1, 0, 1, 0, 0, c2, 0, c2 + 0 * s}, 0.02F);
}

TEST(ArraysFast, AttentionIsItsDefinition) {
  const array q = random::normal({1, 4, 5, 8}, random::key(1)), k = random::normal({1, 2, 5, 8}, random::key(2)),
              v = random::normal({1, 2, 5, 8}, random::key(3));
  const array wide_k = repeat(k, 2, 1), wide_v = repeat(v, 2, 1);
  const array scores = matmul(q, transpose(wide_k, {0, 1, 3, 2})) * 0.5F;
  const array seen = tril(ones({5, 5}, bool_));
  const array expected = matmul(softmax(where(seen, scores, array(-INFINITY)), -1), wide_v);
  EXPECT_TRUE(allclose(fast::scaled_dot_product_attention(q, k, v, 0.5F, "causal"), expected, 1e-4, 1e-5).item<bool>());
  EXPECT_TRUE(
      allclose(fast::scaled_dot_product_attention(q, k, v, 0.5F, "array", seen), expected, 1e-4, 1e-5).item<bool>());
}

}  // namespace
}  // namespace lowtide
