#pragma once
/// The reflectors of a tall matrix with few columns, on one thread. LAPACK computes those of a panel one after another,
/// and applies each to all following columns; here halves are factored recursively and applied as products (Elmroth and
/// Gustavson, Applying recursion to serial and parallel QR factorization, 2000), which read the panel once for many
/// columns.

#include <cstdint>

namespace lowtide::engine {

/// Scratch, in elements.
constexpr int64_t panel_qr_room(int64_t columns) { return 3 * columns * columns; }

/// Computes what geqrf leaves in `a`, column-major, rows >= columns, and in `taus`. T: float or double.
template <class T>
void panel_qr(T* a, int64_t lead, int64_t rows, int64_t columns, T* taus, T* room);

}  // namespace lowtide::engine
