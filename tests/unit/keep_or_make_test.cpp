#include "passes/recompute/keep_or_make.h"

#include <gtest/gtest.h>

#include <random>

namespace lowtide::engine {
namespace {

using Choice = KeepOrMake::Choice;
using Prices = KeepOrMake::Prices;

struct Problem {
  std::vector<Prices> prices;
  std::vector<std::vector<size_t>> operands;
  std::vector<bool> needed;
};

/// Values read values before them; each can be kept, or made again, or both.
Problem random_problem(std::mt19937& random, size_t values) {
  Problem problem;
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (size_t v = 0; v < values; ++v) {
    const int way = pick(5);
    problem.prices.push_back(
        {way == 0 ? KeepOrMake::kNever : pick(20), way == 1 || v == 0 ? KeepOrMake::kNever : pick(20)});
    if (v == 0) problem.prices[0].keep = pick(20);
    auto& operands = problem.operands.emplace_back();
    for (size_t o = 0; o < v; ++o) {
      if (pick(2) == 0) operands.push_back(o);
    }
    problem.needed.push_back(pick(2) == 0);
  }
  return problem;
}

/// What it costs; below 0: something needed is neither kept nor made, or what can't be.
double price_of(const Problem& problem, const std::vector<Choice>& choices) {
  double price = 0;
  for (size_t v = 0; v < choices.size(); ++v) {
    const auto is_there = [&](size_t value) { return choices[value] != Choice::kNotNeeded; };
    if (problem.needed[v] && !is_there(v)) return -1;
    if (choices[v] == Choice::kKeep && problem.prices[v].keep == KeepOrMake::kNever) return -1;
    if (choices[v] == Choice::kKeep) price += problem.prices[v].keep;
    if (choices[v] != Choice::kMake) continue;
    if (problem.prices[v].make == KeepOrMake::kNever) return -1;
    price += problem.prices[v].make;
    for (const size_t o : problem.operands[v]) {
      if (!is_there(o)) return -1;
    }
  }
  return price;
}

/// Of all choices there are; below 0: none is possible.
double least_price(const Problem& problem) {
  const size_t values = problem.prices.size();
  double least = -1;
  size_t all = 1;
  for (size_t v = 0; v < values; ++v) all *= 3;
  for (size_t code = 0; code < all; ++code) {
    std::vector<Choice> choices;
    for (size_t v = 0, rest = code; v < values; ++v, rest /= 3) choices.push_back(static_cast<Choice>(rest % 3));
    const double price = price_of(problem, choices);
    if (price >= 0 && (least < 0 || price < least)) least = price;
  }
  return least;
}

std::vector<Choice> choose(const Problem& problem) {
  KeepOrMake choice(problem.prices);
  for (size_t v = 0; v < problem.prices.size(); ++v) {
    if (problem.needed[v]) choice.need(v);
    for (const size_t o : problem.operands[v]) choice.reads(v, o);
  }
  return choice.choose();
}

TEST(KeepOrMake, IsTheCheapestOfAllChoices) {
  std::mt19937 random(1);
  int compared = 0, dearer = 0;
  for (int k = 0; k < 300; ++k) {
    const Problem problem = random_problem(random, 7);
    const double least = least_price(problem);
    if (least < 0) continue;
    const std::vector<Choice> choices = choose(problem);
    EXPECT_DOUBLE_EQ(price_of(problem, choices), least) << "problem " << k;
    ++compared;
    // The control: to keep all that can be kept is not the cheapest as a rule.
    std::vector<Choice> kept = choices;
    for (size_t v = 0; v < kept.size(); ++v) {
      if (problem.prices[v].keep != KeepOrMake::kNever) kept[v] = Choice::kKeep;
    }
    dearer += price_of(problem, kept) > least;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(dearer, compared / 2);
}

TEST(KeepOrMake, AChainAsLongAsAProgramIsFollowed) {
  constexpr size_t kValues = 200'000;
  std::vector<Prices> prices(kValues, {2, 1});
  prices[0] = {1, KeepOrMake::kNever};
  KeepOrMake choice(prices);
  for (size_t v = 1; v < kValues; ++v) choice.reads(v, v - 1);
  choice.need(kValues - 1);
  const std::vector<Choice> choices = choice.choose();
  EXPECT_EQ(choices.back(), Choice::kKeep);  // 2, instead of 1 for each before it
  EXPECT_EQ(choices.front(), Choice::kNotNeeded);
}

}  // namespace
}  // namespace lowtide::engine
