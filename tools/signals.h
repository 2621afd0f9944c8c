#pragma once
/// What ends the process from outside, or by accident: it says so, and leaves no half-written file.

namespace lowtide::engine {

void handle_signals();

}  // namespace lowtide::engine
