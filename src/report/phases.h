#pragma once
/// What a program does at each step, in the words of the drawn line: embed, forward scan, loss, backward scan, update.

#include <string>
#include <vector>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

/// The phase of one step; empty if neither names nor loops show it.
std::string phase_of(const TimelineStep& step);

/// Runs of steps with the same name; runs that are too short to be visible are joined with their neighbours.
std::vector<Phase> phases_of(const Account& account);

}  // namespace lowtide::engine
