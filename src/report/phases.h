#pragma once
/// What a program is doing at each step, in the words of the drawn line: embed, forward scan, loss, backward scan,
/// update.

#include <string>
#include <vector>

#include "report/graph.h"
#include "report/report.h"

namespace lowtide::engine {

/// The phase of one step; empty where neither names nor loops tell.
std::string phase_of(const TimelineStep& step);

/// Runs of steps under one name; runs too short to be seen are joined with their neighbours.
std::vector<Phase> phases_of(const Account& account);

}  // namespace lowtide::engine
