#include "text/input.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "text/gzip.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

const fs::path kData = LOWTIDE_TEST_DATA;
const std::string kStep = "module_0002.train_step.";
const std::string kAfter = kStep + "cpu_after_optimizations";

const char* const kSmall = R"(HloModule small

ENTRY main {
  p = f32[4] parameter(0)
  ROOT r = f32[4] negate(p)
}
)";

std::string zipped(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class InputTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("lowtide_input_" + std::to_string(::getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  }
  void copy(const std::string& from, const std::string& to) const { fs::copy_file(kData / "dump" / from, folder / to); }
  Input read(const std::string& path) const {
    Result<Input> input = read_input(path);
    EXPECT_TRUE(input.ok()) << input.status().message();
    return input.ok() ? input.take() : Input{};
  }
  void expect_fault(const std::string& path, const std::string& words, Fault fault = Fault::kInput) const {
    const Result<Input> input = read_input(path);
    ASSERT_FALSE(input.ok()) << path;
    EXPECT_EQ(input.status().fault(), fault) << input.status().message();
    EXPECT_NE(input.status().message().find(words), std::string::npos) << input.status().message();
    EXPECT_NE(input.status().message().find(path), std::string::npos) << input.status().message();
  }
  fs::path folder;
};

TEST_F(InputTest, TextProtoAndGzipGiveTheSameModule) {
  const std::string proto = contents(kData / "attributes.pb");
  for (const std::string& path : {write("a.hlo", kSmall), write("a.txt", kSmall), write("anything", kSmall),
                                  write("a.hlo.gz", zipped(kSmall)), write("misnamed.pb", kSmall)}) {
    const Input input = read(path);
    ASSERT_NE(input.module, nullptr) << path;
    EXPECT_EQ(input.module->name, "small");
    EXPECT_EQ(input.path, path);
    EXPECT_FALSE(input.report);
  }
  for (const std::string& path :
       {write("b.pb", proto), write("b.hlo.pb.gz", zipped(proto)), write("misnamed.txt", proto)}) {
    const Input input = read(path);
    ASSERT_NE(input.module, nullptr) << path;
    EXPECT_EQ(input.module->name, "attributes");
  }
}

TEST_F(InputTest, GzipMembersFollowOneAnother) {
  const std::string text = kSmall;
  EXPECT_EQ(read(write("a.gz", zipped(text.substr(0, 20)) + zipped(text.substr(20)) + "\0\0\0"s)).module->name,
            "small");
}

TEST_F(InputTest, Faults) {
  expect_fault((folder / "absent.hlo").string(), "No such file");
  expect_fault(write("empty.hlo", ""), "the file is empty");
  expect_fault(write("blank.hlo", " \n// nothing\n"), "holds no program");
  expect_fault(write("garbage.hlo", "\x7f\x45LF\0\0\1\2\3"s), "neither HLO text nor an HLO protobuf");
  expect_fault(write("wrong.hlo", "this is no program\n"), "wrong.hlo:1:");
  expect_fault(write("cut.gz", zipped(kSmall).substr(0, 60)), "ends early");
  std::string damaged = zipped(kSmall);
  damaged[30] ^= 0x55;
  damaged[40] ^= 0x55;
  expect_fault(write("damaged.gz", damaged), "gzip");
  expect_fault(write("bomb.gz", zipped(std::string(size_t{66} << 20, '0'))), "this is no program's text");
  expect_fault(write("m.mlir", "module @jit_f {\n}\n"), "expected 'module' or 'func.func'");
  expect_fault(write("m.txt", "module @jit_f attributes {} {\n}\n"), "expected 'module' or 'func.func'");
  expect_fault(write("bare.txt", "module {\n  func.func @main() {\n"), "found no '}' that closes");
  expect_fault(write("bytecode.mlir", "ML\xefR\x0dMLIR"), "byte 5: found no zero byte behind a text");
  std::string proto = contents(kData / "attributes.pb");
  expect_fault(write("cut.pb", proto.substr(0, proto.size() / 2)), "neither HLO text nor an HLO protobuf");
}

TEST_F(InputTest, StableHloByItsFirstWords) {
  const std::string function =
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n";
  for (const auto& [name, text] : {std::pair{"a.mlir", function},
                                   {"a.txt", "// by hand\n" + function},
                                   {"b.txt", "module @m {\n" + function + "}\n"},
                                   {"c.txt", "#loc = loc(unknown)\nmodule {\n" + function + "}\n"},
                                   {"d.mlir.gz", zipped(function)}}) {
    const auto input = read_input(write(name, text));
    ASSERT_TRUE(input.ok()) << name << ": " << input.status().message();
    EXPECT_EQ(input->module->entry->parameters().size(), 1u) << name;
  }
}

TEST_F(InputTest, OneProgramOfSeveral) {
  const std::string text =
      "// RUN: nothing\nfunc.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n// -----\n"
      "func.func @g(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y : tensor<3xf32>\n}\n";
  const std::string path = write("several.mlir", text);
  expect_fault(path, "2 programs with '// -----' between them");
  const auto first = read_input(path + "#1");
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->module->entry->name, "f");
  expect_fault(path + "#2", "several.mlir#2:7:10: no value before this one is named '%y'");
  expect_fault(path + "#3", "there is no program 3 among 2");
  expect_fault(write("one.hlo", kSmall) + "#1", "expected no '#' behind its name");
}

TEST_F(InputTest, OneFunctionOfSeveral) {
  const std::string functions =
      "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
      "func.func @g(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}\n";
  const std::string path = write("functions.mlir", functions);
  expect_fault(path, "expected one named @main; name one: ");
  expect_fault(path, "functions.mlir#f");
  expect_fault(path + "#h", "functions.mlir#h: no function is named '@h'");
  expect_fault(path + "#1.", "No such file");
  const auto second = read_input(path + "#g");
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(second->module->entry->name, "g");
  const std::string programs = write("programs.mlir", "func.func @main() {\n  return\n}\n// -----\n" + functions);
  expect_fault(programs + "#2", "programs.mlir#2.f");
  const auto third = read_input(programs + "#2.g");
  ASSERT_TRUE(third.ok()) << third.status().message();
  EXPECT_EQ(third->module->entry->name, "g");
  expect_fault(write("one.hlo", kSmall) + "#f", "expected no '#' behind its name");
}

TEST_F(InputTest, WhatDoesNotVerifyIsRefused) {
  const std::string bad = "HloModule bad\n\nENTRY main {\n  p = f32[4] parameter(0)\n  ROOT r = f32[5] negate(p)\n}\n";
  expect_fault(write("bad.hlo", bad), "bad.hlo:5:");
}

TEST_F(InputTest, GzipLimit) {
  EXPECT_TRUE(gunzip(zipped("abc"), 3).ok());
  EXPECT_FALSE(gunzip(zipped("abcd"), 3).ok());
  EXPECT_EQ(gunzip_head(zipped("abcdef"), 4), "abcd");
  EXPECT_EQ(gunzip_head("\x1f\x8b\x08", 4), "");
}

TEST_F(InputTest, DirectoryPicksTheLargestModulesLatestStage) {
  const Input input = read((kData / "dump").string());
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(fs::path(input.path).filename(), kAfter + ".txt");
  EXPECT_EQ(input.stage, "after optimizations");
  EXPECT_TRUE(input.module->is_scheduled);
  EXPECT_EQ(input.others, std::vector<std::string>{"evaluate · 4 instructions · 32 B"});
  ASSERT_TRUE(input.report);
  EXPECT_EQ(input.report->total_bytes, 4196 + 0);
  EXPECT_EQ(input.report->allocations.size(), 10u);
  EXPECT_EQ(input.report->files.size(), 3u);
  EXPECT_TRUE(input.report->peak_position);
  EXPECT_TRUE(input.warnings.empty());
}

TEST_F(InputTest, ConstantsThatTheTextAbbreviatesComeFromTheProto) {
  const Input whole = read((kData / "dump").string());
  copy(kAfter + ".txt", "after.txt");
  const Input text = read((folder / "after.txt").string());
  const auto scale = [](const Input& input) {
    for (const auto& i : input.module->entry->instructions()) {
      if (i->name == "constant.3") return i->as<ConstantAttributes>().value;
    }
    return Value();
  };
  EXPECT_FALSE(scale(text)->known());
  ASSERT_TRUE(scale(whole)->known());
  EXPECT_EQ(number_at(*scale(whole), 15), 15.5);
}

TEST_F(InputTest, AFileOfADumpBringsItsReports) {
  const Input input = read((kData / "dump" / (kAfter + ".txt")).string());
  ASSERT_TRUE(input.report);
  EXPECT_EQ(input.report->total_bytes, 4196);
  EXPECT_EQ(input.stage, "after optimizations");
  EXPECT_FALSE(read((kData / "dump" / (kStep + "before_optimizations.txt")).string()).report);
  const Input proto = read((kData / "dump" / (kAfter + ".hlo.pb")).string());
  ASSERT_TRUE(proto.report);
  EXPECT_EQ(proto.report->total_bytes, 4196);
}

TEST_F(InputTest, RenamedAndPackedFilesAmongJunk) {
  write("step after XLA.txt.gz", zipped(contents(kData / "dump" / (kAfter + ".txt"))));
  write("step before XLA.hlo", contents(kData / "dump" / (kStep + "before_optimizations.txt")));
  write("step after XLA buffers.gz", zipped(contents(kData / "dump" / (kAfter + "-buffer-assignment.txt"))));
  copy(kAfter + "-memory-usage-report.txt", "step after XLA memory");
  write("core.dump", std::string(5000, '\1'));
  write("empty.txt", "");
  write("notes.md", "HloModule");
  write("small.hlo", kSmall);
  const Input input = read(folder.string());
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(fs::path(input.path).filename(), "step after XLA.txt.gz");
  EXPECT_EQ(input.others, std::vector<std::string>{"small · 2 instructions"});
  ASSERT_TRUE(input.report);
  EXPECT_EQ(input.report->total_bytes, 4196);
  EXPECT_EQ(input.report->allocations.size(), 10u);
}

TEST_F(InputTest, TwoProgramsOfOneNameStayTwo) {
  copy(kAfter + ".txt", "one.txt");
  copy(kAfter + ".txt", "two.txt");
  EXPECT_EQ(read(folder.string()).others, std::vector<std::string>{"train_step · 29 instructions · two.txt"});
}

TEST_F(InputTest, ProtosAlone) {
  copy(kAfter + ".hlo.pb", kAfter + ".hlo.pb");
  write("module_0002.train_step/compile_options.pb", "\x0a\x02xx");
  const Input input = read(folder.string());
  ASSERT_NE(input.module, nullptr);
  EXPECT_EQ(input.module->name, "train_step");
  ASSERT_TRUE(input.report);
  EXPECT_EQ(input.report->total_bytes, 4196);
  EXPECT_EQ(input.report->allocations.size(), 10u);
}

TEST_F(InputTest, ReportsOnAnotherModuleAreLeftOut) {
  write("only.hlo", kSmall);
  copy(kAfter + "-buffer-assignment.txt", "only-buffer-assignment.txt");
  const Input input = read(folder.string());
  ASSERT_TRUE(input.report);
  EXPECT_TRUE(input.report->allocations.empty());
  ASSERT_EQ(input.warnings.size(), 1u);
  EXPECT_NE(input.warnings[0].find("not in this module"), std::string::npos);
}

TEST_F(InputTest, SubfoldersOnlyWhereTheFolderHasNoModule) {
  write("run1/a.hlo", kSmall);
  EXPECT_EQ(fs::path(read(folder.string()).path).filename(), "a.hlo");
  write("b.hlo", kSmall);
  EXPECT_EQ(fs::path(read(folder.string()).path).filename(), "b.hlo");
}

TEST_F(InputTest, ADirectoryWithoutModules) {
  expect_fault(folder.string(), "no file of this directory holds an HLO module");
  write("notes.txt", "none here\n");
  expect_fault(folder.string(), "no file of this directory holds an HLO module");
}

}  // namespace
}  // namespace lowtide::engine
