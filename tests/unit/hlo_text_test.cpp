// HLO text in all its dialects: what is read, what is printed, and what is said of text that is wrong.
#include "text/hlo.h"

#include <gtest/gtest.h>

#include <string>

#include "ops/attribute_text.h"

namespace lowtide::engine {
namespace {

Result<std::unique_ptr<Module>> parse(const std::string& text) {
  auto source = std::make_shared<Source>();
  source->name = "m.hlo";
  source->text = text;
  return parse_hlo(source);
}

/// The print of the text; a fault's message where there is one. Checks that printing is a fixpoint.
std::string reprint(const std::string& text) {
  const auto module = parse(text);
  if (!module.ok()) return module.status().message();
  const std::string once = print_hlo(**module);
  const auto again = parse(once);
  EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << once;
  if (again.ok()) {
    EXPECT_EQ(once, print_hlo(**again));
  }
  return once;
}

std::string fault(const std::string& text) {
  const auto module = parse(text);
  return module.ok() ? "no fault" : module.status().message();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A module whose entry is this list of instructions.
std::string entry(const std::string& instructions) { return "HloModule m\n\nENTRY e {\n" + instructions + "\n}\n"; }

/// The text of a constant of this shape after a round trip.
std::string constant(const std::string& shape, const std::string& value) {
  const std::string text = reprint(entry("ROOT c = " + shape + " constant(" + value + ")"));
  const size_t begin = text.find(" constant(");
  if (begin == std::string::npos) return text;
  const size_t open = begin + 10;
  return text.substr(open, text.rfind(")\n}") - open);
}

TEST(HloText, PrintsTheCompiledDialect) {
  EXPECT_EQ(reprint("HloModule jit_f, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n"
                    "region_0.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
                    "ENTRY main.2 {\n  x = f32[2]{0} parameter(0)\n  z = f32[] constant(0)\n"
                    "  r = f32[] reduce(x, z), dimensions={0}, to_apply=region_0.1\n"
                    "  ROOT b = f32[2]{0} broadcast(r), dimensions={}\n}\n"),
            "HloModule jit_f, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\n"
            "%region_0.1 (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
            "  ROOT %s = f32[] add(%a, %b)\n}\n\n"
            "ENTRY %main.2 (x: f32[2]) -> f32[2] {\n  %x = f32[2]{0} parameter(0)\n  %z = f32[] constant(0)\n"
            "  %r = f32[] reduce(%x, %z), dimensions={0}, to_apply=%region_0.1\n"
            "  ROOT %b = f32[2]{0} broadcast(%r), dimensions={}\n}\n\n");
}

TEST(HloText, ReadsEveryDialectAlike) {
  const std::string expected = reprint(
      "HloModule m\n%f (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n  ROOT %n = f32[4]{0} negate(%p)\n}\n"
      "ENTRY %e (x: f32[4]) -> f32[4] {\n  %x = f32[4]{0} parameter(0)\n  ROOT %c = f32[4]{0} call(%x), "
      "to_apply=%f\n}\n");
  // No percent signs, no signatures.
  EXPECT_EQ(expected,
            reprint("HloModule m\nf {\n  p = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(p)\n}\n"
                    "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  ROOT c = f32[4]{0} call(x), to_apply=f\n}\n"));
  // Operand shapes, comments, all on one line; no ENTRY: the last computation; no ROOT: the last instruction.
  EXPECT_EQ(expected, reprint("HloModule m /* a comment } */ // another {\n"
                              "f { p = f32[4]{0} parameter(0) n = f32[4]{0} negate(f32[4]{0} %p) } "
                              "e { x = f32[4]{0} parameter(0) c = f32[4]{0} call(f32[4]{0} x), to_apply=%f }"));
  // The callee after its caller; a signature that disagrees.
  EXPECT_EQ(expected,
            reprint("HloModule m\nENTRY e (y: s32[9]) -> (s32[], s32[]) {\n  x = f32[4]{0} parameter(0)\n"
                    "  ROOT c = f32[4]{0} call(x), to_apply=f\n}\n"
                    "f (p: f32[4]) -> f32[4] {\n  p = f32[4]{0} parameter(0)\n  ROOT n = f32[4]{0} negate(p)\n}\n"));
  EXPECT_TRUE(contains(reprint("ENTRY e {\n  ROOT x = f32[] parameter(0)\n}"), "HloModule e\n"));
  EXPECT_TRUE(
      contains(reprint("ENTRY {\n  ROOT ROOT = f32[] parameter(0)\n}"), "ENTRY %ENTRY (ROOT: f32[]) -> f32[] {\n"));
}

TEST(HloText, ReadsNestedOperationsAndInlineComputations) {
  const std::string nested = reprint(entry(
      "x = f32[4] parameter(0)\n maximum.1 = f32[4] negate(x)\n ROOT a = add(maximum(x, maximum.1), f32[4] abs(x))"));
  EXPECT_TRUE(contains(nested, "%maximum.2 = f32[4] maximum(%x, %maximum.1)")) << nested;
  EXPECT_TRUE(contains(nested, "ROOT %a = f32[4] add(%maximum.2, %abs.1)")) << nested;
  const std::string renamed =
      reprint(entry("x = f32[4] parameter(0)\n a = f32[4] negate(abs(x))\n ROOT abs.1 = f32[4] exponential(a)"));
  EXPECT_TRUE(contains(renamed, "%abs.2 = f32[4] abs(%x)")) << renamed;
  const std::string inlined =
      reprint(entry("x = f32[4] parameter(0)\n z = f32[] constant(0)\n"
                    "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply={ a = f32[] parameter(0)\n"
                    "b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }"));
  EXPECT_TRUE(contains(inlined, "to_apply=%e.inline")) << inlined;
  EXPECT_TRUE(contains(inlined, "%e.inline (a: f32[], b: f32[]) -> f32[] {")) << inlined;
}

TEST(HloText, InfersOmittedShapes) {
  const std::string text = reprint(entry("x = f32[4,2] parameter(0)\n y = multiply(x, x)\n ROOT t = tuple(x, y)"));
  EXPECT_TRUE(contains(text, "%y = f32[4,2] multiply")) << text;
  EXPECT_TRUE(contains(text, "ROOT %t = (f32[4,2], f32[4,2]) tuple(%x, %y)")) << text;
  EXPECT_TRUE(contains(fault(entry("ROOT p = parameter(0)")), "found no shape before 'parameter'"));
}

TEST(HloText, KeepsHeaders) {
  const std::string header =
      "HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }, "
      "buffer_donor={ (1, {1}) }, entry_computation_layout={(f32[], (f32[], f32[]))->(f32[], f32[])}, "
      "allow_spmd_sharding_propagation_to_output={true,false}, unheard_of={a={b=\"}\"}}, replica_count=2, "
      "num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=4]>}}\n\n"
      "FileNames\n1 \"a \\\"b\\\".py\"\n\nFunctionNames\n1 \"f\"\n2 \"g\"\n\nFileLocations\n"
      "1 {file_name_id=1 function_name_id=2 line=14 end_line=15 column=9 end_column=58}\n\n"
      "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n\n";
  const std::string text =
      header +
      "ENTRY %e (a: f32[], b: (f32[], f32[])) -> (f32[], f32[]) {\n  %a = f32[] parameter(0)\n"
      "  %b = (f32[], f32[]) parameter(1)\n  %g = f32[] get-tuple-element(%b), index=0, "
      "metadata={op_name=\"jit(f)/x[\\'y\\']\" stack_frame_id=1}\n  ROOT %t = (f32[], f32[]) tuple(%a, %g)\n}\n\n";
  EXPECT_EQ(text, reprint(text));
  const auto module = parse(text);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->input_output_alias.size(), 2u);
  EXPECT_TRUE((*module)->input_output_alias[1].must_alias);
  EXPECT_EQ((*module)->buffer_donors[0].index, ShapeIndex{1});
  const auto& g = (*module)->entry->instructions()[2];
  EXPECT_EQ(g->metadata.op_name, "jit(f)/x['y']");
  const auto location = (*module)->location_of(*g);
  ASSERT_TRUE(location.has_value());
  EXPECT_EQ(location->file, "a \"b\".py");
  EXPECT_EQ(location->line, 14);
  HloPrintOptions bare;
  bare.metadata = false;
  EXPECT_FALSE(contains(print_hlo(**module, bare), "FileNames"));
}

TEST(HloText, KeepsSharedAttributes) {
  const std::string line =
      "  %n = f32[4,2]{1,0} negate(%x), statistics={visualizing_index=0,a=1.5}, sharding={devices=[2,1]<=[2]}, "
      "frontend_attributes={_k=\"#sdy<@mesh, [{\\\"x\\\"}]>\"}, control-predecessors={%x}, "
      "metadata={op_type=\"neg\" op_name=\"a\" source_file=\"f.py\" source_line=12 source_end_line=13 "
      "profile_type={1}}, "
      "backend_config={\"a\":[1,{\"b\":\"}\"}]}\n";
  const std::string text = reprint(entry("x = f32[4,2]{1,0} parameter(0)\n" + line + "ROOT y = f32[4,2]{1,0} abs(n)"));
  EXPECT_TRUE(contains(text, line)) << text;
  EXPECT_TRUE(contains(reprint("a {\n  ROOT x = f32[] parameter(0)\n}, execution_thread=\"side\"\n"
                               "ENTRY e {\n  ROOT y = f32[] parameter(0)\n}"),
                       "}, execution_thread=\"side\"\n"));
}

TEST(HloText, KeepsShapes) {
  for (const std::string shape : {"f32[]", "f32[3,4]", "f32[3,4]{0,1}", "bf16[256,128]{1,0:T(8,128)(2,1)S(1)}",
                                  "s32[]{:T(128)S(6)}", "s4[8,16]{1,0:E(4)}", "f32[8]{0:S(5)}", "f32[<=8,4]{1,0}",
                                  "f32[?,4]", "token[]", "opaque[]", "()", "((f32[2]{0}), pred[])", "b(f32[4]{0})",
                                  "f32[8,16]{1,0:D(D,C)T(*,128)L(4)#(u32)*(u8)E(32)S(1)SC(0:4,8)P(f32[2]{0})M(16)}",
                                  "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"}) {
    const std::string text = reprint(entry("ROOT p = " + shape + " parameter(0)"));
    EXPECT_TRUE(contains(text, "ROOT %p = " + shape + " parameter(0)\n")) << text;
  }
}

TEST(HloText, KeepsShardings) {
  for (const std::string sharding :
       {"{replicated}", "{maximal device=1}", "{manual}", "{unknown}", "{unreduced}", "{devices=[2,1]0,1}",
        "{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
        "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}", "{replicated shard_as 1}",
        "{unknown shard_like 2}", "{replicated metadata={op_name=\"a\"}}", "{{replicated}, {devices=[2]<=[2]}}",
        "{mesh['x'=2,'y'=2], [{'x'}, {}], replicated={'y'}}", "{mesh['x'=4,'y'=2], [{'x':(2)2}, {'y', ?}]}",
        "{mesh['x'=4,'y'=2], device_ids=([2,4]T(1,0)), [{'x'}, {}]}", "{maximal_mesh[device_id=0]}"}) {
    const std::string text = reprint(entry("ROOT p = f32[4,4] parameter(0), sharding=" + sharding));
    EXPECT_TRUE(contains(text, "parameter(0), sharding=" + sharding + "\n")) << text;
  }
  EXPECT_TRUE(contains(fault(entry("ROOT p = f32[4] parameter(0), sharding={devices=[2]<=[3]}")),
                       "m.hlo:4:40: sharding: the tiles number 2, the devices 3"));
}

TEST(HloText, UnderstandsShardings) {
  const auto of = [](const std::string& text) {
    Result<Sharding> sharding = parse_sharding(text);
    EXPECT_TRUE(sharding.ok()) << sharding.status().message();
    return sharding.ok() ? *sharding : Sharding{};
  };
  const Sharding swapped = of("{devices=[2,2]<=[2,2]T(1,0)}");
  EXPECT_EQ(swapped.devices.ids(), (std::vector<int64_t>{0, 2, 1, 3}));
  const Sharding named = of("{mesh['x'=2,'y'=2], [{'y'}, {}]}");
  EXPECT_EQ(named.parts_of(0), 2);
  EXPECT_EQ(named.parts_of(1), 1);
  EXPECT_EQ(named.tile, (Dims{2, 1, 2}));
  EXPECT_EQ(named.devices.ids(), (std::vector<int64_t>{0, 2, 1, 3}));
  const Sharding minor = of("{mesh['x'=4], [{'x':(2)2}]}");
  EXPECT_EQ(minor.devices.ids(), (std::vector<int64_t>{0, 2, 1, 3}));
  const auto groups = parse_replica_groups("mesh['x'=2,'y'=2] {'x'}");
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->groups, (std::vector<std::vector<int64_t>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(parse_replica_groups("[2,2]<=[2,2]T(1,0)")->groups, groups->groups);
  EXPECT_EQ(parse_replica_groups("{{0,2},{1,3}}")->groups, groups->groups);
  EXPECT_EQ(parse_replica_groups("{}")->group_size, 0);
}

TEST(HloText, ReadsGroupsWithGaps) {
  const std::string text =
      reprint(entry("x = f32[4] parameter(0)\n"
                    "a = f32[16] all-gather(x), replica_groups=mesh['axis_0'=4,'axis_1'=1] {'axis_0'}, dimensions={0}\n"
                    "ROOT b = f32[16] all-gather(x), replica_groups=[1,4] <= [2,2] T(1,0), dimensions={0}"));
  EXPECT_TRUE(contains(text, "replica_groups=mesh['axis_0'=4,'axis_1'=1] {'axis_0'}, dimensions={0}")) << text;
  EXPECT_TRUE(contains(text, "dimensions={0}\n}")) << text;
}

TEST(HloText, KeepsConstantsOfCustomCalls) {
  for (const std::string literal :
       {"s32[2]{0} {1, 2}", "f32[] 0.1", "pred[] true", "( s32[4]{0} {4, 1, 1, 3}, f32[] -1 )"}) {
    const std::string line = " custom-call(%x), custom_call_target=\"t\", literal=" + literal + "\n";
    const std::string text = reprint(entry("x = f32[4] parameter(0)\nROOT c = f32[4]" + line));
    EXPECT_TRUE(contains(text, "ROOT %c = f32[4]" + line)) << text;
  }
}

TEST(HloText, ReadsAsyncSugar) {
  const std::string text = reprint(entry(
      "x = f32[4] parameter(0)\n"
      "s = ((f32[4]), f32[4], s32[]) custom-call-start(x), custom_call_target=\"t\", async_execution_thread=\"a\"\n"
      "u = ((f32[4]), f32[4], s32[]) custom-call-update(s)\n"
      "ROOT d = f32[4] custom-call-done(u)"));
  EXPECT_TRUE(contains(text, "custom-call-start(%x), custom_call_target=\"t\", async_execution_thread=\"a\"")) << text;
  EXPECT_TRUE(contains(text, "%u = ((f32[4]), f32[4], s32[]) custom-call-update(%s)")) << text;
  EXPECT_TRUE(contains(text, "ROOT %d = f32[4] custom-call-done(%u)")) << text;
}

TEST(HloText, PrintsTheFewestDigits) {
  EXPECT_EQ(constant("f32[4]", "{1e6, 123456, 0.1, 16777217}"), "{1e+06, 123456, 0.1, 16777216}");
  EXPECT_EQ(constant("f32[4]", "{-0, 3.4028235e38, 1e-45, 1e-5}"), "{-0.0, 3.4028235e+38, 1e-45, 1e-05}");
  EXPECT_EQ(constant("f32[5]", "{nan, -nan, inf, -inf, nan(0x1)}"), "{nan, -nan, inf, -inf, nan(0x1)}");
  EXPECT_EQ(constant("f64[3]", "{0.1, 1e15, 123456789012}"), "{0.1, 1e+15, 123456789012}");
  EXPECT_EQ(constant("bf16[3]", "{3.141, 1e38, 0.1}"), "{3.14, 1e+38, 0.1}");
  EXPECT_EQ(constant("f16[3]", "{65504, 6.1e-5, 1000}"), "{65500, 6.1e-05, 1000}");
  EXPECT_EQ(constant("f8e4m3fn[3]", "{448, nan, -nan}"), "{450, nan, -nan}");
  EXPECT_EQ(constant("f8e5m2[3]", "{inf, nan(0x1), 0.1}"), "{inf, nan(0x1), 0.09}");
  EXPECT_EQ(constant("f8e8m0fnu[2]", "{4, 0.5}"), "{4, 0.5}");
  EXPECT_EQ(constant("f4e2m1fn[3]", "{0.5, 6, -1.5}"), "{0.5, 6, -1.5}");
  EXPECT_EQ(constant("c64[2]", "{(1, -0), (nan(0x1),inf)}"), "{(1, -0.0), (nan(0x1), inf)}");
}

TEST(HloText, RoundsConstantsOnce) {
  // Just above a tie of bf16 by less than a double sees, and the tie itself, which goes to even.
  EXPECT_EQ(constant("bf16[2]", "{1.00390625000000000000000001, 1.00390625}"), "{1.01, 1}");
  EXPECT_EQ(constant("bf16[2]", "{1.01171875, 1.01171874999999999999999999}"), "{1.016, 1.01}");
  EXPECT_EQ(constant("f16[2]", "{1.00048828125000000000000001, 1.00048828125}"), "{1.001, 1}");
  // Just above a tie of f32, which a double can't tell from it.
  EXPECT_EQ(constant("f32[2]", "{1.000000059604644775390626, 1.000000059604644775390625}"), "{1.0000001, 1}");
}

TEST(HloText, ReadsConstants) {
  EXPECT_EQ(constant("pred[]", "1"), "true");
  EXPECT_EQ(constant("pred[3]", "{true, 0, 1}"), "{1, 0, 1}");
  EXPECT_EQ(constant("s32[2,1,2]{0,1,2}", "{{{1 2}} {{3,-4}}}"), "{ { { 1, 2 } }, { { 3, -4 } } }");
  EXPECT_EQ(constant("s4[2]", "{-8,7}"), "{-8, 7}");
  EXPECT_EQ(constant("u64[]", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(constant("u64[]", "-1"), "18446744073709551615");
  EXPECT_EQ(constant("f32[0]", "{}"), "{}");
  EXPECT_EQ(constant("f32[2,0]", "{{},{}}"), "{ {}, {} }");
  EXPECT_EQ(constant("f32[100]", "{...}"), "{...}");
  EXPECT_EQ(constant("(f32[], s32[2], ())", "(1, {2, 3}, ())"), "(1, {2, 3}, ())");
  EXPECT_EQ(constant("f32[2]{0}", "{ /*i0=0*/ 1, 2 }"), "{1, 2}");
  const auto unknown = parse(entry("ROOT c = f32[100] constant({...})"));
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE((*unknown)->entry->root->as<ConstantAttributes>().value->known());
  HloPrintOptions brief;
  brief.large_constants = LargeConstants::kShort;
  const auto eleven = parse(entry("ROOT c = s32[11] constant({0,1,2,3,4,5,6,7,8,9,10})"));
  ASSERT_TRUE(eleven.ok());
  EXPECT_EQ(print_hlo(*(*eleven)->entry->root, brief), "%c = s32[11] constant({...})");
}

TEST(HloText, RefusesWrongConstants) {
  const auto place = [](const std::string& shape, const std::string& value) {
    return fault(entry("ROOT c = " + shape + " constant(" + value + ")"));
  };
  EXPECT_TRUE(contains(place("s32[]", "4294967296"), "found '4294967296', expected an integer within the range"));
  EXPECT_TRUE(contains(place("u32[]", "-1"), "an integer within the range"));
  EXPECT_TRUE(contains(place("s32[]", "1.5"), "expected an integer"));
  EXPECT_TRUE(contains(place("f32[]", "1e100"), "a number within the range"));
  EXPECT_TRUE(contains(place("f16[]", "70000"), "a number within the range"));
  EXPECT_TRUE(contains(place("f32[]", "x"), "m.hlo:4:25: found 'x', expected a number"));
  EXPECT_TRUE(contains(place("f32[2]", "{1}"), "m.hlo:4:28: found 1 entries, expected 2 in dimension 0"));
  EXPECT_TRUE(contains(place("f32[2]", "{1,2,3}"), "expected '}' behind 2 elements"));
  EXPECT_TRUE(contains(place("f32[1000000000]", "{1}"), "expected 1000000000 elements"));
  EXPECT_TRUE(contains(place("f32[2]", "{1,2}}"), "}"));
  EXPECT_TRUE(contains(place("f4e2m1fn[]", "nan"), "this type has no NaN"));
}

TEST(HloText, PointsAtFaults) {
  EXPECT_EQ(fault(entry("x = f32[4] parametre(0)")),
            "m.hlo:4:12: found 'parametre', expected an operation, did you mean 'parameter'?\n"
            "  x = f32[4] parametre(0)\n             ^");
  const auto at = [](const std::string& instructions, const std::string& message) {
    const std::string found = fault(entry(instructions));
    EXPECT_TRUE(contains(found, message)) << found;
  };
  at("x = f33[4] parameter(0)", "m.hlo:4:5: found 'f33', expected an element type");
  at("x = f32[4 parameter(0)", "m.hlo:4:11: found 'parameter', expected ',' or ']'");
  at("x = f32[4]{1} parameter(0)", "m.hlo:4:11: the layout of an array of 1 dimensions must name each of them once");
  at("x = f32[4] parameter(0)\nx = f32[4] negate(x)", "m.hlo:5:1: 'x' is defined twice in computation 'e'");
  at("arg = f32[4] parameter(0)\ny = f32[4] negate(ara)",
     "m.hlo:5:19: no instruction before this one in computation 'e' is named 'ara', did you mean 'arg'?");
  at("y = f32[4] negate(x)\nx = f32[4] parameter(0)", "m.hlo:4:19: no instruction before this one");
  at("x = f32[4] parameter(0)\ny = f32[4] call(x), to_apply=f", "m.hlo:5:30: no computation is named 'f'");
  at("x = f32[4] parameter(0), a=1, a=2", "m.hlo:4:31: attribute 'a' is given twice");
  at("x = f32[4] parameter(0), a={(}", "a value for 'a', with matching brackets");
  at("x = f32[4] parameter(1)", "m.hlo:4:1: found parameter(1), expected the parameters to be numbered 0, 1, 2");
  at("x = f32[] parameter(0)\ny = f32[] parameter(0)", "found a second parameter(0)");
  at("x = f32[] parameter(-1)", "parameter(-1)");
  at("x = f32[] parameter(99999999999999)", "parameter(99999999999999)");
  at("ROOT x = f32[] parameter(0)\nROOT y = f32[] negate(x)", "m.hlo:5:6: found a second ROOT");
  at("x = f32[] parameter(0)\ny = f32[] add(x)", "m.hlo:5:11: add: found 1 operand, expected 2");
  at("x = f32[4294967296,4294967296,0] parameter(0)", "m.hlo:4:5: this array has more than 1 PiB");
  at("x = f32[-1] parameter(0)", "found the extent -1");
  at("x = s32[4] iota(3), iota_dimension=0", "m.hlo:4:17: iota takes no operands, expected ')'");
  at("x = f32[4]{99999999999999999999} parameter(0)", "m.hlo:4:12: found '99999999999999999999', expected a dimension");
  EXPECT_TRUE(contains(fault(""), "m.hlo:1:1: found the end of the text, expected 'HloModule' or a computation"));
  EXPECT_TRUE(contains(fault("HloModule m\n"), "expected a computation"));
  EXPECT_TRUE(contains(fault("HloModule m\nENTRY e {\n"), "computation 'e' has no closing '}'"));
  EXPECT_TRUE(contains(fault("HloModule m\nENTRY e {\n}"), "computation 'e' has no instructions"));
  EXPECT_TRUE(contains(fault("HloModule m\nENTRY e {\nx = f32[] parameter(0)\n}\nENTRY f {\nx = f32[] parameter(0)\n}"),
                       "m.hlo:5:7: found a second ENTRY"));
  EXPECT_TRUE(contains(fault("HloModule m\ne {\nx = f32[] parameter(0)\n}\ne {\nx = f32[] parameter(0)\n}"),
                       "m.hlo:5:1: computation 'e' is defined twice"));
  EXPECT_TRUE(contains(fault("HloModule m\ne {\nx = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=e\n}"),
                       "computation 'e' calls itself"));
  EXPECT_TRUE(contains(fault("HloModule m, input_output_alias={ {0}: (0, {}) }\ne {\nx = f32[] parameter(0)\n}"),
                       "m.hlo:1:14: input_output_alias: the result has no element {0}"));
  EXPECT_TRUE(contains(fault("HloModule m, num_partitions=0\n"), "m.hlo:1:29: num_partitions: found '0'"));
}

TEST(HloText, SurvivesDeepNesting) {
  const std::string deep(100'000, '(');
  EXPECT_TRUE(contains(fault(entry("x = " + deep)), "nested"));
  EXPECT_TRUE(contains(fault("HloModule m, a=" + deep), "matching brackets"));
  std::string operands;
  for (int i = 0; i < 10'000; ++i) operands += "negate(";
  EXPECT_TRUE(contains(fault(entry("x = f32[] parameter(0)\ny = f32[] " + operands)), "nested"));
  std::string sharding;
  for (int i = 0; i < 10'000; ++i) sharding += '{';
  for (int i = 0; i < 10'000; ++i) sharding += '}';
  EXPECT_TRUE(contains(fault(entry("x = f32[] parameter(0), sharding=" + sharding)), "nested"));
  std::string calls = "HloModule m\nc0 { ROOT x = f32[] parameter(0) }\n";
  for (int i = 1; i < 5'000; ++i) {
    calls += "c" + std::to_string(i) + " { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=c" +
             std::to_string(i - 1) + " }\n";
  }
  EXPECT_TRUE(contains(fault(calls), "more than 200 deep"));
}

TEST(HloText, NumbersOfAttributesMayBeInfinite) {
  const std::string text = entry(R"(x = f32[3,2] parameter(0)
  s = f32[2] parameter(1)
  ROOT y = f32[3,2] batch-norm-inference(x, s, s, s, s), epsilon=inf, feature_index=1)");
  EXPECT_EQ(fault(text), "no fault");
  EXPECT_TRUE(contains(reprint(text), "epsilon=inf")) << reprint(text);
}

}  // namespace
}  // namespace lowtide::engine
