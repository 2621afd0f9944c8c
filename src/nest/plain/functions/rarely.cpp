#include "nest/plain/functions.h"

namespace lowtide::engine {

std::vector<Plain> rarely(Plain rare, std::span<const Plain> fast, std::span<const Plain> arguments,
                          const std::function<std::vector<Plain>(std::span<const Plain>)>& slow) {
  std::vector<Plain> values;
  if (rare.straight) {
    const std::vector<Plain> exact = slow(arguments);
    for (size_t i = 0; i < fast.size(); ++i) values.push_back(select(rare, exact[i], fast[i]));
    return values;
  }
  // The arguments are loop-carried, so that values computed from them stay inside the loop.
  PlainNest& nest = *rare.nest;
  std::vector<NodeId> initial{rare.id};
  for (const Plain value : fast) initial.push_back(value.id);
  for (const Plain value : arguments) initial.push_back(value.id);
  const int32_t loop = nest.begin_while(initial);
  nest.begin_while_body(loop, nest.carried(loop, 0));
  std::vector<Plain> inside;
  for (size_t i = 0; i < arguments.size(); ++i) {
    inside.push_back(rare.with(nest.carried(loop, static_cast<int32_t>(1 + fast.size() + i))));
  }
  std::vector<NodeId> next{rare.truth(false).id};
  for (const Plain value : slow(inside)) next.push_back(value.id);
  for (const Plain value : inside) next.push_back(value.id);
  const std::vector<NodeId> results = nest.end_carrying(loop, next);
  for (size_t i = 0; i < fast.size(); ++i) values.push_back(rare.with(results[1 + i]));
  return values;
}

}  // namespace lowtide::engine
