// Evaluates custom calls of LAPACK: by definition if that is short and the result unique, otherwise by the library.
#include <fmt/format.h>

#include <cstring>

#include "ops/lapack_call.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

using Bytes = std::vector<std::byte>;

/// Transposes: row-major rows x columns becomes column-major; with `rows` and `columns` exchanged, the reverse.
void turn(const std::byte* from, std::byte* to, int64_t rows, int64_t columns, int64_t element) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      std::memcpy(to + (j * rows + i) * element, from + (i * columns + j) * element, static_cast<size_t>(element));
    }
  }
}

int64_t bytes_of(const LapackArray& array) { return array.count() * stored_bytes(array.type); }

void load(const LapackArray& array, const std::byte* from, Bytes& to) {
  to.resize(static_cast<size_t>(bytes_of(array)));
  if (to.empty()) return;
  if (array.is_matrix()) {
    turn(from, to.data(), array.extents[0], array.extents[1], stored_bytes(array.type));
  } else {
    std::memcpy(to.data(), from, to.size());
  }
}

void store(const LapackArray& array, const Bytes& from, std::byte* to) {
  if (from.empty()) return;
  if (array.is_matrix()) {
    turn(from.data(), to, array.extents[1], array.extents[0], stored_bytes(array.type));
  } else {
    std::memcpy(to, from.data(), from.size());
  }
}

Status run_one(const LapackProblem& problem, std::vector<Bytes>& results, std::vector<Bytes>& read) {
  std::vector<void*> to, from;
  for (Bytes& bytes : results) to.push_back(bytes.data());
  for (Bytes& bytes : read) from.push_back(bytes.data());
  if (run_lapack_definition(problem, to, from)) return {};
  if (!has_lapack()) return Status::unsupported("OpenBLAS can't be loaded: libopenblas.so.0");
  const int64_t needed = lapack_workspace_bytes(problem);
  std::vector<std::complex<double>> workspace(static_cast<size_t>(needed) / sizeof(std::complex<double>) + 1);
  run_lapack(problem, to, from, workspace.data());
  return {};
}

}  // namespace

Result<Value> eval_lapack_call(const Instruction& call, Operands operands) {
  LT_ASSIGN_OR_RETURN(const LapackCall lapack, read_lapack_call(call));
  std::vector<std::shared_ptr<Literal>> made;
  for (size_t r = 0; r < lapack.results.size(); ++r) {
    made.push_back(std::make_shared<Literal>(call.shape.is_tuple() ? call.shape.elements[r] : call.shape));
  }
  const std::vector<size_t> only_read = lapack.read();
  for (int64_t problem = 0; problem < lapack.batch; ++problem) {
    const auto part = [&](size_t operand) {
      return operands[operand]->bytes().data() + problem * bytes_of(lapack.operands[operand]);
    };
    std::vector<Bytes> results(made.size()), read(only_read.size());
    for (size_t r = 0; r < made.size(); ++r) {
      const LapackArray& array = lapack.results[r];
      results[r].resize(static_cast<size_t>(bytes_of(array)));
      if (array.operand >= 0) load(array, part(static_cast<size_t>(array.operand)), results[r]);
    }
    for (size_t k = 0; k < read.size(); ++k) load(lapack.operands[only_read[k]], part(only_read[k]), read[k]);
    LT_RETURN_IF_ERROR(run_one(lapack.problem, results, read));
    for (size_t r = 0; r < made.size(); ++r) {
      store(lapack.results[r], results[r], made[r]->bytes().data() + problem * bytes_of(lapack.results[r]));
    }
  }
  if (!call.shape.is_tuple()) return Value(made[0]);
  return Value(std::make_shared<Literal>(std::vector<Value>(made.begin(), made.end())));
}

}  // namespace lowtide::engine
