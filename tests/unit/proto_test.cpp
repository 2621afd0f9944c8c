#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ops/verify.h"
#include "text/dump/xla_report.h"
#include "text/hlo.h"
#include "text/proto/hlo_proto.h"
#include "text/proto/proto_attributes.h"
#include "text/proto/proto_report.h"
#include "text/proto/proto_shape.h"
#include "text/proto/proto_sharding.h"

namespace lowtide::engine {
namespace {

using namespace std::string_literals;

const std::filesystem::path kData = LOWTIDE_TEST_DATA;

std::string bytes_of(const std::string& name) {
  std::ifstream file(kData / name, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// Writes protobuf by hand.
struct Writer {
  std::string bytes;
  Writer& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
  Writer& integer(uint32_t number, uint64_t value) { return varint(number << 3).varint(value); }
  Writer& text(uint32_t number, std::string_view value) {
    varint(number << 3 | 2).varint(value.size());
    bytes += value;
    return *this;
  }
  Writer& message(uint32_t number, const Writer& value) { return text(number, value.bytes); }
};

Writer scalar_shape(uint64_t type = 11) { return Writer().integer(2, type); }
Writer instruction(std::string_view name, std::string_view opcode, uint64_t id) {
  return Writer().text(1, name).text(2, opcode).message(3, scalar_shape()).integer(35, id);
}
Writer module_of(const std::vector<Writer>& instructions, uint64_t root) {
  Writer computation;
  computation.text(1, "main");
  for (const Writer& i : instructions) computation.message(2, i);
  computation.integer(5, 7).integer(6, root);
  return Writer().text(1, "m").integer(6, 7).message(3, computation);
}

std::string line_of(const Module& module, std::string_view name) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->name == name) return print_hlo(*i);
    }
  }
  return "no " + std::string(name);
}

TEST(HloProto, ReadsAttributesAsTheTextHasThem) {
  const auto module = parse_hlo_proto(bytes_of("attributes.pb"), "attributes.pb");
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Status verified = verify(**module);
  EXPECT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ((*module)->name, "attributes");
  EXPECT_EQ((*module)->entry->name, "main");
  EXPECT_FALSE((*module)->is_scheduled);
  ASSERT_EQ((*module)->input_output_alias.size(), 2u);
  EXPECT_TRUE((*module)->input_output_alias[1].must_alias);
  ASSERT_EQ((*module)->buffer_donors.size(), 1u);
  EXPECT_EQ((*module)->buffer_donors[0].parameter, 2);
  EXPECT_EQ((*module)->frontend_attributes, R"({mesh={mesh = #sdy.mesh<["x"=2]>},note="a \"b\""})");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"p0", "f32[8,4]{0,1} parameter(0), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}"},
      {"p1", "bf16[6,4]{1,0:T(8,128)(2,1)S(1)} parameter(1), sharding={replicated}"},
      {"small", "s4[3]{0} constant({-8, 0, 7})"},
      {"column", "f32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })"},
      {"pair", "c64[2]{0} constant({(1, -2), (inf, nan)})"},
      {"slice", "slice={[1:7:2], [0:2"},
      {"slice", "metadata={op_name=\"jit(step)/slice\" stack_frame_id=2}"},
      {"padded", "padding=1_1"},
      {"rows",
       "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, "
       "indices_are_sorted=true"},
      {"scattered", "unique_indices=true, to_apply=%add"},
      {"sums", "reduce(%scattered, %zero), dimensions={0}, to_apply=%add"},
      {"loop", "condition=%condition, body=%body, backend_config={\"known_trip_count\":{\"n\":\"5\"}}"},
      {"w", "control-predecessors={%next}"},
      {"all", "replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=%add"},
      {"all", "channel_id=3"},
      {"moved", "source_target_pairs={{0,1},{1,0}}"},
      {"moved", "channel_id=4"},
      {"kernel", "broadcast(%zero), dimensions={}"},
      {"conv", "window={size=3x3 stride=2x2 pad=1_1x0_1 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f"},
      {"conv", "operand_precision={highest,default}"},
      {"dot", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"total", "direction=GE, type=TOTALORDER"},
      {"less", "direction=LT"},
      {"host", R"(custom_call_target="host \"call\"")"},
      {"host", "custom_call_has_side_effect=true"},
      {"host", "output_to_operand_aliasing={{}: (0, {})}"},
      {"host", "api_version=API_VERSION_TYPED_FFI"},
      {"host", "backend_config=\"plain\""},
  };
  for (const auto& [name, words] : expected) {
    const std::string line = line_of(**module, name);
    EXPECT_NE(line.find(words), std::string::npos) << words << "\nis not in\n" << line;
  }
  const auto& stack = (*module)->stack;
  ASSERT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[0].parent, 1);
  EXPECT_EQ(stack.frames[1].parent, 2);
  EXPECT_EQ(stack.files, std::vector<std::string>{"model.py"});
  ASSERT_EQ(stack.locations.size(), 2u);
  EXPECT_EQ(stack.locations[1].line, 12);
  EXPECT_EQ(stack.locations[1].end_column, 9);
}

TEST(HloProto, TheScheduleIsTheOrder) {
  const std::string bytes = bytes_of("dump/module_0002.train_step.cpu_after_optimizations.hlo.pb");
  const auto module = parse_hlo_proto(bytes, "m.pb");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE((*module)->is_scheduled);
  const auto text =
      std::make_shared<Source>(Source{"m.txt", bytes_of("dump/module_0002.train_step.cpu_after_optimizations.txt")});
  const auto same = parse_hlo(text);
  ASSERT_TRUE(same.ok()) << same.status().message();
  ASSERT_EQ((*module)->computations().size(), (*same)->computations().size());
  for (const auto& theirs : (*same)->computations()) {
    const Computation* ours = (*module)->find_computation(theirs->name);
    ASSERT_NE(ours, nullptr) << theirs->name;
    ASSERT_EQ(ours->instructions().size(), theirs->instructions().size());
    for (size_t i = 0; i < ours->instructions().size(); ++i) {
      const HloPrintOptions options{.large_constants = LargeConstants::kShort};
      EXPECT_EQ(print_hlo(*ours->instructions()[i], options), print_hlo(*theirs->instructions()[i], options));
    }
  }
  EXPECT_EQ(summarize_hlo_proto(bytes).module_name, "train_step");
  EXPECT_EQ(summarize_hlo_proto(bytes).instructions, (*same)->instruction_count());
}

TEST(HloProto, AssignmentBesideTheModule) {
  const auto report = report_in_proto(bytes_of("dump/module_0002.train_step.cpu_after_optimizations.hlo.pb"));
  ASSERT_TRUE(report);
  XlaReport text;
  read_buffer_assignment(bytes_of("dump/module_0002.train_step.cpu_after_optimizations-buffer-assignment.txt"), text);
  ASSERT_EQ(report->allocations.size(), text.allocations.size());
  for (size_t i = 0; i < text.allocations.size(); ++i) {
    const auto &ours = report->allocations[i], &theirs = text.allocations[i];
    EXPECT_EQ(ours.number, theirs.number);
    EXPECT_EQ(ours.bytes, theirs.bytes);
    EXPECT_EQ(ours.kind, theirs.kind);
    ASSERT_EQ(ours.values.size(), theirs.values.size()) << i;
  }
  EXPECT_FALSE(report_in_proto(bytes_of("attributes.pb")));
}

TEST(HloProto, FindsTheModuleInItsWrappers) {
  const std::string module = module_of({instruction("p", "parameter", 1)}, 1).bytes;
  EXPECT_TRUE(is_hlo_proto(module));
  EXPECT_TRUE(is_hlo_proto(Writer().text(1, module).bytes));                          // HloProto
  EXPECT_TRUE(is_hlo_proto(Writer().text(1, Writer().text(1, module).bytes).bytes));  // HloSnapshot
  EXPECT_FALSE(is_hlo_proto(""));
  EXPECT_FALSE(is_hlo_proto("HloModule m\n"));
  EXPECT_FALSE(is_hlo_proto(Writer().text(1, "name").message(3, Writer().text(1, "x")).bytes));
  EXPECT_FALSE(is_hlo_proto("\x1f\x8b\x08 and so on"));
}

struct BrokenProto {
  std::string words;
  Writer module;
};
void PrintTo(const BrokenProto& fault, std::ostream* out) { *out << fault.words; }
class HloProtoFault : public testing::TestWithParam<BrokenProto> {};

TEST_P(HloProtoFault, SaysWhatIsWrong) {
  const auto module = parse_hlo_proto(GetParam().module.bytes, "m.pb");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().fault(), Fault::kInput);
  EXPECT_TRUE(module.status().message().starts_with("m.pb: ")) << module.status().message();
  EXPECT_NE(module.status().message().find(GetParam().words), std::string::npos) << module.status().message();
}

const Writer kParameter = instruction("p", "parameter", 1);

Writer array_shape(std::vector<uint64_t> dims, std::vector<uint64_t> minor_to_major, uint64_t tile = 0) {
  Writer shape, layout;
  shape.integer(2, 11);
  for (const uint64_t d : dims) shape.integer(3, d);
  for (const uint64_t d : minor_to_major) layout.integer(1, d);
  if (tile) layout.message(6, Writer().integer(1, tile));
  return shape.message(5, layout);
}
Writer with_shape(const Writer& shape) {
  return module_of(
      {kParameter, Writer().text(1, "q").text(2, "negate").message(3, shape).integer(35, 2).integer(36, 1)}, 2);
}
Writer with_constant(const Writer& literal) {
  return module_of({kParameter, instruction("c", "constant", 2).message(8, literal)}, 2);
}

INSTANTIATE_TEST_SUITE_P(
    All, HloProtoFault,
    testing::Values(
        BrokenProto{"no HLO module", Writer().text(1, "m")},
        BrokenProto{"unknown operation 'frobnicate'", module_of({kParameter, instruction("q", "frobnicate", 2)}, 2)},
        BrokenProto{"refers to instruction 9",
                    module_of({kParameter, instruction("q", "negate", 2).integer(36, 9)}, 2)},
        BrokenProto{"refers to instruction 9",
                    module_of({kParameter, instruction("q", "copy", 2).integer(36, 1).integer(37, 9)}, 2)},
        BrokenProto{"calls computation 3",
                    module_of({kParameter, instruction("q", "call", 2).integer(36, 1).integer(38, 3)}, 2)},
        BrokenProto{"its root 5 is not", module_of({kParameter}, 5)},
        BrokenProto{"the name occurs twice", module_of({kParameter, instruction("p", "negate", 2).integer(36, 1)}, 2)},
        BrokenProto{"its id occurs twice", module_of({kParameter, instruction("q", "negate", 1).integer(36, 1)}, 1)},
        BrokenProto{"there can be no parameter 12", module_of({Writer(kParameter).integer(9, 12)}, 1)},
        BrokenProto{"got -1", module_of({Writer(kParameter).integer(9, UINT64_MAX)}, 1)},
        BrokenProto{"entry computation", Writer(module_of({kParameter}, 1)).integer(6, 8)},
        BrokenProto{"element type", with_shape(scalar_shape(99))},
        BrokenProto{"impossible extent", with_shape(array_shape({uint64_t{1} << 40, uint64_t{1} << 40}, {1, 0}))},
        BrokenProto{"impossible extent", with_shape(array_shape({static_cast<uint64_t>(-7)}, {0}))},
        BrokenProto{"name each dimension once", with_shape(array_shape({2, 3}, {1, 1}))},
        BrokenProto{"name each dimension once", with_shape(array_shape({2, 3}, {0}))},
        BrokenProto{"tile with an impossible extent", with_shape(array_shape({2, 3}, {1, 0}, uint64_t{1} << 60))},
        BrokenProto{"another number of elements",
                    with_constant(Writer().message(1, array_shape({3}, {0})).text(8, std::string(8, '\0')))},
        BrokenProto{"another number of elements",
                    with_constant(Writer().message(1, Writer().integer(2, 13).message(4, scalar_shape())))},
        BrokenProto{"element type", with_constant(Writer())},
        BrokenProto{"malformed", Writer(module_of({kParameter}, 1)).text(17, "\xff")},
        BrokenProto{"the schedule does not name each",
                    Writer(module_of({kParameter}, 1))
                        .message(7, Writer().message(1, Writer().integer(1, 7).message(2, Writer().integer(1, 3))))},
        BrokenProto{"the schedule puts q before p",
                    Writer(module_of({kParameter, instruction("q", "negate", 2).integer(36, 1)}, 2))
                        .message(7, Writer().message(
                                        1, Writer().integer(1, 7).message(2, Writer().integer(1, 2).integer(1, 1))))}));

TEST(HloProto, EveryCutEndsInAFault) {
  const std::string whole = bytes_of("attributes.pb");
  for (size_t n = 0; n < whole.size(); n += 7) {
    const auto module = parse_hlo_proto(std::string_view(whole).substr(0, n), "m.pb");
    if (module.ok()) {
      EXPECT_NE((*module)->entry, nullptr);
    }
  }
}

TEST(HloProto, AConstantWithoutElementsIsUnknown) {
  const auto module = parse_hlo_proto(with_constant(Writer().message(1, array_shape({30}, {0}))).bytes, "m.pb");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_FALSE((*module)->entry->root->as<ConstantAttributes>().value->known());
}

TEST(LiteralProto, SmallIntegersPackedOrNot) {
  WireFault fault;
  const auto values = [&](std::string_view bytes, uint64_t type, uint32_t field) {
    const Writer proto = Writer().message(1, Writer().integer(2, type).integer(3, 3)).text(field, bytes);
    const Value value = literal_from_proto(WireMessage(proto.bytes, fault), fault);
    std::vector<int64_t> all;
    for (int64_t i = 0; value && i < value->size(); ++i) all.push_back(integer_at(*value, i));
    return all;
  };
  EXPECT_EQ(values("\x01\x0e\x03"s, 21, 21), (std::vector<int64_t>{1, -2, 3}));  // s4, one a byte
  EXPECT_EQ(values("\xe1\x03"s, 21, 21), (std::vector<int64_t>{1, -2, 3}));      // two a byte
  EXPECT_EQ(values("\xe1\x03"s, 22, 22), (std::vector<int64_t>{1, 14, 3}));      // u4
  EXPECT_EQ(fault.what, nullptr);
}

TEST(ShardingProto, Texts) {
  const auto text = [](const Writer& proto) {
    WireFault fault;
    return sharding_text(WireMessage(proto.bytes, fault));
  };
  EXPECT_EQ(text(Writer()), "{replicated}");
  EXPECT_EQ(text(Writer().integer(1, 1).integer(4, 3)), "{maximal device=3}");
  EXPECT_EQ(text(Writer().integer(1, 4)), "{manual}");
  EXPECT_EQ(text(Writer().integer(1, 2).message(5, Writer()).message(5, Writer().integer(1, 5))),
            "{{replicated}, {unknown}}");
  EXPECT_EQ(text(Writer().integer(1, 3).integer(3, 2).integer(3, 1).integer(4, 0).integer(4, 1)), "{devices=[2,1]0,1}");
  EXPECT_EQ(text(Writer().integer(1, 3).integer(3, 2).integer(3, 4).integer(9, 8).integer(10, 0).integer(8, 4)),
            "{devices=[2,4]<=[8] last_tile_dims={manual}}");
  const Writer mesh =
      Writer().message(1, Writer().text(1, "x").integer(2, 2)).message(1, Writer().text(1, "y").integer(2, 4));
  const Writer part = Writer().integer(1, 1).message(2, Writer().integer(1, 1).integer(2, 2));
  const Writer named = Writer()
                           .message(2, mesh)
                           .message(3, Writer().message(1, Writer()).integer(2, 0))
                           .message(3, Writer().message(1, part).integer(2, 1))
                           .message(5, Writer().integer(1, 1));
  EXPECT_EQ(text(Writer().message(14, named)), "{mesh['x'=2,'y'=4], [{'x', ?}, {'y':(1)2}], unreduced={'y'}}");
}

TEST(Configs, AreBareOnlyWhenTheirBracesHoldThem) {
  EXPECT_EQ(config_text(R"({"a":{"b":"}"}})"), R"({"a":{"b":"}"}})");
  EXPECT_EQ(config_text("{a = 1 : i32}"), "{a = 1 : i32}");
  EXPECT_EQ(config_text("{} and more"), "\"{} and more\"");
  EXPECT_EQ(config_text("{open"), "\"{open\"");
  EXPECT_EQ(config_text("plain"), "\"plain\"");
}

}  // namespace
}  // namespace lowtide::engine
