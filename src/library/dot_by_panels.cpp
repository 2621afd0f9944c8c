#include "library/dot_by_panels.h"

#include "base/copy_bytes.h"

namespace lowtide::engine {
namespace {

class DotByPanels : public LibraryRoutine {
 public:
  /// `added_bytes`: size of operand 2, which is added; 0: there is none.
  DotByPanels(const MatrixView& left, const MatrixView& right, ElementType result, int64_t added_bytes, Joining joining)
      : gemm_(left, right, result), added_bytes_(added_bytes), joining_(joining) {}
  int64_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    if (added_bytes_ > 0) copy_bytes(results[0], operands[2], added_bytes_, pool);
    gemm_.run(operands[0], operands[1], results[0], scratch, pool, added_bytes_ > 0, joining_);
    return {};
  }

 private:
  PanelGemm gemm_;
  int64_t added_bytes_;
  Joining joining_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_dot_by_panels(const MatrixView& left, const MatrixView& right, ElementType result,
                                                   bool adds, Joining joining) {
  const int64_t elements = left.batch.extent * left.rows.extent * right.columns.extent;
  return std::make_unique<DotByPanels>(left, right, result, adds ? elements * stored_bytes(result) : 0, joining);
}

}  // namespace lowtide::engine
