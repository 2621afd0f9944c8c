#pragma once
/// What ends the process from outside, or by accident: it says so, and leaves no half-written file.

namespace lowtide {

void handle_signals();

}  // namespace lowtide
