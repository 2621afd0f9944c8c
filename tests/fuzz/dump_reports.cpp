/// Any bytes as one of XLA's reports.

#include "exercise.h"
#include "text/dump/xla_report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lowtide::engine;
  const std::string_view text = text_of(data, size);
  (void)report_kind(text);
  (void)total_bytes_of(text);
  for (const ReportKind kind : {ReportKind::kMemoryUsage, ReportKind::kBufferAssignment, ReportKind::kLiveRange}) {
    XlaReport report;
    read_report(kind, text, report);
    (void)allocated_bytes(report);
  }
  return 0;
}
