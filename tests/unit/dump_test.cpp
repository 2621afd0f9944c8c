#include <gtest/gtest.h>

#include "text/dump/dump_files.h"
#include "text/dump/xla_report.h"

namespace lowtide::engine {
namespace {

TEST(XlaReport, MemoryUsageTakesTheMainMemory) {
  XlaReport report;
  read_memory_usage(
      "Memory Space: collective (color=1)\nTotal bytes: 77 (77B)\n\nMemory Space: default (color=0)\nTotal bytes: "
      "150798372 "
      "(143.81MiB)\n",
      report);
  EXPECT_EQ(report.total_bytes, 150798372);
}

TEST(XlaReport, BufferAssignment) {
  XlaReport report;
  read_buffer_assignment(
      "BufferAssignment:\n"
      "allocation 0: size 64, parameter 3, shape |f32[4,4]| at ShapeIndex {}, output shape is |f32[4,4]|, "
      "maybe-live-out:\n"
      " value: <19 params.1 @0> (size=64,offset=0): f32[4,4]{1,0}\n"
      "allocation 1: size 8, color 1, constant:\n"
      "allocation 2: size 16, thread-local:\n"
      "allocation 12: size 2048, preallocated-temp:\n"
      " value: <2498 wide.arg_tuple.5{1,0} (phi) @0> (size=1024,offset=512): f32[16,16]{1,0}\n"
      " value: <2619 while.140{} (phi) @0> (size=16,offset=0): (s32[], f32[4])\n",
      report);
  ASSERT_EQ(report.allocations.size(), 4u);
  EXPECT_EQ(report.allocations[0].kind, "parameter 3, maybe-live-out");
  EXPECT_EQ(report.allocations[1].kind, "constant");
  EXPECT_EQ(report.allocations[1].color, 1);
  EXPECT_EQ(report.allocations[2].kind, "thread-local");
  const auto& temp = report.allocations[3];
  EXPECT_EQ(temp.number, 12);
  EXPECT_EQ(temp.bytes, 2048);
  EXPECT_EQ(temp.kind, "preallocated-temp");
  ASSERT_EQ(temp.values.size(), 2u);
  EXPECT_EQ(temp.values[0].name, "wide.arg_tuple.5");
  EXPECT_EQ(temp.values[0].index, (ShapeIndex{1, 0}));
  EXPECT_EQ(temp.values[0].bytes, 1024);
  EXPECT_EQ(temp.values[0].offset, 512);
  EXPECT_EQ(temp.values[0].shape, "f32[16,16]{1,0}");
  EXPECT_EQ(temp.values[1].name, "while.140");
  EXPECT_TRUE(temp.values[1].index.empty());
  EXPECT_EQ(allocated_bytes(report), 64 + 16 + 2048);  // without the other memory space
}

TEST(XlaReport, LiveRange) {
  XlaReport report;
  read_live_range(
      "HloLiveRange (max 3):\n  InstructionSequence:\n    0:p\n    1:while.1\n    2:tuple\n  BufferLiveRange:\n"
      "    p{}:0-3\n    while.1{0,1}:1-2\n  Live ranges at 1 (peak):\n    p{}: 16 bytes (cumulative: 16 bytes)\n",
      report);
  EXPECT_EQ(report.sequence, (std::vector<std::string>{"p", "while.1", "tuple"}));
  ASSERT_EQ(report.live_ranges.size(), 2u);
  EXPECT_EQ(report.live_ranges[1].name, "while.1");
  EXPECT_EQ(report.live_ranges[1].index, (ShapeIndex{0, 1}));
  EXPECT_EQ(report.live_ranges[1].born, 1);
  EXPECT_EQ(report.live_ranges[1].dies, 2);
  EXPECT_EQ(report.peak_position, 1);
}

TEST(XlaReport, NonsenseIsSkipped) {
  XlaReport report;
  read_buffer_assignment("allocation x: size\nallocation 1: size 99999999999999999999999\n value: <\n value: <1 a",
                         report);
  read_live_range("InstructionSequence:\n99:x\n:\nBufferLiveRange:\n:::\nx{:-\n{}:1-2\n", report);
  read_memory_usage("Total bytes: many\n", report);
  EXPECT_TRUE(report.allocations.empty());
  EXPECT_TRUE(report.sequence.empty());
  EXPECT_TRUE(report.live_ranges.empty());
  EXPECT_FALSE(report.total_bytes);
  EXPECT_FALSE(allocated_bytes(report));
}

TEST(XlaReport, KindsByTheFirstLine) {
  EXPECT_EQ(report_kind("BufferAssignment:\nallocation 0"), ReportKind::kBufferAssignment);
  EXPECT_EQ(report_kind("HloLiveRange (max 26):"), ReportKind::kLiveRange);
  EXPECT_EQ(report_kind("Memory Space: default (color=0)\n"), ReportKind::kMemoryUsage);
  EXPECT_EQ(report_kind("\nTotal bytes used: 150798372 (143.81MiB)\n\nUsed values:\n<154 param @0>"), std::nullopt);
  EXPECT_EQ(report_kind("HloModule m"), std::nullopt);
  EXPECT_EQ(report_kind(""), std::nullopt);
}

TEST(DumpFiles, GroupsByXlasNames) {
  EXPECT_EQ(group_of("module_0004.jit_f.before_optimizations.txt"), "module_0004.jit_f");
  EXPECT_EQ(group_of("module_0004.jit_f.0013.copy-insertion.after_x.hlo.pb"), "module_0004.jit_f");
  EXPECT_EQ(group_of("rank3-module_12.step.sm_9.0_gpu_after_optimizations.txt"), "rank3-module_12.step");
  EXPECT_EQ(group_of("module_x.txt"), "");
  EXPECT_EQ(group_of("before.hlo"), "");
}

std::optional<DumpFile> classify(std::string_view name, std::string_view head) {
  return classify_dump_file("d/" + std::string(name), name, head);
}

TEST(DumpFiles, StagesInOrder) {
  const std::string_view text = "HloModule jit_f, entry_computation_layout={()->f32[]}\n";
  const auto before = classify("module_0001.jit_f.before_optimizations.txt", text);
  const auto pass = classify("module_0001.jit_f.0013.copy-insertion.after_x.txt", text);
  const auto later = classify("module_0001.jit_f.0102.fusion.after_y.txt", text);
  const auto after = classify("module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", text);
  ASSERT_TRUE(before && pass && later && after);
  EXPECT_LT(before->stage, pass->stage);
  EXPECT_LT(pass->stage, later->stage);
  EXPECT_LT(later->stage, after->stage);
  EXPECT_EQ(before->stage_name, "before optimizations");
  EXPECT_EQ(after->stage_name, "after optimizations");
  EXPECT_EQ(after->stem, "module_0001.jit_f.sm_9.0_gpu_after_optimizations");
  const auto report =
      classify("module_0001.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt.gz", "BufferAssignment:\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->report, ReportKind::kBufferAssignment);
  EXPECT_EQ(report->stem, after->stem);
}

TEST(DumpFiles, StagesOfAProgramShareItsSignature) {
  const auto before =
      classify("a", "HloModule jit_f, entry_computation_layout={(f32[2,3]{1,0})->(f32[2]{0}, s32[])}\n");
  const auto after = classify(
      "b",
      "HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2,3]{0,1:T(8,128)})->(f32[2]{0}, s32[])}\n");
  const auto other = classify("c", "HloModule jit_f, entry_computation_layout={(f32[2,4]{1,0})->(f32[2]{0}, s32[])}\n");
  ASSERT_TRUE(before && after && other);
  EXPECT_EQ(before->program, "jit_f(f32[2,3])->(f32[2], s32[])");
  EXPECT_EQ(before->program, after->program);
  EXPECT_NE(before->program, other->program);
}

TEST(DumpFiles, RenamedFilesByTheirContents) {
  const auto plain = classify("what I sent", "HloModule jit_step, is_scheduled=true\n");
  const auto unscheduled = classify("other.hlo", "// mine\nHloModule jit_step\n");
  ASSERT_TRUE(plain && unscheduled);
  EXPECT_EQ(plain->program, "jit_step");
  EXPECT_GT(plain->stage, unscheduled->stage);
  EXPECT_FALSE(classify("notes.txt", "to do: look at the HloModule dumps\n"));
  EXPECT_FALSE(classify("empty.txt", ""));
  EXPECT_FALSE(classify("core", std::string_view("\x7f\x45LF\0\0", 6)));
}

}  // namespace
}  // namespace lowtide::engine
