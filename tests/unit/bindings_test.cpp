#include "runtime/bindings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "interp/interpreter.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

/// Two arguments, the second donated to the first result; the second result is the runtime's own.
class BindingsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("lowtide_bindings_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    auto module = parse_hlo(std::make_shared<const Source>(Source{"m", R"(HloModule m
ENTRY e { a = s32[5] parameter(0) b = s32[5] parameter(1) ROOT t = (s32[5], s32[5]) tuple(b, a) })"}));
    ASSERT_TRUE(module.ok()) << module.status().message();
    program.module = module.take();
    program.storages.resize(3);
    program.storages[0] = {.kind = StorageKind::kArgument, .number = 0, .bytes = 20};
    program.storages[1] = {.kind = StorageKind::kArgument, .number = 1, .bytes = 20, .donated = true};
    program.storages[2] = {.kind = StorageKind::kOutput, .number = 1, .bytes = 20};
    program.slots = {{0, 0, 20}, {1, 0, 20}, {2, 0, 20}};
    program.argument_slots = {0, 1};
    program.output_slots = {1, 2};
  }
  void TearDown() override { fs::remove_all(folder); }
  static int32_t* numbers(void* at) { return static_cast<int32_t*>(at); }

  fs::path folder;
  Program program;
  ThreadPool pool{2};
};

TEST_F(BindingsTest, SeededArgumentsAreTheInterpreters) {
  const auto expected = seeded_arguments(*program.module, 3);
  auto bindings = Bindings::make(program, {.seed = 3}, pool);
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  const RunMemory& memory = bindings->memory();
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(std::memcmp(memory.arguments[k], expected[k]->bytes().data(), 20), 0);
  }
  EXPECT_EQ(memory.outputs[0], nullptr);
  EXPECT_NE(memory.outputs[1], nullptr);
  numbers(memory.arguments[1])[2] = 99;
  ASSERT_TRUE(bindings->restore(pool).ok());
  EXPECT_EQ(std::memcmp(memory.arguments[1], expected[1]->bytes().data(), 20), 0);
  EXPECT_GT(bindings->touched_bytes(), 0);
}

TEST_F(BindingsTest, DonatedArgumentsAreWrittenPrivately) {
  const std::string path = folder / "in.safetensors";
  const auto given = seeded_arguments(*program.module, 1);
  ASSERT_TRUE(write_safetensors(path, {{"arg0", given[0]}, {"arg1", given[1]}}).ok());
  const auto inputs = TensorFile::open(path);
  ASSERT_TRUE(inputs.ok());
  auto bindings = Bindings::make(program, {.inputs = &*inputs}, pool);
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  const RunMemory& memory = bindings->memory();
  const auto mapped = inputs->bytes_as("arg0", program.module->entry->root->shape.elements[0]);
  EXPECT_EQ(memory.arguments[0], mapped->data()) << "a plain argument stays in its file";
  numbers(memory.arguments[1])[0] = -5;
  EXPECT_EQ((*TensorFile::open(path)->load("arg1"))->data<int32_t>()[0], given[1]->data<int32_t>()[0]);
  ASSERT_TRUE(bindings->restore(pool).ok());
  EXPECT_EQ(numbers(memory.arguments[1])[0], given[1]->data<int32_t>()[0]);
}

TEST_F(BindingsTest, ResultsLieInTheirFile) {
  const std::string path = folder / "out.safetensors";
  auto writer = TensorWriter::create(path, result_tensors(program));
  ASSERT_TRUE(writer.ok());
  auto bindings = Bindings::make(program, {.outputs = &*writer}, pool);
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  EXPECT_EQ(bindings->memory().outputs[1], writer->bytes(1).data());
  EXPECT_EQ(bindings->memory().arguments[1], writer->bytes(0).data()) << "it ends as a result";
}

TEST_F(BindingsTest, WrongFilesAreFaults) {
  const std::string path = folder / "in.safetensors";
  const Value five = std::make_shared<Literal>(Shape::array(ElementType::kS32, {5}));
  const Value four = std::make_shared<Literal>(Shape::array(ElementType::kS32, {4}));
  const std::vector<NamedTensors> wrong = {
      {{"arg0", five}}, {{"arg0", five}, {"arg1", four}}, {{"arg0", five}, {"arg1", five}, {"arg2", five}}};
  for (const NamedTensors& tensors : wrong) {
    ASSERT_TRUE(write_safetensors(path, tensors).ok());
    const auto inputs = TensorFile::open(path);
    ASSERT_TRUE(inputs.ok());
    EXPECT_EQ(Bindings::make(program, {.inputs = &*inputs}, pool).status().fault(), Fault::kInput);
  }
}

}  // namespace
}  // namespace lowtide::engine
