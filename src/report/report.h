#pragma once
/// The report of `explain`, computed once; the renderers (text, json, html, trace) only lay it out. The structs are the
/// public ones.

#include "analysis/account.h"
#include "lowtide/explanation.h"

namespace lowtide::engine {

using Report = lowtide::Explanation;

}  // namespace lowtide::engine
