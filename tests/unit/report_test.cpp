#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compile/explain.h"
#include "report/arguments.h"
#include "report/columns.h"
#include "report/compare.h"
#include "report/drawing.h"
#include "report/html.h"
#include "report/json.h"
#include "report/like_values.h"
#include "report/origin.h"
#include "report/text.h"
#include "report/trace.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

Input input_of(const std::string& text) {
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  Input input;
  input.module = module.take();
  input.path = "test.hlo";
  return input;
}

// A one-hot lookup: the one-hot is far larger than table and result.
constexpr const char* kOneHot = R"(HloModule lookup
ENTRY main {
  ids = s32[64]{0} parameter(0), metadata={op_name="ids"}
  table = f32[4096,16]{1,0} parameter(1), metadata={op_name="params['embed']"}
  wide = s32[64,4096]{1,0} broadcast(ids), dimensions={0}
  classes = s32[64,4096]{1,0} iota(), iota_dimension=1
  hit = pred[64,4096]{1,0} compare(wide, classes), direction=EQ
  hot = f32[64,4096]{1,0} convert(hit), metadata={op_name="jit(f)/jit(main)/net/embed/one_hot" source_file="/a/net.py" source_line=7}
  ROOT out = f32[64,16]{1,0} dot(hot, table), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

// Momentum: the gradient comes from a dot, m is read by the update alone, w by the forward pass too.
constexpr const char* kMomentum = R"(HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  w = f32[64,64]{1,0} parameter(0), metadata={op_name="state.params['w']"}
  m = f32[64,64]{1,0} parameter(1), metadata={op_name="m['w']"}
  x = f32[32,64]{1,0} parameter(2), metadata={op_name="batch['x']"}
  y = f32[32,64]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[64,64]{1,0} dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  m2 = f32[64,64]{1,0} add(m, g)
  w2 = f32[64,64]{1,0} subtract(w, m2)
  ROOT out = (f32[64,64]{1,0}, f32[64,64]{1,0}) tuple(w2, m2)
}
)";

TEST(Origin, UserScopesDropTracing) {
  EXPECT_EQ(user_scopes("jit(step)/jit(main)/transpose(jvp(Net))/while/body/checkpoint/mlp/wi_0/dot_general"),
            "Net/mlp/wi_0/dot_general");
  EXPECT_EQ(short_scope("jit(step)/jit(main)/transpose(jvp(Net))/while/body/checkpoint/mlp/wi_0/dot_general"),
            "mlp/wi_0");
  EXPECT_EQ(short_scope("jit(f)/jit(main)/mul"), "mul");
  EXPECT_EQ(short_scope("jit(f)/net/attn/bse,ve->bsv/dot_general"), "net/attn");
  EXPECT_EQ(short_scope(""), "");
  EXPECT_EQ(short_scope("((("), "(((");
}

TEST(Arguments, GroupsByPath) {
  EXPECT_EQ(argument_group("state.params['decoder']['w']"), "params");
  EXPECT_EQ(argument_group("state.opt_state[0].mu['params']['w']"), "opt_state");
  EXPECT_EQ(argument_group("data['inputs']"), "batch");
  EXPECT_EQ(argument_group("state.step"), "step");
  EXPECT_EQ(argument_group("kc"), "kc");
  EXPECT_EQ(argument_group(""), "");
}

TEST(Arguments, Donation) {
  const Report report = *explain(input_of(kMomentum), cpu_target());
  ASSERT_EQ(report.arguments.size(), 3u);
  EXPECT_EQ(report.arguments[0].fate, Fate::kDonated);
  EXPECT_EQ(report.arguments[0].result, 0);
  EXPECT_EQ(report.arguments[1].fate, Fate::kCouldBeDonated);
  EXPECT_EQ(report.arguments[1].result, 1);
  EXPECT_EQ(report.arguments[2].fate, Fate::kMustStay);
}

TEST(Category, ParametersStateAndGradientsFromStructure) {
  const Report report = *explain(input_of(kMomentum), cpu_target());
  EXPECT_EQ(report.arguments[0].category, Category::kParameter);
  EXPECT_EQ(report.arguments[1].category, Category::kOptimiserState);
  EXPECT_EQ(report.arguments[2].category, Category::kParameter);
}

TEST(Arguments, PythonsOwnAreToldByPathsAlone) {
  const auto roots = [](const std::string& module, const std::vector<std::string>& paths) {
    std::string text = "HloModule " + module + "\nENTRY main {\n";
    for (size_t k = 0; k < paths.size(); ++k) {
      text += fmt::format("  p{} = f32[8]{{0}} parameter({})", k, k);
      text += paths[k].empty() ? "\n" : fmt::format(", metadata={{op_name=\"{}\"}}\n", paths[k]);
    }
    return python_arguments(*input_of(text + "  ROOT s = f32[8]{0} sine(p0)\n}\n").module);
  };
  using Names = std::vector<PythonArgument>;
  EXPECT_EQ(roots("jit_step", {"state.w", "state.m['a']", "x"}), (Names{{"state"}, {"state"}, {"x"}}));
  EXPECT_EQ(roots("jit_step", {"p[\\'w\\']", "x"}), (Names{{"p"}, {"x"}}));
  EXPECT_EQ(roots("jit_step", {"a[0].w", "a[1]", "x"}), (Names{{"a", false}, {"a", false}, {"x"}}));  // a, or *a
  const Names unknown(3);
  EXPECT_EQ(roots("jit_step", {"x", "y.a", "x"}), unknown);    // no paths of distinct leaves
  EXPECT_EQ(roots("jit_step", {"x.a", "y", "x.b"}), unknown);  // leaves of one tree stand together
  EXPECT_EQ(roots("jit_step", {"x", "", "y"}), unknown);
  EXPECT_EQ(roots("IrToHlo.7", {"x", "y", "z"}), unknown);
}

// A gradient that the free plan holds as another type and in another order isn't gone.
TEST(Cures, ValuesStandUnderOtherNames) {
  const auto row = [](const std::string& shape, int64_t bytes, Category category = Category::kTemporary) {
    PeakRow one;
    one.shape = shape;
    one.bytes = bytes;
    one.category = category;
    return one;
  };
  const PeakRow gradient = row("f32[8,64,128]", 262144, Category::kGradient);
  const auto among = [&](const std::vector<PeakRow>& rows) { return like_values_among(gradient, rows); };
  EXPECT_EQ(among({row("bf16[128,512]", 131072)}), "of its extents at the free plan's peak: bf16[128,512], 128 KiB");
  EXPECT_EQ(among({row("f32[64,8,128]", 262144, Category::kResult)}),
            "of its extents at the free plan's peak: f32[64,8,128], 256 KiB");
  EXPECT_EQ(among({row("f32[64,128]", 32768)}), "of its extents at the free plan's peak: f32[64,128], 32.0 KiB");
  EXPECT_EQ(among({row("f32[32,128]", 262144)}), "");  // maybe its parts
  EXPECT_EQ(among({row("f32[8,64,128]", 262144, Category::kParameter)}),
            "only arguments have its extents at the free plan's peak");
  EXPECT_EQ(among({row("f32[64]", 256), row("f32[1000]", 4000)}), "nothing of its extents at the free plan's peak");
}

// Two copies of a copy: rewriting leaves none of them.
constexpr const char* kCopies = R"(HloModule copies
ENTRY main {
  p = f32[1024]{0} parameter(0)
  a = f32[1024]{0} copy(p)
  b = f32[1024]{0} reverse(a), dimensions={0}
  c = f32[1024]{0} copy(b)
  d = f32[1024]{0} reverse(c), dimensions={0}
  e = f32[1024]{0} add(c, d)
  ROOT f = f32[1024]{0} copy(e)
}
)";

TEST(Report, NeverWorseThanAsGiven) {
  const Report report = *explain(input_of(kCopies), cpu_target());
  EXPECT_LE(report.ours.peak, report.given.peak);
  EXPECT_LE(report.floor_order.bytes, report.ours.peak);
  EXPECT_LE(report.floor_any.bytes, report.floor_order.bytes);
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["peak_bytes"], report.ours.peak);
  EXPECT_EQ(json["input_peak_bytes"], report.given.peak);
}

TEST(Report, RowsAddUpToTheLoad) {
  for (const char* text : {kOneHot, kMomentum}) {
    const Report report = *explain(input_of(text), cpu_target());
    int64_t sum = 0, by_operation = 0;
    for (const PeakRow& row : report.at_peak) sum += row.bytes;
    for (const OperationRow& row : report.by_operation) by_operation += row.bytes;
    const auto held = [](const Sizes& sizes) { return sizes.arguments + sizes.outputs - sizes.alias + sizes.load; };
    EXPECT_EQ(sum, held(report.ours));
    EXPECT_EQ(by_operation, held(report.given));
  }
}

TEST(Text, HundredColumnsAndAscii) {
  for (const char* text : {kOneHot, kMomentum}) {
    const Report report = *explain(input_of(text), cpu_target());
    for (const bool utf8 : {true, false}) {
      const std::string page = to_text(report, {.top = 0, .utf8 = utf8});
      size_t begin = 0;
      while (begin < page.size()) {
        const size_t end = page.find('\n', begin);
        EXPECT_LE(display_width(page.substr(begin, end - begin)), 100u);
        begin = end + 1;
      }
      if (utf8) continue;
      for (const char c : page) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
    }
  }
}

TEST(Text, SaysHowToGetMetadata) {
  const Report report =
      *explain(input_of("HloModule m\nENTRY e {\n  p = f32[8]{0} parameter(0)\n  ROOT n = f32[8]{0} negate(p)\n}\n"),
               cpu_target());
  EXPECT_FALSE(report.has_metadata);
  const std::string page = to_text(report, {});
  EXPECT_NE(page.find("as_text(\"hlo\", debug_info=True)"), std::string::npos);
  EXPECT_EQ(page.substr(0, page.find('\n')), "m · 2 instructions · not scheduled · one device");
}

TEST(Json, CarriesItsSchema) {
  const nlohmann::json json = nlohmann::json::parse(to_json(*explain(input_of(kMomentum), cpu_target())));
  EXPECT_EQ(json["schema_version"], 1);
  for (const char* key : {"module", "instructions", "argument_bytes", "output_bytes", "alias_bytes", "temp_bytes",
                          "peak_bytes", "load_bytes", "floor_order_bytes", "floor_any_bytes", "kernels", "plan_seconds",
                          "input_peak_bytes", "xla_peak_bytes", "by_op", "at_peak", "input_at_peak", "arguments"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key :
       {"value", "shape", "bytes", "born", "dies", "category", "op_name", "source", "why_live", "frees_it"}) {
    EXPECT_TRUE(json["at_peak"][0].contains(key)) << key;
  }
  EXPECT_EQ(json["arguments"][0]["donation"], "donated");
  EXPECT_EQ(json["argument_bytes"], 2 * 64 * 64 * 4 + 32 * 64 * 4);
}

TEST(Page, IsSelfContainedAndEscaped) {
  Report report = *explain(input_of(kOneHot), cpu_target(), /*with_boxes=*/true);
  report.module = "<script>";
  const std::string page = to_html(report);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  const nlohmann::json trace = nlohmann::json::parse(to_trace(report));
  EXPECT_GT(trace["traceEvents"].size(), 4u);
}

TEST(Compare, MatchesByOpName) {
  const Report before = *explain(input_of(kOneHot), cpu_target());
  std::string text = kOneHot;
  for (size_t at = 0; (at = text.find("4096", at)) != std::string::npos;) text.replace(at, 4, "2048");
  const PeakComparison comparison = compare(before, *explain(input_of(text), cpu_target()));
  EXPECT_LT(comparison.growth_percent(), 0);
  ASSERT_FALSE(comparison.differences.empty());
  EXPECT_EQ(comparison.differences[0].key, "net/embed/one_hot");
  EXPECT_EQ(comparison.differences[0].change(), -64 * 2048 * 4);
  EXPECT_TRUE(compare(before, before).differences.empty());
}

TEST(Columns, FitWrapAndPad) {
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit_end("abcdef", 4), "…def");
  EXPECT_EQ(fit_middle("abcdefghij", 6), "ab…hij");
  EXPECT_EQ(pad_left("→", 3), "  →");
  EXPECT_EQ(wrap("a bb ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(to_ascii("a → b…"), "a > b~");
  EXPECT_EQ(to_ascii("ü"), "?");
}

TEST(Drawing, ScalesAndLabels) {
  Curve curve;
  curve.base = 1 << 20;
  for (int s = 0; s < 100; ++s) curve.bytes.push_back(curve.base + (s < 50 ? 0 : 1 << 20));
  curve.phases = {{"forward", 0, 50}, {"update", 50, 100}};
  const auto lines = draw_curve(curve, 100);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_NE(lines[0].find("2.00 MiB ┤"), std::string::npos);
  EXPECT_NE(lines[6].find("forward"), std::string::npos);
  EXPECT_NE(lines[6].find("update"), std::string::npos);
  EXPECT_TRUE(draw_curve(Curve(), 100).empty());
}

}  // namespace
}  // namespace lowtide::engine
