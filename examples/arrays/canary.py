"""canary.py [SIDE]: normal numbers in bfloat16, which take their own bytes and no more; 46341 makes 4.3 GB of them."""

import sys

import lowtide
import lowtide.numpy as np

side = int(sys.argv[1]) if len(sys.argv) > 1 else 2049
x = lowtide.random.normal((side, side), dtype=np.bfloat16, key=lowtide.random.key(0))
lowtide.reset_peak_memory()
x.eval()
print(f"first {x[0, 0]:.4f}, last {x[-1, -1]:.4f}")
print(f"normal numbers: peak {lowtide.get_peak_memory()} bytes, {lowtide.get_peak_memory() / x.nbytes:.2f} of their own")
