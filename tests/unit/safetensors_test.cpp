#include "text/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/open_files.h"
#include "support/sanitized.h"
#include "text/tensor_writer.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("lowtide_safetensors_" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string file(const char* name) const { return (folder / name).string(); }
  fs::path folder;
};

std::string bytes_of(const std::string& header, size_t data_bytes) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

Result<TensorFile> parsed(const std::string& bytes) {
  return TensorFile::parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "t");
}

TEST_F(Safetensors, WritesWhatItReads) {
  NamedTensors tensors;
  for (const ElementType type : {ElementType::kPred, ElementType::kS8, ElementType::kU64, ElementType::kBF16,
                                 ElementType::kF16, ElementType::kF64, ElementType::kC128}) {
    auto literal = std::make_shared<Literal>(Shape::array(type, {2, 3}));
    for (size_t i = 0; i < literal->bytes().size(); ++i) {
      literal->bytes()[i] = static_cast<std::byte>(type == ElementType::kPred ? i % 2 : i * 7);
    }
    tensors.emplace_back("out" + std::to_string(tensors.size()), literal);
  }
  tensors.emplace_back("empty", std::make_shared<Literal>(Shape::array(ElementType::kF32, {0, 4})));
  ASSERT_TRUE(write_safetensors(file("a"), tensors, {{"rtol", "1e-3"}}).ok());

  const auto read = TensorFile::open(file("a"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->metadata().at("rtol"), "1e-3");
  EXPECT_EQ(read->count_of("out"), 7);
  for (const auto& [name, value] : tensors) {
    const auto back = read->load(name);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ((*back)->shape(), value->shape());
    EXPECT_TRUE(std::equal((*back)->bytes().begin(), (*back)->bytes().end(), value->bytes().begin()));
  }
  std::ifstream raw(file("a"), std::ios::binary);
  uint64_t header = 0;
  raw.read(reinterpret_cast<char*>(&header), 8);
  EXPECT_EQ(header % 8, 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "no partial file stays";
}

TEST_F(Safetensors, NarrowIntegersTravelAsBytes) {
  auto literal = std::make_shared<Literal>(Shape::array(ElementType::kS4, {2}));
  literal->data<SmallInt<4, true>>()[0] = -3;
  literal->data<SmallInt<4, true>>()[1] = 7;
  ASSERT_TRUE(write_safetensors(file("n"), {{"arg0", literal}}).ok());
  const auto read = TensorFile::open(file("n"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->shape_of("arg0").type, ElementType::kS8);
  const auto back = read->load_as("arg0", literal->shape());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(integer_at(**back, 0), -3);
  EXPECT_EQ(integer_at(**back, 1), 7);
  EXPECT_EQ(read->load_as("arg0", Shape::array(ElementType::kS4, {3})).status().message(),
            file("n") + ": arg0 is s8[2], expected s4[3]");
}

TEST_F(Safetensors, PredicatesAreZeroOrOne) {
  std::string bytes = bytes_of(R"({"p":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  bytes.back() = '\7';
  const auto read = parsed(bytes);
  ASSERT_TRUE(read.ok());
  const auto value = read->load("p");
  EXPECT_EQ((*value)->bytes()[1], std::byte{1});
}

TEST_F(Safetensors, BadFilesAreFaultsWithReasons) {
  const struct {
    std::string header;
    size_t data;
    const char* words;
  } rows[] = {
      {"[]", 0, "must be a JSON object"},
      {"{\"a\"", 0, "must be a JSON object"},
      {std::string(100000, '['), 0, "must be a JSON object"},
      {R"({"a":3})", 0, "expected an object"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "dtype is missing"},
      {R"({"a":{"dtype":"F7","shape":[1],"data_offsets":[0,4]}})", 4, "unknown dtype F7"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "two whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "leave the 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4, "leave the 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "don't fit f32[2]"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "don't fit"},
      {R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
       3, "overlap or leave a gap at byte 1"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[1,2]}})", 2, "overlap or leave a gap at byte 1"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 2, "cover 1 of 2 bytes"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
       1, "names each tensor once"},
      {R"({"a":{"dtype":"I8","dtype":"I16","shape":[1],"data_offsets":[0,1]}})", 1, "dtype is there twice"},
      {R"({"a":{"dtype":"I8","shape":[[1]],"data_offsets":[0,1]}})", 1, "whole numbers"},
      {R"({"a":{"dtype":"I8","shape":{"x":1},"data_offsets":[0,1]}})", 1, "whole numbers"},
      {R"({"a":{"dtype":"I8","shape":[18446744073709551615],"data_offsets":[0,1]}})", 1, "whole numbers"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1,1]}})", 1, "two whole numbers"},
      {R"({"a":{"dtype":["I8"],"shape":[1],"data_offsets":[0,1]}})", 1, "dtype is missing"},
      {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[18446744073709551615,1]}})", 1, "whole numbers"},
      {R"({"a":{"x":)" + std::string(100000, '[') + std::string(100000, ']') + "}}", 1, "lists within lists"},
      {R"({"a":)" + std::string(100000, '{'), 1, "must be a JSON object"},
      {R"({"a":[]})", 0, "a: expected an object"},
      {R"("a")", 0, "must be a JSON object"},
      {R"({} {})", 0, "must be a JSON object"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "once"},
      {R"({"__metadata__":{"x":"1","x":"2"}})", 0, "once"},
      {R"({"__metadata__":{"x":{}}})", 0, "x must be a string"},
      {R"({"__metadata__":{"x":1}})", 0, "x must be a string"},
      {R"({"__metadata__":[]})", 0, "object of strings"},
  };
  for (const auto& row : rows) {
    const auto read = parsed(bytes_of(row.header, row.data));
    ASSERT_FALSE(read.ok()) << row.header;
    EXPECT_NE(read.status().message().find(row.words), std::string::npos) << read.status().message();
    EXPECT_EQ(read.status().fault(), Fault::kInput);
  }
  EXPECT_FALSE(parsed("short").ok());
  EXPECT_FALSE(parsed(std::string(64, '\xff')).ok());
  EXPECT_FALSE(TensorFile::open(file("nothing")).ok());
  EXPECT_FALSE(TensorFile::open(folder.string()).ok());
}

/// A header is read, and written, in time that is linear in its tensors: of 100,000 in well under a second.
TEST_F(Safetensors, ManyTensorsTakeTimeOnceEach) {
  NamedTensors tensors;
  constexpr int kTensors = kSanitized ? 10'000 : 100'000;
  for (int i = 0; i < kTensors; ++i) {
    tensors.emplace_back("arg" + std::to_string(i), std::make_shared<Literal>(Shape::array(ElementType::kU8, {1})));
  }
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(write_safetensors(file("many"), tensors).ok());
  const auto read = TensorFile::open(file("many"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->count_of("arg"), kTensors);
  EXPECT_LT(took.count(), 10) << "a quadratic one takes minutes; a busy machine is forgiven";
}

TEST_F(Safetensors, WhatIsUnknownInAnEntryIsPassedOver) {
  const auto read =
      parsed(bytes_of(R"({"__metadata__":{"a":"b"},"x":{"more":[{"dtype":"F8","shape":[[2]]},null,-1.5],"dtype":"I8",)"
                      R"("shape":[2],"n":null,"data_offsets":[0,2]}})",
                      2));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->shape_of("x").dims, Dims{2});
  EXPECT_EQ(read->metadata().at("a"), "b");
}

TEST_F(Safetensors, FilesThatAreWrittenToAreNoticed) {
  ASSERT_TRUE(
      write_safetensors(file("c"), {{"x", std::make_shared<Literal>(Shape::array(ElementType::kU8, {5000}))}}).ok());
  OpenFiles files;
  const auto read = TensorFile::open(file("c"), &files);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->check_unchanged().ok());
  EXPECT_STREQ(files.mapped_at(read->bytes_as("x", read->shape_of("x"))->data()), file("c").c_str());
  fs::resize_file(file("c"), 4000);
  EXPECT_NE(read->check_unchanged().message().find(file("c")), std::string::npos);
  EXPECT_EQ(files.mapped_at(this), nullptr);
}

TEST_F(Safetensors, ElementsAreComputedInTheFilesPages) {
  const std::vector<std::pair<std::string, Shape>> shapes = {{"out0", Shape::array(ElementType::kPred, {3})},
                                                             {"out1", Shape::array(ElementType::kF64, {5})},
                                                             {"out2", Shape::array(ElementType::kF32, {0})},
                                                             {"out3", Shape::array(ElementType::kBF16, {1})}};
  {
    auto writer = TensorWriter::create(file("a"), shapes);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(writer->bytes(1).data()) % 64, 0u) << "the widest come first";
    EXPECT_EQ(reinterpret_cast<uintptr_t>(writer->bytes(3).data()) % 2, 0u);
    EXPECT_EQ(writer->bytes(1).size(), 40u);
    writer->bytes(1)[39] = std::byte{0x40};
    writer->bytes(0)[2] = std::byte{1};
    EXPECT_FALSE(fs::exists(file("a"))) << "not before it is whole";
    ASSERT_TRUE(writer->commit().ok());
  }
  const auto read = TensorFile::open(file("a"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->count_of("out"), 4);
  EXPECT_EQ((*read->load("out1"))->data<double>()[4], 2);
  const auto bytes = read->bytes_as("out0", shapes[0].second);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ((*bytes)[2], std::byte{1});
  EXPECT_FALSE(read->bytes_as("out0", Shape::array(ElementType::kU8, {3})).has_value());
}

TEST_F(Safetensors, NothingStaysOfAFileThatIsNotCommitted) {
  ASSERT_TRUE(TensorWriter::create(file("a"), {{"out0", Shape::array(ElementType::kF32, {100})}}).ok());
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Safetensors, AFullDiskIsFoundBeforehand) {
  const auto writer = TensorWriter::create(file("a"), {{"out0", Shape::array(ElementType::kF32, {int64_t{1} << 50})}});
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.status().message().find("are needed"), std::string::npos) << writer.status().message();
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Safetensors, WritingTellsWhatItCannotDo) {
  const Value value = std::make_shared<Literal>(Shape::array(ElementType::kF32, {1}));
  EXPECT_FALSE(write_safetensors(file("no/such/folder"), {{"a", value}}).ok());
  EXPECT_TRUE(write_safetensors("/dev/null", {{"a", value}}).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Value odd = std::make_shared<Literal>(Shape::array(ElementType::kF8E3M4, {1}));
  EXPECT_EQ(write_safetensors(file("odd"), {{"a", odd}}).fault(), Fault::kUnsupported);
}

}  // namespace
}  // namespace lowtide::engine
