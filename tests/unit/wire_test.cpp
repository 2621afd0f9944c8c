#include "text/proto/wire.h"

#include <gtest/gtest.h>

#include <string>

namespace lowtide::engine {
namespace {

using namespace std::string_literals;

TEST(Wire, ReadsEveryKindOfField) {
  WireFault fault;
  // 1: varint 300, 2: "hi", 3: fixed32 1.5f, 4: fixed64 2.0, 5: packed {1, 2, 300}, 5 again, unpacked: 7
  const std::string bytes =
      "\x08\xac\x02\x12\x02hi\x1d\x00\x00\xc0\x3f\x21\x00\x00\x00\x00\x00\x00\x00\x40\x2a\x04\x01\x02\xac\x02\x28\x07"s;
  const WireMessage message(bytes, fault);
  EXPECT_EQ(fault.what, nullptr);
  EXPECT_EQ(message.integer(1), 300);
  EXPECT_EQ(message.bytes(2), "hi");
  EXPECT_EQ(message.number32(3), 1.5f);
  EXPECT_EQ(message.number64(4), 2.0);
  EXPECT_EQ(message.integers(5), (std::vector<int64_t>{1, 2, 300, 7}));
  EXPECT_EQ(message.count(5), 2u);
}

TEST(Wire, AbsentFieldsReadAsNothing) {
  WireFault fault;
  const WireMessage message("", fault);
  EXPECT_FALSE(message.has(1));
  EXPECT_EQ(message.integer(1, 42), 42);
  EXPECT_TRUE(message.bytes(2).empty());
  EXPECT_TRUE(message.message(3).empty());
  EXPECT_TRUE(message.messages(3).empty());
  EXPECT_EQ(fault.what, nullptr);
}

TEST(Wire, NegativeNumbersTakeTenBytes) {
  WireFault fault;
  const WireMessage message("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", fault);
  EXPECT_EQ(message.integer(1), -1);
}

TEST(Wire, TheLastOfSeveralCounts) {
  WireFault fault;
  const WireMessage message("\x08\x01\x08\x02", fault);
  EXPECT_EQ(message.integer(1), 2);
}

TEST(Wire, AnotherKindThanAskedReadsAsAbsent) {
  WireFault fault;
  const WireMessage message("\x08\x05\x12\x01x", fault);
  EXPECT_TRUE(message.bytes(1).empty());
  EXPECT_EQ(message.integer(2), 0);
  EXPECT_EQ(message.number32(1), 0);
  EXPECT_EQ(fault.what, nullptr);
}

struct Broken {
  const char* what;
  std::string bytes;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.what; }
class BrokenWire : public testing::TestWithParam<Broken> {};

TEST_P(BrokenWire, IsSaid) {
  WireFault fault;
  const WireMessage message(GetParam().bytes, fault);
  ASSERT_NE(fault.what, nullptr);
  EXPECT_STREQ(fault.what, GetParam().what);
  EXPECT_TRUE(message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenWire,
    testing::Values(Broken{"a field's tag is cut off", "\xff"s}, Broken{"a varint is cut off", "\x08\xff"s},
                    Broken{"a varint is cut off", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s},
                    Broken{"a fixed-width number is cut off", "\x0d\x01\x02"s},
                    Broken{"a fixed-width number is cut off", "\x09\x01\x02\x03\x04"s},
                    Broken{"a field is longer than its message", "\x0a\x05hi"s},
                    Broken{"a field is longer than its message", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s},
                    Broken{"a field has an unknown wire type", "\x0b\x01"s},
                    Broken{"a field's number is out of range", "\x00\x01"s}));

TEST(Wire, ABrokenPartRaisesTheFaultOfTheWhole) {
  WireFault fault;
  const WireMessage message("\x0a\x01\xff\x12\x01\xff", fault);
  EXPECT_EQ(fault.what, nullptr);
  EXPECT_TRUE(message.message(1).empty());
  EXPECT_STREQ(fault.what, "a field's tag is cut off");
}

TEST(Wire, ACutListOfNumbersIsSaid) {
  WireFault fault;
  const WireMessage message("\x0a\x02\x01\xff", fault);
  EXPECT_TRUE(message.integers(1).empty());
  EXPECT_STREQ(fault.what, "a list of numbers is cut off");
}

TEST(Wire, NestingHasALimit) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes = "\x0a" + std::string(1, static_cast<char>(bytes.size())) + bytes;
  WireFault fault;
  WireMessage deep(bytes, fault);
  for (int i = 0; i < 39; ++i) deep = deep.message(1);
  EXPECT_EQ(fault.what, nullptr);
  for (int i = 0; i < 40; ++i) deep = WireMessage("\x0a\x00"s, fault, 60 + i);
  EXPECT_STREQ(fault.what, "messages nested too deeply");
}

}  // namespace
}  // namespace lowtide::engine
