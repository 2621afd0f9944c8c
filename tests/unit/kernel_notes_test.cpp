#include "runtime/kernel_notes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "nest/builder.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

/// y = x + x, then x = y + y: two pieces.
Nest two_pieces(int64_t elements) {
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kF32, elements), y = nest.add_buffer(ElementType::kF32, elements);
  for (const auto& [from, to] : {std::pair(x, y), std::pair(y, x)}) {
    const int32_t loop = nest.begin_parallel(elements);
    const NodeId value = nest.load(from, nest.index_of(loop));
    nest.store(to, nest.index_of(loop), nest.operation(Opcode::kAdd, ElementType::kF32, {value, value}));
    nest.end_parallel(loop);
  }
  return nest.take();
}

class Notes : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/lowtide_notes_" + std::to_string(::getpid());
    fs::remove_all(directory_);
    const Nest nest = two_pieces(77);
    auto made = compile_kernels({&nest, 1}, {});
    ASSERT_TRUE(made.ok()) << made.status().message();
    kernel_ = (*made)[0];
    kernel_.skips = {0, 12};
  }
  void TearDown() override { fs::remove_all(directory_); }
  KernelNotes notes(const CompileOptions& options = {}) const { return KernelNotes::make(options, directory_).take(); }

  std::string directory_;
  Kernel kernel_;
};

TEST_F(Notes, GiveBackTheKernelAsItWas) {
  ASSERT_FALSE(build_id().empty());
  notes().store("a region", kernel_);
  const auto found = notes().find("a region");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, kernel_.key);
  EXPECT_EQ(found->skips, kernel_.skips);
  ASSERT_EQ(found->pieces.size(), 2u);
  for (size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(found->pieces[p].extent, kernel_.pieces[p].extent);
    EXPECT_EQ(found->pieces[p].granule, kernel_.pieces[p].granule);
    EXPECT_EQ(found->pieces[p].cost, kernel_.pieces[p].cost);
    EXPECT_EQ(found->pieces[p].sequential, kernel_.pieces[p].sequential);
  }
  std::vector<float> x(77, 1.5f), y(77, -1.f);
  void* buffers[] = {x.data(), y.data()};
  found->run(buffers, 0, 0, 77);
  EXPECT_EQ(y[76], 3);
}

TEST_F(Notes, AreOfOneSourceAndOneTarget) {
  notes().store("a region", kernel_);
  EXPECT_FALSE(notes().find("another region"));
  EXPECT_FALSE(notes({.use_cache = false}).find("a region"));
  // What is compiled by itself for the best there is has one of these two names.
  const bool avx2 = notes({.isa = Isa::kAvx2}).find("a region").has_value();
  const auto best = KernelNotes::make({.isa = Isa::kAvx512}, directory_);
  EXPECT_NE(avx2, best.ok() && best->find("a region").has_value());
}

TEST_F(Notes, OfKernelsThatAreGoneAreNone) {
  Kernel gone = kernel_;
  gone.key.low ^= 1;
  notes().store("a region", gone);
  EXPECT_FALSE(notes().find("a region"));
}

TEST_F(Notes, CutOffOrChangedAreNone) {
  notes().store("a region", kernel_);
  const fs::path file = fs::directory_iterator(directory_)->path();
  const auto size = fs::file_size(file);
  for (const uintmax_t kept : {size - 8, size - 1, size / 2, uintmax_t{0}}) {
    fs::resize_file(file, kept);
    EXPECT_FALSE(notes().find("a region")) << kept;
    notes().store("a region", kernel_);
    EXPECT_TRUE(notes().find("a region"));
  }
}

}  // namespace
}  // namespace lowtide
