// MLIR bytecode: the same module as from text, and a fault with a place for whatever bytes aren't.
#include "text/bytecode.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "ops/verify.h"
#include "support/sanitized.h"
#include "text/bytecode/byte_cursor.h"
#include "text/hlo.h"
#include "text/module_bytes.h"
#include "text/stablehlo.h"

namespace lowtide::engine {
namespace {

using namespace std::string_literals;

std::string bytes_of(const std::string& name) {
  std::ifstream file(std::filesystem::path(LOWTIDE_TEST_DATA) / "bytecode" / name, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// `module { func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a } }` at version 1.17.0.
std::string smallest() {
  constexpr std::string_view kDigits =
      "4d4cef520d537461626c65484c4f5f76312e31372e300001170501050701030b03050f1303210b0701030703090b0b0b0b03070f170702"
      "251f030123031d0b1d0d290105110301030109043b050150010107042b0301050350010307041703030703010005040103010603010501"
      "00690f030b15110f0b116275696c74696e0076686c6f006d6f64756c650066756e635f76310072657475726e5f7631006d61696e000008"
      "15050501010b0305030709";
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i < kDigits.size(); i += 2) {
    bytes += static_cast<char>(digit(kDigits[i]) * 16 + digit(kDigits[i + 1]));
  }
  return bytes;
}

/// A module, or a fault of the input that names the file: nothing else comes of any bytes.
void expect_module_or_fault(const std::string& bytes, const std::string& what) {
  const auto module = parse_module(bytes, "some.mlirbc");
  if (module.ok()) {
    (void)verify(**module);
    return;
  }
  const Fault fault = module.status().fault();
  EXPECT_TRUE(fault == Fault::kInput || fault == Fault::kUnsupported) << what << ": " << module.status().message();
  EXPECT_TRUE(module.status().message().starts_with("some.mlirbc:")) << what << ": " << module.status().message();
}

/// HLO text with the values of each computation called by the order in which they appear: text has names of its own.
std::string renamed(const Module& module) {
  std::istringstream text(print_hlo(module));
  std::unordered_map<std::string, size_t> names;
  std::string all;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('{')) {  // of which only the name and the result say more than the lines after it
      names.clear();
      all += line.substr(0, line.find('(')) + line.substr(line.find("->")) + '\n';
      continue;
    }
    for (size_t at = 0; at < line.size();) {
      if (line[at] != '%') {
        all += line[at++];
        continue;
      }
      const size_t end = line.find_first_of(" ,)}", at);
      all += '%' + std::to_string(names.emplace(line.substr(at, end - at), names.size()).first->second);
      at = std::min(end, line.size());
    }
    all += '\n';
  }
  return all;
}

TEST(Bytecode, NumbersOfAllLengths) {
  for (const auto& [bytes, value] : {std::pair{"\x01"s, uint64_t{0}},
                                     {"\xff"s, 127},
                                     {"\x02\x02"s, 128},
                                     {"\xfe\xff"s, (1 << 14) - 1},
                                     {"\x80\x00\x00\x00\x00\x00\x00\x80"s, uint64_t{1} << 55},
                                     {"\x00\xff\xff\xff\xff\xff\xff\xff\xff"s, UINT64_MAX}}) {
    BytecodeFault fault;
    ByteCursor cursor(bytes, 0, fault);
    EXPECT_EQ(cursor.varint(), value);
    EXPECT_TRUE(cursor.done() && !fault.found());
    ByteCursor cut(std::string_view(bytes).substr(0, bytes.size() - 1), 0, fault);
    EXPECT_EQ(cut.varint(), 0u);
    EXPECT_TRUE(fault.found());
  }
}

TEST(Bytecode, TheSmallestModule) {
  const auto module = parse_module(smallest(), "small.mlirbc");
  ASSERT_TRUE(module.ok()) << module.status().message();
  ASSERT_TRUE(verify(**module).ok());
  EXPECT_EQ(to_string((*module)->entry->root->shape), "f32[]");
}

TEST(Bytecode, TheSameModuleAsFromTextInEachVersion) {
  const auto text = parse_module(bytes_of("forms.mlir"), "forms.mlir");
  ASSERT_TRUE(text.ok()) << text.status().message();
  const std::string expected = renamed(**text);
  for (const char* version : {"0.9.0", "1.7.0", "1.17.0"}) {
    const auto module = parse_module(bytes_of("forms_"s + version + ".mlirbc"), "forms.mlirbc");
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(renamed(**module), expected) << version;
  }
}

TEST(Bytecode, LargeConstantsComeFromBesideTheText) {
  const auto module = parse_module(bytes_of("forms_1.17.0.mlirbc"), "forms.mlirbc");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_NE((*module)->source->text.find("dense_resource<bytes_0> : tensor<4x8xi32>"), std::string::npos);
  EXPECT_NE(print_hlo(**module).find("{ 24, 25, 26, 27, 28, 29, 30, 31 }"), std::string::npos);
}

TEST(Bytecode, ResourcesAreTheSameAsInText) {
  const auto text = parse_module(bytes_of("resources.mlir"), "resources.mlir");
  ASSERT_TRUE(text.ok()) << text.status().message();
  const std::string expected = renamed(**text);
  EXPECT_NE(expected.find("{ 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5 }"), std::string::npos) << expected;
  EXPECT_NE(expected.find("s32[2] constant({5, -1})"), std::string::npos) << expected;
  for (const char* version : {"1.0.0", "1.17.0"}) {
    std::string bytes = bytes_of("resources_"s + version + ".mlirbc");
    const auto module = parse_module(bytes, "resources.mlirbc");
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(renamed(**module), expected) << version;
    const size_t counts = bytes.find("\x05\x00\x00\x00\xff\xff\xff\xff"s);
    ASSERT_NE(counts, bytes.npos);
    std::string other = bytes, kind = bytes, padding = bytes;
    other[counts] = 6;
    const auto changed = parse_module(other, "resources.mlirbc");
    ASSERT_TRUE(changed.ok()) << changed.status().message();
    EXPECT_NE(renamed(**changed), expected);
    padding[counts - 1] = 0;
    EXPECT_NE(parse_module(padding, "p.mlirbc").status().message().find("no padding where a resource is aligned"),
              std::string::npos);
    const size_t offsets = bytes.find("\xc9\x00"s);  // 100 bytes as they are, after a count and a name
    ASSERT_NE(offsets, bytes.npos);
    kind[offsets + 1] = 1;
    EXPECT_NE(parse_module(kind, "k.mlirbc").status().message().find("found a resource of kind 1, expected bytes"),
              std::string::npos);
    std::string fewer = bytes;
    fewer[offsets - 2] = 5;  // two resources, where attributes name three
    EXPECT_FALSE(parse_module(fewer, "f.mlirbc").ok());
  }
}

TEST(Bytecode, ListsOfIntegersInAttributesOfTheModule) {
  const auto module = parse_module(bytes_of("aliases_1.17.0.mlirbc"), "aliases.mlirbc");
  ASSERT_TRUE(module.ok()) << module.status().message();
  ASSERT_EQ((*module)->input_output_alias.size(), 1u);
  EXPECT_EQ((*module)->input_output_alias[0].operand, 1);
  EXPECT_EQ((*module)->input_output_alias[0].output, ShapeIndex{0});
}

TEST(Bytecode, WhatJaxExportWrites) {
  const std::string bytes = bytes_of("step.jax_export");
  ASSERT_TRUE(is_exported(bytes));
  const auto module = parse_module(bytes, "step.jax_export");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ((*module)->name, "jit_step");
  EXPECT_EQ((*module)->input_output_alias.size(), 1u);
  const std::string text = print_hlo(**module);
  EXPECT_NE(text.find("op_name=\"jit(step)/transpose(jvp())/dot_general\" source_file=\"step.py\" source_line=3"),
            std::string::npos)
      << text;
  const auto cut = parse_module(bytes.substr(0, bytes.size() / 2), "step.jax_export");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.status().fault(), Fault::kInput);
}

TEST(Bytecode, FaultsNameTheByte) {
  const std::string whole = smallest();
  const auto fault_of = [](const std::string& bytes) { return parse_module(bytes, "f.mlirbc").status(); };
  EXPECT_NE(fault_of(whole.substr(0, 60)).message().find("f.mlirbc: byte "), std::string::npos);
  EXPECT_EQ(fault_of(whole.substr(0, 60)).fault(), Fault::kInput);
  std::string newer = whole;
  newer[4] = '\x0f';  // version 7
  EXPECT_EQ(fault_of(newer).fault(), Fault::kUnsupported);
  EXPECT_NE(fault_of(newer).message().find("version 7 is not known"), std::string::npos);
  std::string unknown = whole;
  unknown.replace(unknown.find("func_v1"), 7, "func_v9");
  EXPECT_EQ(fault_of(unknown).fault(), Fault::kUnsupported);
  EXPECT_NE(fault_of(unknown).message().find("'func_v9' of VHLO, written by StableHLO_v1.17.0, is not known"),
            std::string::npos);
  EXPECT_NE(fault_of(whole + "\x01").message().find("byte 17"), std::string::npos);
}

TEST(Bytecode, CutAnywhere) {
  for (const std::string& whole : {smallest(), bytes_of("forms_1.17.0.mlirbc"), bytes_of("forms_0.9.0.mlirbc"),
                                   bytes_of("resources_1.17.0.mlirbc"), bytes_of("step.jax_export")}) {
    ASSERT_FALSE(whole.empty());
    for (size_t size = 1; size < whole.size(); ++size) {
      expect_module_or_fault(whole.substr(0, size), std::to_string(size) + " bytes");
    }
  }
}

TEST(Bytecode, AnyByteOtherwise) {
  constexpr size_t kEvery = kSanitized ? 7 : 1;
  for (const std::string& whole : {smallest(), bytes_of("forms_1.17.0.mlirbc"), bytes_of("forms_0.9.0.mlirbc"),
                                   bytes_of("resources_1.17.0.mlirbc"), bytes_of("step.jax_export")}) {
    for (size_t at = 0; at < whole.size(); at += kEvery) {
      for (const int flip : {0x01, 0x40, 0xff}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        expect_module_or_fault(bytes, "byte " + std::to_string(at) + " ^ " + std::to_string(flip));
      }
    }
  }
}

/// Among them entries that name themselves.
TEST(Bytecode, AnyEntryOtherwise) {
  std::string bytes = smallest();
  const size_t entries = bytes.find("\x02\x25"s) + 2;
  for (size_t at = entries; at < entries + 18; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      expect_module_or_fault(changed, "entry " + std::to_string(at) + " = " + std::to_string(value));
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
