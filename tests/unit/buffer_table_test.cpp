#include <gtest/gtest.h>

#include "plan/csv.h"

namespace lowtide::engine {
namespace {

std::string fault_of(std::string_view text) {
  const Result<BufferTable> table = parse_buffer_table("b.csv", text);
  return table.ok() ? "" : table.status().message();
}

TEST(BufferTable, IsReadAndPrintedWithOffsets) {
  const auto table =
      parse_buffer_table("b.csv", "id,lower,upper,size,offset,note\r\na,100,105,8,7,x\n\nb,102,110,16,7,\n");
  ASSERT_TRUE(table.ok()) << table.status().message();
  ASSERT_EQ(table->problem.buffers.size(), 2u);
  EXPECT_EQ(table->problem.buffers[1].size, 16);
  EXPECT_EQ(table->problem.buffers[1].alive[0].born, 2);
  EXPECT_EQ(table->problem.buffers[1].alive[0].dies, 10);
  EXPECT_EQ(print_buffer_table(*table, {{0, 8}, 24}),
            "id,lower,upper,size,note,offset\na,100,105,8,x,0\nb,102,110,16,,8\n");
}

TEST(BufferTable, EndIsTheLastStepAlive) {
  const auto table = parse_buffer_table("b.csv", "buffer_id,start,end,size\n0,0,4,8\n1,5,5,8\n");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->problem.buffers[0].alive[0].dies, 5);
  EXPECT_EQ(table->problem.buffers[1].alive[0].born, 5);
  EXPECT_EQ(table->problem.buffers[1].alive[0].dies, 6);
}

TEST(BufferTable, GapsAreTakenOutOfALife) {
  const auto table = parse_buffer_table("b.csv", "id,lower,upper,size,alignment,gaps\n0,0,20,8,64,12-14 3-5\n");
  ASSERT_TRUE(table.ok()) << table.status().message();
  const PackBuffer& buffer = table->problem.buffers[0];
  EXPECT_EQ(buffer.alignment, 64);
  ASSERT_EQ(buffer.alive.size(), 3u);
  EXPECT_EQ(buffer.alive[0].dies, 3);
  EXPECT_EQ(buffer.alive[1].born, 5);
  EXPECT_EQ(buffer.alive[1].dies, 12);
  EXPECT_EQ(buffer.alive[2].born, 14);
}

TEST(BufferTable, KeepsTheOrderOfStepsThatAreFarApart) {
  const auto table = parse_buffer_table("b.csv", "id,lower,upper,size\n0,-900000000000,5,8\n1,5,900000000000,8\n");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->problem.buffers[0].alive[0].dies, table->problem.buffers[1].alive[0].born);
}

TEST(BufferTable, FaultsNameTheLineAndWhatIsWrong) {
  EXPECT_EQ(fault_of(""), "b.csv: the table is empty: expected id,lower,upper,size");
  EXPECT_EQ(fault_of("id,lower,size\n"), "b.csv:1: no column 'upper': expected id,lower,upper,size");
  EXPECT_EQ(fault_of("id,lower,upper,size,size\n"), "b.csv:1: column 'size' is there twice");
  EXPECT_EQ(fault_of("id,id,lower,upper,size\n"), "b.csv:1: column 'id' is there twice");
  EXPECT_EQ(fault_of("id,lower,upper,size\n0,1,2\n"), "b.csv:2: expected 4 columns, found 3");
  EXPECT_EQ(fault_of("id,lower,upper,size\n\n0,1,x,8\n"), "b.csv:3: expected a number for upper, found 'x'");
  EXPECT_EQ(fault_of("id,lower,upper,size\n0,2,2,8\n"), "b.csv:2: buffer '0' dies before it is born");
  EXPECT_EQ(fault_of("id,lower,upper,size\n0,1,2,-8\n"), "b.csv:2: size -8 is too small");
  EXPECT_EQ(fault_of("id,lower,upper,size\n0,1,2,99999999999999999999\n"),
            "b.csv:2: expected a number for size, found '99999999999999999999'");
  EXPECT_EQ(fault_of("id,lower,upper,size\n0,1,2,8\n0,1,2,8\n"), "b.csv:3: id '0' is there twice");
  EXPECT_EQ(fault_of("id,lower,upper,size,alignment\n0,1,2,8,3\n"), "b.csv:2: alignment 3 is no power of two");
  EXPECT_EQ(fault_of("id,lower,upper,size,gaps\n0,1,9,8,3\n"), "b.csv:2: expected a gap as 5-7, found '3'");
  EXPECT_EQ(fault_of("id,lower,upper,size,gaps\n0,1,9,8,3-10\n"),
            "b.csv:2: gap 3-10 isn't within the life of the buffer");
}

}  // namespace
}  // namespace lowtide::engine
