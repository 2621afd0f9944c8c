#include "codegen/kernel_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/llvm_library.h"
#include "codegen/object_loader.h"
#include "nest/builder.h"
#include "nest/legalise.h"

namespace lowtide::engine {
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
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
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

TEST_F(Cache, NoticesEachByte) {
  const KernelCache cache(directory_);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{101}}) {
    const TextHash key = hash_text(std::to_string(bytes));
    cache.store(key, std::string(bytes, 'x'));
    const fs::path path = only_file();
    std::string raw = read(path);
    for (size_t at = 0; at < raw.size(); ++at) {
      std::string changed = raw;
      changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
      write(path, changed);
      EXPECT_FALSE(cache.find(key)) << bytes << ": byte " << at;
    }
    write(path, raw + "x");
    EXPECT_FALSE(cache.find(key)) << "more than its content";
    write(path, raw);
    EXPECT_TRUE(cache.find(key)) << "the control";
    fs::remove(path);
  }
}

TEST_F(Cache, TakesNoFileUnderAnotherName) {
  const KernelCache cache(directory_);
  cache.store(hash_text("a"), "object of a");
  const fs::path a = only_file();
  const std::string raw = read(a);
  cache.store(hash_text("b"), "object of b");
  for (const auto& entry : fs::directory_iterator(directory_)) write(entry.path(), raw);
  EXPECT_TRUE(cache.find(hash_text("a")));
  EXPECT_FALSE(cache.find(hash_text("b")));
}

TEST_F(Cache, TakesPlainFilesOfItsUserAlone) {
  const KernelCache cache(directory_);
  cache.store(hash_text("a"), "object of a");
  const fs::path path = only_file(), aside = directory_ + "/aside";
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find(hash_text("a"))) << "the group may write";
  fs::permissions(path, fs::perms::group_write, fs::perm_options::remove);
  fs::rename(path, aside);
  fs::create_symlink(aside, path);
  EXPECT_FALSE(cache.find(hash_text("a"))) << "a link";
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(hash_text("a"))) << "a pipe";
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(cache.find(hash_text("a"))) << "a directory";
  cache.store(hash_text("a"), "object of a");
  fs::remove(path);
  fs::rename(aside, path);
  EXPECT_TRUE(cache.find(hash_text("a"))) << "the control";
  fs::resize_file(path, uintmax_t{1} << 40);
  EXPECT_FALSE(cache.find(hash_text("a"))) << "a terabyte";
  if (::geteuid() == 0) {
    cache.store(hash_text("a"), "object of a");
    ASSERT_TRUE(cache.find(hash_text("a")));
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(cache.find(hash_text("a"))) << "somebody else's";
  }
}

TEST_F(Cache, UsesAFolderOfItsUserAlone) {
  const auto is_used = [&] {
    const KernelCache cache(directory_);
    cache.store(hash_text("a"), "object of a");
    return cache.find(hash_text("a")).has_value();
  };
  EXPECT_TRUE(is_used());
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
  for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(directory_, more, fs::perm_options::add);
    EXPECT_FALSE(is_used());
    fs::permissions(directory_, more, fs::perm_options::remove);
    EXPECT_TRUE(is_used());
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(directory_.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(is_used());
  }
}

TEST_F(Cache, SweepsNoFilesOfOthers) {
  const KernelCache cache(directory_, "", 0);
  cache.store(hash_text("a"), "object of a");
  const std::string name = only_file().filename();
  const std::string part = name + ".0123456789abcdef.part";
  const std::vector<std::string> others = {"film.part",         "x.kernel",           name + ".part",
                                           name + ".part.part", "A" + name.substr(1), name + ".0123456789abcdeX.part",
                                           name + "x"};
  for (const std::string& other : others) write(directory_ + "/" + other, "theirs");
  fs::create_symlink(directory_ + "/film.part", directory_ + "/" + std::string(32, 'a') + ".kernel");
  for (const std::string& unfinished : {part, "f" + part.substr(1)}) write(directory_ + "/" + unfinished, "");
  fs::last_write_time(directory_ + "/" + part, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.drop_oldest();
  EXPECT_FALSE(cache.find(hash_text("a"))) << "the control: what is ours goes";
  EXPECT_FALSE(fs::exists(directory_ + "/" + part)) << "and what was left unfinished";
  EXPECT_TRUE(fs::exists(directory_ + "/f" + part.substr(1))) << "but not what is being written";
  EXPECT_TRUE(fs::is_symlink(directory_ + "/" + std::string(32, 'a') + ".kernel"));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(directory_ + "/" + other)) << other;
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
  const KernelCache cache(directory_, "", 9000);  // two files of a block each
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

/// What is loaded into this process stands beside it, or where it was installed to.
TEST_F(Cache, LoadsTheCompilerFromBesideTheExecutable) {
  const std::string library = "liblowtide_llvm.so", bin = directory_ + "/a/bin";
  fs::create_directories(bin);
  fs::create_directories(directory_ + "/a/lib");
  const std::string executable = bin + "/lowtide";
  write(executable, "");
  const auto found = [&](const fs::path& at) {
    write(at, "");
    const std::string path = find_llvm_library(executable);
    fs::remove(at);
    return path;
  };
  EXPECT_EQ(found(bin + "/" + library), bin + "/" + library);
  EXPECT_EQ(found(directory_ + "/a/lib/" + library), directory_ + "/a/lib/" + library);
  EXPECT_EQ(found(directory_ + "/a/" + library), "") << "a folder above";
  EXPECT_EQ(found(directory_ + "/" + library), "") << "two above";
  // A working directory of its own: the tests' holds a link to the library that they load.
  const fs::path before = fs::current_path();
  fs::create_directories(directory_ + "/work");
  fs::current_path(directory_ + "/work");
  EXPECT_EQ(found(library), "") << "the working directory";
  write(library, "");
  EXPECT_EQ(find_llvm_library("lowtide"), "");
  EXPECT_EQ(find_llvm_library(""), "");
  fs::current_path(before);
  write(bin + "/" + library, "");
  fs::permissions(bin + "/" + library, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(find_llvm_library(executable), "") << "anybody may write it";
}

/// Whatever byte of an object is something else: it is refused, or loaded without a read or a write beyond its pages.
TEST(ObjectLoader, LooksAtDamagedObjectsWithinTheirBounds) {
  const auto compile = load_llvm_library();
  ASSERT_TRUE(compile.ok()) << compile.status().message();
  const Nest nest = legalise(doubling(100));
  const KernelPlan plan = plan_kernel(nest, false);
  LlvmAnswer answer;
  (*compile)({&nest, &plan, false, false}, answer);
  ASSERT_TRUE(answer.fault.empty()) << answer.fault;
  const std::string& object = answer.object;
  ASSERT_TRUE(load_object(object, "kernel").ok()) << load_object(object, "kernel").status().message();
  int refused = 0;
  for (size_t at = 0; at < object.size(); ++at) {
    for (const char bits : {'\x01', '\x80', '\xff'}) {
      std::string changed = object;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      refused += load_object(changed, "kernel").ok() ? 0 : 1;
    }
    refused += load_object(object.substr(0, at), "kernel").ok() ? 0 : 1;
  }
  EXPECT_GT(refused, std::ssize(object)) << "the control: it is looked at";
}

/// Of the compiler's file, KiB in this process's memory.
int64_t resident_of_compiler() {
  std::ifstream maps("/proc/self/smaps");
  int64_t sum = 0;
  bool is_its = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) is_its = line.ends_with("liblowtide_llvm.so") && line.find(" rw") == line.npos;
    if (is_its && line.starts_with("Rss:")) sum += std::stoll(line.substr(4));
  }
  return sum;
}

TEST(CompileKernels, ACompilerThatRestsIsNotInMemoryAndCompilesAgain) {
  const std::vector<Nest> first = {doubling(102)}, second = {doubling(103)};
  ASSERT_TRUE(compile_kernels(first, {.use_cache = false}).ok());
  const int64_t working = resident_of_compiler();
  EXPECT_GT(working, 8 << 10) << "the control: it is there";
  rest_llvm_library();
  EXPECT_LT(resident_of_compiler(), working / 2);
  const auto kernels = compile_kernels(second, {.use_cache = false});
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  std::vector<float> from(103, 1.5f), to(103, -1.f);
  void* buffers[] = {from.data(), to.data()};
  (*kernels)[0].run(buffers, 0, 0, 103);
  EXPECT_EQ(to[102], 3);
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
}  // namespace lowtide::engine
