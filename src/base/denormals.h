#pragma once
/// Controls whether this thread's floating-point arithmetic flushes denormals, as in XLA:CPU's runtime: denormal
/// operands count as zeros of their sign, and results that would be denormal become such zeros. Arithmetic on denormals
/// traps into microcode on x86 (about 150 cycles for each operation), so a program whose numbers decay is many times
/// slower with denormals than without.

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lowtide::engine {

enum class Denormals : uint8_t { kKept, kFlushed };

/// Sets how the calling thread treats denormals, and restores the previous state at the end of the scope. Processors
/// other than x86-64 and AArch64 keep them.
class DenormalsScope {
 public:
  explicit DenormalsScope(Denormals denormals) : before_(control()) {
    const uint64_t wanted = denormals == Denormals::kFlushed ? before_ | kFlush : before_ & ~kFlush;
    changes_ = wanted != before_;
    if (changes_) set_control(wanted);
  }
  ~DenormalsScope() {
    if (changes_) set_control(before_);
  }
  DenormalsScope(const DenormalsScope&) = delete;
  DenormalsScope& operator=(const DenormalsScope&) = delete;

  /// The current state of the calling thread.
  static Denormals current() {
    return kFlush != 0 && (control() & kFlush) == kFlush ? Denormals::kFlushed : Denormals::kKept;
  }

 private:
#if defined(__x86_64__)
  static constexpr uint64_t kFlush = 0x8040;  ///< of MXCSR: flush-to-zero, for results, and denormals-are-zeros
  static uint64_t control() { return _mm_getcsr(); }
  static void set_control(uint64_t control) { _mm_setcsr(static_cast<uint32_t>(control)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;  ///< of FPCR: FZ, for operands and results
  static uint64_t control() {
    uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set_control(uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
#else
  static constexpr uint64_t kFlush = 0;
  static uint64_t control() { return 0; }
  static void set_control(uint64_t) {}
#endif

  uint64_t before_;
  bool changes_ = false;
};

}  // namespace lowtide::engine
