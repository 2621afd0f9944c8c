#include "text/module_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/bytecode.h"
#include "text/hlo.h"
#include "text/proto/hlo_proto.h"
#include "text/stablehlo.h"
#include "text/stablehlo/sections.h"

namespace lowtide::engine {
namespace {

constexpr std::string_view kBlank = " \t\r\n\f\v";

/// The text after leading blanks, `//` comments and `/* */` comments.
std::string_view skip_comments(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const size_t end = text.find("*/");
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else {
      return text;
    }
  }
}

/// Bytes with a zero byte, or with many control characters, aren't text.
bool is_binary(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  const auto odd = std::ranges::count_if(
      head, [](char c) { return static_cast<unsigned char>(c) < 0x20 && kBlank.find(c) == std::string_view::npos; });
  return head.find('\0') != std::string_view::npos || static_cast<size_t>(odd) * 20 > head.size();
}

bool name_ends_in(std::string_view name, std::string_view ending) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(ending);
}

}  // namespace

ModuleForm form_of(std::string_view bytes, std::string_view name, bool whole) {
  if (is_bytecode(bytes) || is_exported(bytes)) return ModuleForm::kBytecode;
  const std::string_view text = skip_comments(bytes);
  if (text.starts_with("HloModule")) return ModuleForm::kHloText;
  if (text.starts_with("builtin.module") || text.starts_with("\"builtin.module\"")) return ModuleForm::kStableHlo;
  if (text.starts_with("module") || text.starts_with('#') || text.starts_with("func.func")) {
    // HLO text may also begin with a computation called `module`; then a brace or a signature follows.
    const std::string_view after = skip_comments(text.substr(std::min<size_t>(6, text.size())));
    const bool named = text.starts_with("module") && (after.starts_with("@") || after.starts_with("attributes"));
    if (named || text.find("func.func") != text.npos || name_ends_in(name, ".mlir")) return ModuleForm::kStableHlo;
  }
  if (whole && is_hlo_proto(bytes)) return ModuleForm::kHloProto;
  if (bytes.empty() || is_binary(bytes)) return ModuleForm::kNone;
  if (name_ends_in(name, ".mlir")) return ModuleForm::kStableHlo;
  // Without a header the first line opens a computation.
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool opens = line.find('{') != std::string_view::npos &&
                     (text.starts_with("ENTRY") || text.starts_with("%") || name_ends_in(name, ".hlo"));
  return opens ? ModuleForm::kHloText : ModuleForm::kNone;
}

Result<std::unique_ptr<Module>> parse_module(std::string bytes, const std::string& name, const ProgramChoice& choice,
                                             std::shared_ptr<Context> context) {
  const auto fault = [&](std::string_view what) { return Status::input(fmt::format("{}: {}", name, what)); };
  if (skip_comments(bytes).empty()) return fault(bytes.empty() ? "the file is empty" : "the file holds no program");
  const ModuleForm form = form_of(bytes, choice.given() ? name.substr(0, name.rfind('#')) : name, true);
  const bool has_functions = form == ModuleForm::kStableHlo || (form == ModuleForm::kBytecode && choice.number == 0);
  if (choice.given() && !has_functions) return fault("holds one program, expected no '#' behind its name");
  switch (form) {
    case ModuleForm::kHloProto: return parse_hlo_proto(bytes, name, std::move(context));
    case ModuleForm::kStableHlo:
      LT_RETURN_IF_ERROR(choose_section(bytes, choice.number, name));
      return parse_stablehlo(std::make_shared<const Source>(Source{name, std::move(bytes)}), choice.function,
                             std::move(context));
    case ModuleForm::kBytecode: {
      std::string_view artifact = bytes;
      if (!is_bytecode(bytes)) {
        LT_ASSIGN_OR_RETURN(artifact, bytecode_of_exported(bytes, name));
      }
      return parse_bytecode(artifact, name, choice.function, std::move(context));
    }
    case ModuleForm::kNone:
      if (is_binary(bytes)) {
        return fault("neither HLO text nor an HLO protobuf (HloProto, HloModuleProto), nor MLIR bytecode");
      }
      break;  // the HLO parser reports the line and column of the error
    case ModuleForm::kHloText: break;
  }
  return parse_hlo(std::make_shared<const Source>(Source{name, std::move(bytes)}), std::move(context));
}

}  // namespace lowtide::engine
