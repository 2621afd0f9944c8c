#pragma once
/// The report as JSON, schema_version 1. Keys never change their meaning within a version; new ones may appear.

#include <string>

#include "report/report.h"

namespace lowtide::engine {

std::string to_json(const Report& report);

}  // namespace lowtide::engine
