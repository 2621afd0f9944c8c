#include "codegen/kernel_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "codegen/kernel.h"
#include "codegen/object_loader.h"
#include "nest/builder.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/lowtide_cache_" + std::to_string(::getpid());
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }
  fs::path only_file() const { return fs::directory_iterator(directory_)->path(); }
  std::string directory_;
};

TEST_F(Cache, GivesBackWhatWasStored) {
  const KernelCache cache(directory_);
  EXPECT_FALSE(cache.find(hash_text("a")));
  cache.store(hash_text("a"), "object of a");
  EXPECT_EQ(KernelCache(directory_).find(hash_text("a")), "object of a");
  EXPECT_FALSE(cache.find(hash_text("b")));
}

TEST_F(Cache, IgnoresFilesCutOffOrChanged) {
  const KernelCache cache(directory_);
  const std::string object(1000, 'x');
  cache.store(hash_text("a"), object);
  const fs::path path = only_file();
  const auto size = fs::file_size(path);
  for (const uintmax_t kept : {uintmax_t{0}, uintmax_t{5}, size / 2, size - 1}) {
    fs::resize_file(path, kept);
    EXPECT_FALSE(cache.find(hash_text("a"))) << kept;
    cache.store(hash_text("a"), object);
    EXPECT_TRUE(cache.find(hash_text("a")));
  }
  for (const uintmax_t at : {uintmax_t{3}, uintmax_t{12}, uintmax_t{30}, size - 1}) {
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file.put('\x7f');
    }
    EXPECT_FALSE(cache.find(hash_text("a"))) << at;
    cache.store(hash_text("a"), object);
  }
}

TEST_F(Cache, DoesWithoutADirectory) {
  for (const std::string& nowhere : {std::string(), std::string("/proc/lowtide"), std::string("/dev/null/lowtide")}) {
    const KernelCache cache(nowhere);
    cache.store(hash_text("a"), "object");
    EXPECT_FALSE(cache.find(hash_text("a")));
    cache.drop_oldest();
  }
}

TEST_F(Cache, DropsTheOldestBeyondItsSize) {
  const KernelCache cache(directory_, 9000);  // two files of a block each
  const char* const kNames[] = {"a", "b", "c"};
  for (int i = 0; i < 3; ++i) {
    cache.store(hash_text(kNames[i]), std::string(1500, 'x'));
    for (const auto& entry : fs::directory_iterator(directory_)) {
      const auto used = fs::file_time_type::clock::now() - std::chrono::hours(i == 0 ? 48 : 24);
      if (i < 2 && fs::last_write_time(entry) > used + std::chrono::hours(20)) fs::last_write_time(entry, used);
    }
  }
  cache.drop_oldest();
  EXPECT_FALSE(cache.find(hash_text("a")));
  EXPECT_TRUE(cache.find(hash_text("b")));
  EXPECT_TRUE(cache.find(hash_text("c")));
}

TEST(TextHash, TellsTextsApart) {
  EXPECT_EQ(hash_text("nest"), hash_text("nest"));
  EXPECT_NE(hash_text("nest"), hash_text("nesu"));
  EXPECT_NE(hash_text(std::string(8, '\0')), hash_text(std::string(9, '\0')));
  EXPECT_NE(hash_text(""), hash_text(std::string(1, '\0')));
  EXPECT_NE(hash_text("abcdefgh12345678"), hash_text("12345678abcdefgh"));
}

TEST(ObjectLoader, RefusesWhatIsNoObject) {
  EXPECT_FALSE(load_object("", "kernel").ok());
  EXPECT_FALSE(load_object("not an object, but long enough to hold a header of one: padding, padding", "kernel").ok());
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string program(4096, '\0');
  self.read(program.data(), 4096);
  EXPECT_FALSE(load_object(program, "kernel").ok());
}

Nest doubling(int64_t elements) {
  NestBuilder nest;
  const int32_t from = nest.add_buffer(ElementType::kF32, elements), to = nest.add_buffer(ElementType::kF32, elements);
  const int32_t loop = nest.begin_parallel(elements);
  const NodeId x = nest.load(from, nest.index_of(loop));
  nest.store(to, nest.index_of(loop), nest.operation(Opcode::kAdd, ElementType::kF32, {x, x}));
  nest.end_parallel(loop);
  return nest.take();
}

TEST(CompileKernels, MakesEqualNestsOnce) {
  const std::vector<Nest> nests = {doubling(100), doubling(101), doubling(100)};
  CompileRecord record;
  auto kernels = compile_kernels(nests, {.use_cache = false}, &record);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  EXPECT_EQ(record.kernels, 3);
  EXPECT_EQ(record.distinct, 2);
  EXPECT_EQ((*kernels)[0].run, (*kernels)[2].run);
  EXPECT_NE((*kernels)[0].run, (*kernels)[1].run);
  std::vector<float> from(101, 1.5f), to(102, -1.f);
  void* buffers[] = {from.data(), to.data()};
  (*kernels)[1].run(buffers, 0, 0, 101);
  EXPECT_EQ(to[100], 3);
  EXPECT_EQ(to[101], -1);
}

}  // namespace
}  // namespace lowtide
