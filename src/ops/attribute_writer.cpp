#include <fmt/format.h>

#include "ops/attribute_text.h"
#include "ops/literal_text.h"

namespace lowtide::engine {
namespace {

void append_dims(std::string& out, const Dims& dims) {
  out += '{';
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(dims[i]);
  }
  out += '}';
}

/// `2x3`, the form of lists in windows.
std::string crossed(const Dims& values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += 'x';
    out += std::to_string(values[i]);
  }
  return out;
}

bool all_equal(const Dims& values, int64_t to) {
  for (const int64_t value : values) {
    if (value != to) return false;
  }
  return true;
}

}  // namespace

void AttributeWriter::payload(std::string_view value) {
  if (payload_) payload_->append(value);
}

void AttributeWriter::payload(const Literal& value) {
  if (payload_) print_literal(value, large_constants_, *payload_);
}

void AttributeWriter::text(std::string_view key, std::string_view value) {
  out_.append(", ").append(key).append("=").append(value);
}

void AttributeWriter::integer(std::string_view key, int64_t value) { text(key, std::to_string(value)); }
void AttributeWriter::boolean(std::string_view key, bool value) { text(key, value ? "true" : "false"); }
void AttributeWriter::string(std::string_view key, std::string_view value) { text(key, quote(value)); }

void AttributeWriter::dims(std::string_view key, const Dims& value) {
  text(key, "");
  append_dims(out_, value);
}

void AttributeWriter::computation(std::string_view key, const Computation& value) {
  text(key, "%");
  out_ += value.name;
}

void AttributeWriter::computations(std::string_view key, const std::vector<Computation*>& value) {
  text(key, "{");
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) out_ += ", ";
    out_.append("%").append(value[i]->name);
  }
  out_ += '}';
}

void AttributeWriter::aliases(std::string_view key, const std::vector<AliasEntry>& value) {
  text(key, to_string(value, false));
}

void AttributeWriter::window(std::string_view key, const Window& value) {
  text(key, "{");
  const char* separator = "";
  const auto field = [&](std::string_view name, const std::string& list) {
    out_.append(separator).append(name).append("=").append(list);
    separator = " ";
  };
  if (!value.size.empty()) field("size", crossed(value.size));
  if (!all_equal(value.stride, 1)) field("stride", crossed(value.stride));
  if (!all_equal(value.pad_low, 0) || !all_equal(value.pad_high, 0)) {
    std::string pads;
    for (size_t i = 0; i < value.pad_low.size(); ++i) {
      pads += fmt::format("{}{}_{}", i > 0 ? "x" : "", value.pad_low[i], value.pad_high[i]);
    }
    field("pad", pads);
  }
  if (!all_equal(value.lhs_dilate, 1)) field("lhs_dilate", crossed(value.lhs_dilate));
  if (!all_equal(value.rhs_dilate, 1)) field("rhs_dilate", crossed(value.rhs_dilate));
  const Dims reversal(value.rhs_reversal.begin(), value.rhs_reversal.end());
  if (!all_equal(reversal, 0)) field("rhs_reversal", crossed(reversal));
  out_ += '}';
}

std::string to_string(const std::vector<AliasEntry>& aliases, bool with_kind) {
  // XLA writes a module's list with inner spaces and kinds, an instruction's without either.
  std::string out = with_kind ? "{ " : "{";
  for (size_t i = 0; i < aliases.size(); ++i) {
    const AliasEntry& entry = aliases[i];
    if (i > 0) out += ", ";
    out += fmt::format("{}: ({}, {}", to_string(entry.output), entry.operand, to_string(entry.operand_index));
    if (with_kind) out += entry.must_alias ? ", must-alias" : ", may-alias";
    out += ')';
  }
  return out + (with_kind ? " }" : "}");
}

std::string quote(std::string_view raw) {
  std::string out = "\"";
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (byte >= 0x20 && byte < 0x7f) {
          out += c;
        } else {
          out += fmt::format("\\{:03o}", byte);
        }
    }
  }
  return out + '"';
}

}  // namespace lowtide::engine
