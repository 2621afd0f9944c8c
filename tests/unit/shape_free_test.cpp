/// One kernel for arrays of every shape: it computes what the nest of each shape says.

#include "codegen/shape_free.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/context.h"
#include "codegen/kernel.h"
#include "codegen/machine.h"
#include "nest/builder.h"
#include "nest/legalise.h"

namespace lowtide::engine {
namespace {

struct Extents {
  int64_t rows = 0, columns = 0;
};

/// y[r] = sum over c of x[r, c] * w[c], in s32, so that it is exact in any order; and more: z[r, c] = x[r, c] + w[c].
Nest sums(Extents shape, bool and_more) {
  const auto s32 = ElementType::kS32;
  NestBuilder sum;
  const NodeId a = sum.argument(s32), b = sum.argument(s32);
  const NodeId both = sum.operation(Opcode::kAdd, s32, {a, b});
  const auto combine = std::make_shared<const Function>(sum.take_function(std::array{both}));
  NestBuilder nest;
  const int32_t x = nest.add_buffer(s32, shape.rows * shape.columns), w = nest.add_buffer(s32, shape.columns);
  const int32_t y = nest.add_buffer(s32, shape.rows), z = nest.add_buffer(s32, shape.rows * shape.columns);
  const int32_t rows = nest.begin_parallel(shape.rows);
  const Affine row = nest.index_of(rows);
  const NodeId zero = nest.integer(s32, 0);
  const int32_t along = nest.begin_reduce(shape.columns, std::array{zero}, combine, std::array{zero});
  const Affine column = nest.index_of(along);
  const NodeId product = nest.operation(
      Opcode::kMultiply, s32, {nest.load(x, nest.plus(nest.times(row, shape.columns), column)), nest.load(w, column)});
  const NodeId next = nest.operation(Opcode::kAdd, s32, {nest.carried(along, 0), product});
  nest.store(y, row, nest.end_carrying(along, std::array{next})[0]);
  if (and_more) {
    const int32_t across = nest.begin_parallel(shape.columns);
    const Affine other = nest.index_of(across), at = nest.plus(nest.times(row, shape.columns), other);
    nest.store(z, at, nest.operation(Opcode::kAdd, s32, {nest.load(x, at), nest.load(w, other)}));
    nest.end_parallel(across);
  }
  nest.end_parallel(rows);
  return legalise(nest.take());
}
Nest sums_and_more(Extents shape) { return sums(shape, true); }

/// Elements of the nest's results that are wrong.
int64_t wrong_elements(const Kernel& kernel, Extents shape, std::vector<int64_t> given, bool and_more = true) {
  const auto rows = static_cast<size_t>(shape.rows), columns = static_cast<size_t>(shape.columns);
  std::vector<int32_t> x(rows * columns), w(columns), y(rows, -1), z(rows * columns, -1);
  std::iota(x.begin(), x.end(), 3);
  std::iota(w.begin(), w.end(), -7);
  void* const buffers[] = {x.data(), w.data(), y.data(), z.data(), given.data()};
  for (size_t p = 0; p < kernel.pieces.size(); ++p) {
    kernel.run(buffers, static_cast<int64_t>(p), 0, kernel.pieces[p].extent);
  }
  int64_t wrong = 0;
  for (size_t r = 0; r < rows; ++r) {
    uint32_t sum = 0;
    for (size_t c = 0; c < columns; ++c) {
      sum += static_cast<uint32_t>(x[r * columns + c]) * static_cast<uint32_t>(w[c]);
      wrong += and_more && z[r * columns + c] != x[r * columns + c] + w[c];
    }
    wrong += y[r] != static_cast<int32_t>(sum);
  }
  return wrong;
}

// Fewer than a vector has lanes, as many, some more, and many.
constexpr Extents kShapes[] = {{1003, 1001}, {5, 1001}, {64, 515}, {77, 333}, {9, 131}, {200, 160}};

TEST(ShapeFree, OneKernelServesEveryShape) {
  Context context;
  CompileRecord record;
  for (const Extents shape : kShapes) {
    const Nest nest = sums_and_more(shape);
    const auto kernels = compile_kernels({&nest, 1}, {.any_shape = true, .context = &context}, &record);
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    const Kernel& kernel = (*kernels)[0];
    ASSERT_FALSE(kernel.given.empty());
    EXPECT_EQ(wrong_elements(kernel, shape, kernel.given), 0) << shape.rows << " x " << shape.columns;
  }
  // A kernel for each way in which loops of these extents are spread over lanes.
  EXPECT_LE(record.distinct - record.from_cache, 3);
  EXPECT_EQ(record.distinct, std::ssize(kShapes));
}

// Few columns: lanes are rows, and read as far apart as a row has columns.
TEST(ShapeFree, StepsFromLaneToLaneAreGiven) {
  Context context;
  CompileRecord record;
  for (const Extents shape : {Extents{31, 35}, Extents{31, 38}, Extents{30, 41}, Extents{29, 47}}) {
    const Nest nest = sums(shape, false);
    const auto kernels = compile_kernels({&nest, 1}, {.any_shape = true, .context = &context}, &record);
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    const Kernel& kernel = (*kernels)[0];
    EXPECT_EQ(wrong_elements(kernel, shape, kernel.given, false), 0) << shape.rows << " x " << shape.columns;
    std::vector<int64_t> others = kernel.given;
    std::ranges::replace(others, shape.columns, shape.columns - 1);  // the control
    EXPECT_GT(wrong_elements(kernel, shape, others, false), 0);
  }
  EXPECT_LE(record.distinct - record.from_cache, 2);
}

// The control: what compares sees a kernel that is given the numbers of another shape.
TEST(ShapeFree, NumbersOfAnotherShapeAreNoticed) {
  const Nest nest = sums_and_more({64, 515});
  const auto kernels = compile_kernels({&nest, 1}, {.any_shape = true, .use_cache = false});
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  std::vector<int64_t> given = (*kernels)[0].given;
  std::ranges::replace(given, int64_t{515}, int64_t{514});
  EXPECT_GT(wrong_elements((*kernels)[0], {64, 515}, given), 0);
}

TEST(ShapeFree, IndicesThatAreValuesStayInTheCode) {
  NestBuilder nest;
  const int32_t to = nest.add_buffer(ElementType::kS64, 1000);
  const int32_t loop = nest.begin_parallel(1000);
  nest.store(to, nest.index_of(loop), nest.value_of(nest.times(nest.index_of(loop), 3)));
  nest.end_parallel(loop);
  const Nest numbers = legalise(nest.take());
  EXPECT_FALSE(shape_free(numbers, plan_kernel(numbers, false)).has_value());
}

}  // namespace
}  // namespace lowtide::engine
