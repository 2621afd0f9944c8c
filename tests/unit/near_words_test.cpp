#include "base/near_words.h"

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

using Words = std::vector<std::string>;

TEST(NearWords, LettersThatDiffer) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("limit", "limit"), 0U);
  EXPECT_EQ(edit_distance("limt", "limit"), 1U);
  EXPECT_EQ(edit_distance("fti", "fit"), 1U);  // two that traded places
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearWords, TheClosestFirstAndNothingThatIsFar) {
  const Words known = {"explain", "fit", "run", "check", "opt", "plan"};
  EXPECT_EQ(near_words("fti", known), Words{"fit"});
  EXPECT_EQ(near_words("explian", known), Words{"explain"});
  EXPECT_EQ(near_words("zzzzzz", known), Words{});
  EXPECT_EQ(near_words("", known), Words{});
  EXPECT_EQ(near_words("plain", known).front(), "plan");
}

TEST(NearWords, CaseAndDashesAside) {
  EXPECT_EQ(near_words("--MAX_PEAK", {"--max-peak"}), Words{"--max-peak"});
  EXPECT_EQ(near_words("atol", {"--rtol", "--atol-of-max"}).size(), 1U);  // a part of one
}

TEST(NearWords, Sentences) {
  EXPECT_EQ(did_you_mean(Words{}), "");
  EXPECT_EQ(did_you_mean(Words{"a"}), "; did you mean a?");
  EXPECT_EQ(did_you_mean(Words{"a", "b", "c"}), "; did you mean a, b or c?");
}

}  // namespace
}  // namespace lowtide::engine
