#include "backend/cpu/poison.h"

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

Storage temporary(Step born, Step dies) {
  Storage storage;
  storage.bytes = 4;
  storage.born = born;
  storage.dies = dies;
  return storage;
}

ProgramStep at(Step time, std::vector<std::vector<ProgramStep>> blocks = {}) {
  ProgramStep step;
  step.at = time;
  step.blocks = std::move(blocks);
  return step;
}

TEST(Poison, EveryTemporaryDiesOnceBeforeTheStepThatFollows) {
  Program program;
  program.steps = {at(0), at(1, {{at(2)}, {at(3), at(4)}}), at(7)};
  program.storages = {temporary(0, 1), temporary(2, 4), temporary(0, 5), temporary(3, 8)};
  program.storages.push_back(temporary(0, 3));
  program.storages.back().kind = StorageKind::kOutput;
  // Laid out: 0, 1 (the loop), 2 (its condition), 3 and 4 (its body), 7.
  const std::vector<std::vector<int32_t>> expected = {{}, {0}, {}, {}, {1}, {2}};
  EXPECT_EQ(deaths(program), expected);
}

}  // namespace
}  // namespace lowtide::engine
