"""Calls that jax_calls.py makes on both platforms: expressions of its arrays, divided by semicolons. `grad`, `tangent` and `several` are
what it makes of a function. A section is made in one process, of each row's element types, with 64-bit types where it is `wide`."""

UNARY = """
abs angle arccosh arcsinh arctan arctanh bitwise_count bitwise_not cbrt ceil conj cos cosh deg2rad exp exp2 expm1 fabs fix floor frexp i0 imag invert
iscomplex isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not modf nan_to_num negative positive rad2deg real reciprocal
rint round sign signbit sin sinc sinh sqrt square tan tanh trunc
"""

BINARY = """
add bitwise_and bitwise_or bitwise_xor copysign divmod equal floor_divide fmax fmin fmod greater greater_equal heaviside hypot isclose left_shift less
less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal power remainder right_shift subtract
ldexp
"""

REDUCTIONS = """
jnp.sum(x); jnp.prod(x); jnp.max(x); jnp.min(x); jnp.any(x); jnp.all(x); jnp.mean(x); jnp.var(x); jnp.std(x); jnp.nansum(x); jnp.nanprod(x); jnp.nanmax(x);
jnp.nanmin(x); jnp.nanmean(x); jnp.nanvar(x); jnp.sum(n, axis=1); jnp.prod(n, axis=1); jnp.max(n, axis=1); jnp.min(n, axis=1); jnp.mean(n, axis=1);
jnp.var(n, axis=1); jnp.std(n, axis=1); jnp.nansum(n, axis=1); jnp.nanprod(n, axis=1); jnp.nanmax(n, axis=1); jnp.nanmin(n, axis=1); jnp.nanmean(n, axis=1);
jnp.nanvar(n, axis=1); jnp.sum(t, axis=(0,2), keepdims=True); jnp.prod(t, axis=(0,2), keepdims=True); jnp.max(t, axis=(0,2), keepdims=True);
jnp.min(t, axis=(0,2), keepdims=True); jnp.any(t, axis=(0,2), keepdims=True); jnp.all(t, axis=(0,2), keepdims=True); jnp.mean(t, axis=(0,2), keepdims=True);
jnp.var(t, axis=(0,2), keepdims=True); jnp.std(t, axis=(0,2), keepdims=True); jnp.nansum(t, axis=(0,2), keepdims=True);
jnp.nanprod(t, axis=(0,2), keepdims=True); jnp.nanmax(t, axis=(0,2), keepdims=True); jnp.nanmin(t, axis=(0,2), keepdims=True);
jnp.nanmean(t, axis=(0,2), keepdims=True); jnp.sum(x, axis=0, where=mask, initial=1); jnp.prod(x, axis=0, where=mask, initial=1);
jnp.max(x, axis=0, where=mask, initial=1); jnp.min(x, axis=0, where=mask, initial=1); jnp.nansum(x, axis=0, where=mask, initial=1);
jnp.nanprod(x, axis=0, where=mask, initial=1); jnp.nanmax(x, axis=0, where=mask, initial=1); jnp.nanmin(x, axis=0, where=mask, initial=1);
jnp.any(x, axis=1, where=mask); jnp.all(x, axis=1, where=mask); jnp.mean(x, axis=1, where=mask); jnp.var(x, axis=1, where=mask);
jnp.std(x, axis=1, where=mask); jnp.nanmean(x, axis=1, where=mask); jnp.nanvar(x, axis=1, where=mask); jnp.sum(e, axis=0); jnp.prod(e, axis=0);
jnp.any(e, axis=0); jnp.all(e, axis=0); jnp.mean(e, axis=0); jnp.nansum(e, axis=0); jnp.var(e, axis=0); jnp.max(e, axis=1); jnp.min(e,axis=0,initial=0);
jnp.sum(s); jnp.prod(s); jnp.max(s); jnp.min(s); jnp.any(s); jnp.all(s); jnp.mean(s); jnp.nanvar(s); jnp.argmax(n, axis=0); jnp.argmin(n, axis=0);
jnp.nanargmax(n, axis=0); jnp.nanargmin(n, axis=0); jnp.cumsum(n, axis=0); jnp.cumprod(n, axis=0); jnp.nancumsum(n, axis=0); jnp.nancumprod(n, axis=0);
jnp.sort(n, axis=0); jnp.argsort(n, axis=0); jnp.cumulative_sum(n, axis=0); jnp.argmax(x, axis=1); jnp.argmin(x, axis=1); jnp.nanargmax(x, axis=1);
jnp.nanargmin(x, axis=1); jnp.cumsum(x, axis=1); jnp.cumprod(x, axis=1); jnp.nancumsum(x, axis=1); jnp.sort(x, axis=1); jnp.argsort(x, axis=1);
jnp.sum(h, axis=(0,3,-1)); jnp.max(h, axis=(0,3,-1)); jnp.any(h, axis=(0,3,-1)); jnp.prod(h, axis=(0,3,-1)); jnp.argmax(h);
jnp.argmin(h,axis=2,keepdims=True); jnp.cumsum(t, axis=1, dtype=jnp.float32); jnp.sum(x, dtype=jnp.int8); jnp.sum(x, dtype=jnp.float16);
jnp.prod(x, dtype=jnp.float32); jnp.mean(x, dtype=jnp.float32); jnp.var(x, ddof=1, axis=0); jnp.std(x, correction=2); jnp.median(x, axis=(0,1));
jnp.median(n, axis=0, keepdims=True); jnp.ptp(x, axis=1); jnp.count_nonzero(x, axis=0); jnp.average(x, axis=1, weights=w);
jnp.average(x, axis=0, returned=True); jnp.quantile(x, 0.3); jnp.percentile(x, jnp.array([10., 50., 99.]), axis=1, method='lower');
jnp.nanpercentile(n, 30., axis=1, method='nearest'); jnp.diff(x, axis=0, n=2); jnp.diff(x, prepend=0, append=1); jnp.ediff1d(x, to_end=1); jnp.gradient(x);
jnp.gradient(v, 2.0); jnp.trapezoid(x, axis=0); jnp.cov(x); jnp.trace(x, 1); jnp.sort(n, axis=0, descending=True); jnp.sort(n, axis=None);
jnp.sort(x, axis=-1, stable=False); jnp.argsort(n, axis=0, descending=True); jnp.argsort(n, axis=1, stable=True);
jnp.argsort(k*0, axis=1, descending=True, stable=True); jnp.lexsort((x, k)); jnp.lexsort((k, x), axis=0); jnp.partition(x, 2, axis=0);
jnp.argpartition(x, 2); jnp.sort_complex(v); jnp.searchsorted(jnp.sort(v), w); jnp.searchsorted(jnp.sort(v), x, side='right');
jnp.searchsorted(jnp.sort(n.ravel()), n.ravel(), method='sort'); jnp.searchsorted(jnp.sort(n.ravel()), n.ravel(), method='compare_all', side='right');
jnp.searchsorted(v, w, sorter=jnp.argsort(v)); jnp.digitize(x, jnp.sort(v)); jnp.unique(x, size=6, fill_value=3);
jnp.unique(x, return_index=True, return_inverse=True, return_counts=True, size=20); jnp.unique(x, axis=0, size=3);
jnp.unique(n, size=25, return_counts=True, equal_nan=False); jnp.unique_all(x, size=10); jnp.union1d(v, w, size=9);
jnp.intersect1d(v, w, size=4, return_indices=True); jnp.setdiff1d(v, w, size=5); jnp.setxor1d(v, w, size=8); jnp.isin(x, v);
jnp.isin(x, v, invert=True, method='sort'); jnp.isin(x, v, method='binary_search'); jnp.nonzero(x, size=12, fill_value=-1); jnp.argwhere(x, size=12);
jnp.flatnonzero(x, size=25, fill_value=7); jnp.where(mask, x, y); jnp.where(mask, x, 0); jnp.where(x, size=9); jnp.select([mask, k > 3], [x, y], 1);
jnp.piecewise(x, [mask, ~mask], [1, lambda a: a]); jnp.choose(jnp.abs(k) % 3, [x, y, 1], mode='wrap'); jnp.compress(mask[0], x, axis=1, size=3);
jnp.extract(mask, x, size=5); jnp.clip(x, 1, 3); jnp.clip(x, None, w); jnp.clip(n, w, None); jnp.bincount(jnp.abs(k).ravel(), length=12);
jnp.bincount(jnp.abs(k).ravel(), weights=x.ravel(), length=12); jnp.histogram(x, bins=4); jnp.histogram(x, bins=v.sort(), density=True);
jnp.histogram(x, bins=5, range=(-1,2), weights=y); jnp.histogram2d(x.ravel(), y.ravel(), bins=3); jnp.histogramdd(x, bins=2);
jnp.histogram_bin_edges(x, bins=5); jnp.convolve(v, w); jnp.convolve(v, w, mode='same'); jnp.convolve(w, v, mode='valid'); jnp.correlate(v, w, mode='full');
jnp.correlate(v, w, mode='same'); jnp.interp(x, jnp.sort(v), v); jnp.interp(x, jnp.sort(v), v, left=-1, right=2, period=None); jnp.interp(x, v, v, period=3);
jnp.polyval(w, x); jnp.polyval(w, x, unroll=3); jnp.polyadd(v, w); jnp.polysub(w, v); jnp.polymul(v, w); jnp.polyder(v, 2);
jnp.polyint(v, 2, k=jnp.array([1, 2])); jnp.vander(w, 4); jnp.vander(w, increasing=True); jnp.cross(g, g[::-1]); jnp.cross(g[:, :2], g[:, 1:]);
jnp.dot(x, w); jnp.dot(t, x); jnp.dot(s, x); jnp.matmul(t, x); jnp.matmul(x.T, x); jnp.vdot(x, y); jnp.vecdot(x, y, axis=0); jnp.matvec(x, w);
jnp.vecmat(w, x.T); jnp.inner(x, y); jnp.outer(v, w); jnp.kron(x, g); jnp.tensordot(t, x, axes=([2],[0])); jnp.tensordot(t, t, axes=([0,1],[0,1]));
jnp.tensordot(x, y, axes=0); jnp.einsum('ij,ik->jk', x, y); jnp.einsum('ii->i', g); jnp.einsum('ii', g); jnp.einsum('abc,cd,ad->b', t, x, x[:2]);
jnp.einsum('...ij,jk->...ik', t, x); jnp.einsum('i,j,k->kij', v, w, v); jnp.einsum('ij->', x); jnp.einsum('abc->cab', t); jnp.einsum('ij,ij->ij', x, y);
jnp.matmul(e.T, e); jnp.matmul(e, g); jnp.linalg.matrix_power(g, 3); jnp.matrix_transpose(t); jnp.apply_along_axis(jnp.cumsum, 1, x);
jnp.apply_over_axes(jnp.sum, t, [0, 2]); jnp.vectorize(lambda a, b: a @ b, signature='(n),(n)->()')(x, w)
"""

INDEXING = """
x[1]; x[-1]; x[1:3]; x[::-1]; x[::-2, 1::3]; x[3:0:-1]; x[5:]; x[None, :, None]; x[..., 0]; x[1, ..., 2]; x[jnp.array([1, 3, -1])]; x[i % 4];
x[i % 4, i % 5]; x[i]; x[j]; x[u]; x[:, i]; x[i[:, None] % 4, u[None] % 5]; t[:, i % 3, ::-1]; t[i % 2, :, i % 4]; t[0, j % 3]; x[i[0] % 4];
x[jnp.array([], dtype=int)]; x[np.array([True, False, True, True])]; x[np.eye(4, 5, dtype=bool)]; x[:, np.array([1, 0, 1, 0, 1], bool)]; x[True]; x[False];
h[1, :, ::-1, 0, ..., i % 2]; x.at[1].get(); x.at[i].get(mode='fill', fill_value=3); x.at[i].get(mode='clip'); x.at[i].get(mode='wrap');
x.at[i].get(mode='drop'); x.at[i % 4].get(mode='promise_in_bounds'); x.at[i].get(mode='fill', wrap_negative_indices=False);
x.at[jnp.array([0,1,2])].get(indices_are_sorted=True, unique_indices=True); jnp.take(x, i, axis=1); jnp.take(x, i, axis=1, mode='clip');
jnp.take(x, i, axis=0, mode='wrap'); jnp.take(x, j); jnp.take(x, i, mode='fill', fill_value=1); jnp.take_along_axis(x, jnp.abs(k) % 4, 0);
jnp.take_along_axis(x, k, 1, mode='fill'); jnp.take_along_axis(x, k[:, :2], 1, mode='clip'); jnp.put(x, i, v[:3], inplace=False);
jnp.put(x, i, v[:3], inplace=False, mode='wrap'); jnp.put_along_axis(x, jnp.abs(k[:1]) % 4, 2, 0, inplace=False); jnp.fill_diagonal(x, 1, inplace=False);
jnp.fill_diagonal(g, g[0], inplace=False); jnp.place(x, mask, v, inplace=False); x.at[1].set(1); x.at[::-1].set(y); x.at[1:3, ::2].set(y[:2, :3]);
x.at[..., 1].set(w[:4]); x.at[i].set(y[:3]); x.at[i].set(y[:3], mode='clip'); x.at[i].set(y[:3], mode='drop'); x.at[i % 4, u % 5].set(v[:3]);
x.at[mask].set(1); jnp.zeros_like(x).at[:, i % 5].add(y[:, :3]); x.at[i % 4].add(1); x.at[i].add(y[:3]); x.at[i].add(y[:3], mode='clip');
x.at[i % 2].add(y[:3]); x.at[i % 2].multiply(y[:3]); x.at[i % 2].mul(2); x.at[i % 2].min(y[:3]); x.at[i % 2].max(y[:3]); x.at[i % 2].subtract(y[:3]);
x.at[i % 4].power(2); x.at[jnp.array([0, 2])].apply(lambda a: a * a); x.at[1].apply(jnp.sin); x.at[j % 4].add(1); x.at[()].set(1); s.at[()].add(1);
t.at[i % 2, :, i % 4].set(x[:3, :3]); t.at[:, 1:2, i % 4].max(1); h.at[1, :, 2, ..., 1].add(1); x.at[jnp.array([], int)].set(1); e.at[:, 1].set(1);
x.at[i[0] % 4].set(y[0]); x.at[i[0]].set(y[0]); x.at[i[0], 1].add(1); jnp.insert(x, 1, 1, axis=1); jnp.insert(x, np.array([0, 2, 2]), y[:3], axis=0);
jnp.insert(v, 2, w); jnp.delete(x, 1, axis=0); jnp.delete(x, np.array([0, 2]), axis=1); jnp.delete(v, slice(1, 5, 2)); jnp.append(x, y, axis=1);
jnp.append(x, w); jnp.repeat(x, 2, axis=1); jnp.repeat(x, np.array([1, 0, 2, 3]), axis=0); jnp.repeat(v, jnp.abs(jnp.arange(7)) % 3, total_repeat_length=9);
jnp.repeat(v, jnp.abs(jnp.arange(7)) % 3, total_repeat_length=4); jnp.tile(x, (2, 1, 2)); jnp.roll(x, 3); jnp.roll(x, (1, -2), axis=(0, 1));
jnp.roll(x, i[0], axis=1); jnp.roll(x, i[:2], axis=(0, 1)); jnp.rot90(x, 3); jnp.rot90(t, axes=(1, 2)); jnp.flip(t); jnp.flip(t, (0, 2));
jnp.concatenate([x, y], axis=1); jnp.concatenate([x, x[:0]]); jnp.stack([x, y], axis=2); jnp.hstack([x, y]); jnp.vstack([x, w]); jnp.dstack([x, y]);
jnp.column_stack([w, x.T]); jnp.block([[x, y], [y, x]]); jnp.split(x, [1, 3]); jnp.array_split(v, 3); jnp.unstack(x, axis=1); jnp.broadcast_to(w, (3, 1, 5));
jnp.broadcast_arrays(x, w, s); jnp.expand_dims(x, (0, 2)); jnp.squeeze(h); jnp.squeeze(h, (1, 3)); jnp.swapaxes(t, 0, 2); jnp.moveaxis(h, (0, 3), (-1, 1));
jnp.transpose(h, (6, 0, 3, 2, 5, 1, 4)); jnp.reshape(t, (4, -1), order='F'); jnp.ravel(t, order='F'); t.reshape(-1); jnp.resize(x, (3, 9));
jnp.trim_zeros(v); jnp.atleast_3d(x); jnp.diag(v, -1); jnp.diag(x, 1); jnp.diagflat(x); jnp.diagonal(t, 1, 1, 2); jnp.tril(t, 1); jnp.triu(x, -1);
jnp.tri(4, 3, 1, dtype=dtype); jnp.eye(4, 3, -1, dtype=dtype); jnp.full((2, 3), s); jnp.full_like(x, 2); jnp.zeros_like(x, shape=(0, 2));
jnp.arange(5, dtype=dtype); jnp.arange(1, 9, 3, dtype=dtype); jnp.linspace(0, 5, 7, dtype=dtype); jnp.linspace(x, y, 3, axis=1, endpoint=False);
jnp.logspace(0, 1, 4, dtype=dtype); jnp.meshgrid(v, w, indexing='ij'); jnp.meshgrid(v, w, sparse=True); jnp.ix_(i, u); jnp.indices((2, 3), dtype=dtype);
jnp.mgrid[0:3, 0:2]; jnp.r_[v, w]; jnp.pad(x, 2); jnp.pad(x, ((1, 2), (0, 3)), mode='constant', constant_values=3); jnp.pad(x, 2, mode='edge');
jnp.pad(x, 2, mode='reflect'); jnp.pad(x, 7, mode='reflect'); jnp.pad(x, 3, mode='reflect', reflect_type='odd'); jnp.pad(x, 3, mode='symmetric');
jnp.pad(x, 9, mode='symmetric', reflect_type='odd'); jnp.pad(x, 6, mode='wrap'); jnp.pad(x, 2, mode='linear_ramp', end_values=1); jnp.pad(x, 2, mode='mean');
jnp.pad(x, 2, mode='median', stat_length=2); jnp.pad(x, 2, mode='maximum'); jnp.pad(x, ((1, 2), (3, 0)), mode='minimum', stat_length=((1, 2), (2, 1)));
jnp.pad(x, 2, mode='empty').shape; jnp.array_equal(x, y); jnp.array_equal(x, x, equal_nan=True); jnp.array_equiv(x, x[None]); jnp.allclose(x, x);
jnp.iscomplexobj(x); x.astype(jnp.float32); x.astype(jnp.int8); x.astype(jnp.uint8); x.astype(jnp.bool_); x.astype(jnp.bfloat16); x.astype(jnp.int64);
x.astype(jnp.uint64); x.astype(jnp.complex64); x.view(jnp.uint8) if dtype.name != 'bool' else x; jnp.copy(x);
jnp.bartlett(7), jnp.blackman(7), jnp.hamming(7), jnp.hanning(7), jnp.kaiser(7, 3.5); jnp.tril_indices(4, 1), jnp.triu_indices_from(x[:, :4]);
jnp.mask_indices(3, jnp.triu), jnp.diag_indices(3); jnp.ravel_multi_index((i, i), (3, 4), mode='clip'), jnp.unravel_index(i, (3, 4));
jnp.packbits(mask), jnp.packbits(mask, axis=0, bitorder='little'); jnp.unpackbits(u), jnp.unpackbits(u[None], axis=1, count=5, bitorder='little');
jnp.astype(x, jnp.float16); jnp.nan_to_num(x, nan=1); jnp.isclose(x, y, equal_nan=True); jnp.swapaxes(h, 2, -1)
"""

PRIMITIVES = """
lax.pad(x, x[0,0], ((1, 2, 0), (0, 0, 1))); lax.pad(x, x[0,0], ((-1, -2, 0), (-2, 3, 2))); lax.pad(x, x[0,0], ((-4, 0, 0), (0, 0, 0)));
lax.pad(e, s, ((1, 1, 2), (0, -1, 0))); lax.pad(s, s, ()); lax.slice(x, (1, 0), (4, 5), (2, 3)); lax.slice(x, (1, 1), (1, 5));
lax.dynamic_slice(x, (i[0], i[1]), (2, 3)); lax.dynamic_slice(x, (jnp.int8(-1), jnp.int8(100)), (2, 3)); lax.dynamic_slice(x, (u[0], u[1]), (4, 5));
lax.dynamic_update_slice(x, y[:2, :2], (i[0], i[1])); lax.dynamic_update_slice(x, y[:0], (i[0], i[1])); lax.dynamic_slice_in_dim(x, i[0], 2, 1);
lax.dynamic_update_index_in_dim(x, y[0], i[0], 0); lax.dynamic_index_in_dim(x, i[1], 1, keepdims=False); lax.index_in_dim(x, -1, 1);
lax.slice_in_dim(x, 0, -1, 2, 1); lax.rev(h, (0, 2, 4)); lax.concatenate([x, y, x[:0]], 0); lax.reshape(t, (4, 6), dimensions=(2, 0, 1));
lax.transpose(h, (6, 5, 4, 3, 2, 1, 0)); lax.broadcast(x, (2, 0)); lax.broadcast_in_dim(w, (2, 5, 3), (1,)); lax.broadcast_in_dim(s, (0, 3), ());
lax.collapse(h, 1, 4); lax.expand_dims(x, (0, 3)); lax.squeeze(h, (1, -4)); lax.iota(dtype, 5); lax.broadcasted_iota(dtype, (2, 3, 4), 1);
lax.select(mask, x, y); lax.select(mask[0,0], x, y); lax.select_n(jnp.abs(k) % 3, x, y, x + y); lax.sort(n, dimension=0);
lax.sort((k, n, x), dimension=1, num_keys=2); lax.sort((k % 2, x, y), dimension=0, num_keys=1, is_stable=True);
lax.sort((k % 2, n, x, y, k), dimension=1, num_keys=3); lax.sort(e, dimension=0); lax.top_k(x, 3); lax.top_k(n, 5); lax.top_k(t, 0); lax.top_k(x, 2, axis=0);
lax.approx_max_k(v, 3); lax.approx_min_k(v, 3); lax.argmax(n, 1, jnp.int8); lax.argmin(x, 0, jnp.uint32); lax.cumsum(x, 1, reverse=True);
lax.cumprod(x, 0, reverse=True); lax.cummax(n, 1); lax.cummin(x, 0, reverse=True); lax.cumlogsumexp(x, 1, reverse=True);
lax.reduce(x, np.zeros((), dtype), lax.add, (0,)); lax.reduce(x, np.ones((), dtype), lax.mul, (1, 0)); lax.reduce(n, x[0,0], lax.max, (1,));
lax.reduce((x, y), (np.zeros((), dtype), np.ones((), dtype)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,));
lax.reduce(e, np.zeros((), dtype), lax.add, (0,)); lax.reduce(x, np.zeros((), dtype), lax.bitwise_xor, (0,));
lax.reduce(x, np.zeros((), dtype), lax.bitwise_or, (0,)); lax.reduce_and(x, (0,)), lax.reduce_or(x, (1,)), lax.reduce_xor(x, (0, 1));
lax.reduce_window(x, np.zeros((), dtype), lax.add, (2, 2), (1, 2), 'SAME');
lax.reduce_window(x, np.zeros((), dtype), lax.add, (2, 2), (1, 1), ((-1, 1), (2, -1)));
lax.reduce_window(x, np.zeros((), dtype), lax.add, (2, 2), (1, 2), 'VALID', window_dilation=(2, 1));
lax.reduce_window(x, np.zeros((), dtype), lax.add, (2, 3), (1, 2), ((1, 1), (0, 2)), base_dilation=(2, 3));
lax.reduce_window(x, x[0,0], lax.max, (2, 2), (2, 2), 'SAME'); lax.reduce_window(x, x[0,0], lax.min, (3, 1), (1, 1), 'VALID');
lax.reduce_window(x, np.ones((), dtype), lax.mul, (2, 2), (1, 1), 'VALID');
lax.reduce_window((x, y), (np.zeros((), dtype), np.ones((), dtype)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (2, 2), (1, 1), 'VALID');
lax.reduce_window(x, np.ones((), dtype), lambda a, b: lax.max(lax.min(a, b), a), (2, 2), (1, 1), 'VALID');
lax.reduce_window(e, np.zeros((), dtype), lax.add, (1, 2), (1, 1), 'VALID');
jax._src.lax.windowed_reductions._select_and_scatter_add(x[:2, :3], y, lax.ge_p, (2, 2), (2, 2), ((0, 0), (0, 1)));
lax.conv(image.transpose(0,3,1,2), kernel.transpose(3,2,0,1), (1, 1), 'SAME');
lax.conv_general_dilated(image, kernel, (2, 1), 'VALID', dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_general_dilated(image, kernel, (1, 2), ((2, -1), (-1, 0)), lhs_dilation=(2, 1), rhs_dilation=(1, 2), dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_general_dilated(image, groups, (1, 1), 'SAME', feature_group_count=2, dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_general_dilated(image, groups[:, :, :1, :4], (1, 1), 'SAME', feature_group_count=4, dimension_numbers=('NHWC','HWIO','HWNC'));
lax.conv_general_dilated(image, kernel, (1, 1), 'VALID', batch_group_count=2, dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_general_dilated(x, y.T, (), (), dimension_numbers=('NC','IO','NC'));
lax.conv_transpose(image, kernel, (2, 2), 'SAME', dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_transpose(image, kernel, (2, 3), 'VALID', rhs_dilation=(1, 2), dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_with_general_padding(image.transpose(0,3,1,2), kernel.transpose(3,2,0,1), (1, 1), ((0, 0), (3, 0)), (1, 1), (2, 2));
lax.conv_general_dilated_patches(image, (2, 3), (1, 2), 'SAME', dimension_numbers=('NHWC','HWIO','NHWC'));
lax.conv_general_dilated_local(image, jnp.ones((5, 6, 36, 2), dtype), (1, 1), 'VALID', (3, 3), dimension_numbers=('NHWC','HWIO','NHWC')); lax.dot(x, y.T);
lax.dot(w, w); lax.dot_general(batch, batch.transpose(0, 2, 1), (((2,), (1,)), ((0,), (0,)))); lax.dot_general(batch, batch, (((0, 2), (0, 2)), ((), ())));
lax.dot_general(batch, batch, (((), ()), ((0, 1, 2), (0, 1, 2)))); lax.dot_general(x, y, (((), ()), ((), ())));
lax.dot_general(batch, batch, (((1,), (1,)), ((2, 0), (2, 0)))); lax.dot_general(e, e, (((0,), (0,)), ((), ())));
lax.batch_matmul(batch, batch.transpose(0, 2, 1)); lax.ragged_dot(x, jnp.ones((3, 5, 2), dtype), jnp.array([1, 2, 1]));
lax.gather(x, i[:, None] , lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 5), mode='clip');
lax.gather(x, i[:, None] , lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 3), mode='fill', fill_value=3);
lax.gather(x, k[:2, :2], lax.GatherDimensionNumbers((1, 2), (), (0, 1)), (2, 3), mode='clip');
lax.gather(x, k[:2, :2], lax.GatherDimensionNumbers((1, 2), (), (1, 0)), (2, 3), mode='fill');
lax.gather(t, i[:2, None] % 3, lax.GatherDimensionNumbers((1,), (1,), (1,), (0,), (0,)), (1, 1, 2), mode='clip');
lax.scatter(x, i[:, None], y[:3], lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode='clip');
lax.scatter_add(x, i[:, None], y[:3], lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode='drop');
lax.scatter_add(x, k[:2, :2], t[:, :2, :3], lax.ScatterDimensionNumbers((1, 2), (), (0, 1)), mode='clip');
lax.scatter_mul(x, k[:2, :2], t[:, :2, :3], lax.ScatterDimensionNumbers((1, 2), (), (1, 0)), mode='fill');
lax.scatter_min(x, i[:, None], y[:3], lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode='clip');
lax.scatter_max(x, i[:, None], y[:3], lax.ScatterDimensionNumbers((1,), (0,), (0,)));
lax.scatter_sub(x, i[:, None], y[:3], lax.ScatterDimensionNumbers((1,), (0,), (0,)));
lax.scatter_apply(x, jnp.array([[0], [2]]), lambda a: a * a, lax.ScatterDimensionNumbers((1,), (0,), (0,)), update_shape=(2, 5));
lax.scatter_add(t, i[:2, None] % 3, t[:, 0], lax.ScatterDimensionNumbers((1,), (1,), (1,), (0,), (0,))); lax.reduce_precision(n, 4, 3);
lax.reduce_precision(n, 8, 7); lax.reduce_precision(n, 5, 0); lax.reduce_precision(x, 1, 2); lax.bitcast_convert_type(x, jnp.uint8);
lax.bitcast_convert_type(x, jnp.float32); lax.convert_element_type(n, jnp.int8); lax.convert_element_type(n, jnp.uint16);
lax.convert_element_type(n, jnp.int64); lax.convert_element_type(n, jnp.float16); lax.convert_element_type(n, jnp.float8_e4m3fn);
lax.convert_element_type(n, jnp.float8_e5m2); lax.convert_element_type(n, jnp.int4); lax.convert_element_type(n, jnp.bool_);
lax.convert_element_type(n, jnp.complex128); lax.population_count(x), lax.clz(x);
lax.shift_left(x, y), lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y); lax.rem(x, y), lax.div(x, y); lax.nextafter(n, y); lax.is_finite(n);
lax.integer_pow(x, -2); lax.integer_pow(n, 7); lax.pow(x, 3); lax.pow(jnp.abs(x), y); lax.pow(x, jnp.int32(-3));
lax.round(n), lax.round(n, lax.RoundingMethod.TO_NEAREST_EVEN); lax.complex(x.astype(jnp.float32), y.astype(jnp.float32));
lax.sort(lax.cummax(x, 0), dimension=1); lax.fori_loop(0, 5, lambda a, c: c + c, x); lax.fori_loop(i[0], i[1], lambda a, c: c + 1, s);
lax.fori_loop(0, 0, lambda a, c: c + 1, e); lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[2], c[1]), (0, x, y));
lax.scan(lambda c, a: (c + a, (c, a * a)), w, x); lax.scan(lambda c, a: (c + a, c), w, x, reverse=True, unroll=3); lax.scan(lambda c, a: (c, a), (), x[:0]);
lax.scan(lambda c, _: (c * c, c), s, None, length=3); lax.scan(lambda c, a: (c + a, None), w, x, unroll=True);
lax.cond(mask[0, 0], lambda a, b: a + b, lambda a, b: a * b, x, y); lax.switch(i[0], [lambda a: a, lambda a: a + a, lambda a: a * a], x);
lax.map(lambda a: a.sum(), x); lax.map(lambda a: a * a, x, batch_size=3); lax.associative_scan(lax.add, x, axis=1);
lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y), reverse=True); lax.associative_scan(lax.max, n);
lax.optimization_barrier((x, y)); lax.stop_gradient(x); lax.split(x, [1, 3, 1], axis=1); lax.full((2, 0), 1, dtype); lax.full_like(x, s);
lax.mul(h, h), lax.neg(h), lax.abs(h), lax.sign(h); lax.reduce_max(h, (0, 2, 4, 6)), lax.reduce_sum(h, (1, 3, 5));
lax.composite(lambda a: a + a, 'my.op')(x); lax.platform_dependent(x, cpu=lambda a: a + a, default=lambda a: a)
"""

FUNCTIONS = """
nn.relu(n); nn.relu6(n); nn.sigmoid(n); nn.softplus(n); nn.silu(n); nn.swish(n); nn.soft_sign(n); nn.sparse_plus(n); nn.sparse_sigmoid(n); nn.log_sigmoid(n);
nn.leaky_relu(n); nn.hard_sigmoid(n); nn.hard_silu(n); nn.hard_swish(n); nn.hard_tanh(n); nn.elu(n); nn.celu(n); nn.selu(n); nn.gelu(n); nn.squareplus(n);
nn.mish(n); nn.tanh(n); nn.identity(n); nn.softmax(n); nn.log_softmax(n); nn.logsumexp(n); nn.standardize(n);
jax.grad(lambda a: nn.relu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.relu6(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.sigmoid(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.softplus(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.silu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.swish(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.soft_sign(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.sparse_plus(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.sparse_sigmoid(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.log_sigmoid(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.leaky_relu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.hard_sigmoid(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.hard_silu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.hard_swish(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.hard_tanh(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.elu(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.celu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.selu(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.gelu(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.squareplus(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.mish(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.tanh(a).astype(jnp.float32).sum())(x);
jax.grad(lambda a: nn.identity(a).astype(jnp.float32).sum())(x); jax.grad(lambda a: nn.logsumexp(a).astype(jnp.float32).sum())(x);
nn.gelu(x, approximate=False); nn.glu(x[:, :4]); nn.softmax(x, axis=0, where=mask); nn.log_softmax(x, where=mask); nn.standardize(x, axis=0);
nn.one_hot(k, 4); nn.one_hot(k, 4, dtype=jnp.int8, axis=0); nn.log1mexp(jnp.abs(x)); nn.initializers.orthogonal()(random.key(0), (4, 4), jnp.float32);
nn.initializers.truncated_normal()(random.key(0), (4, 4), x.dtype); jax.image.resize(image, (5, 12, 3), 'nearest');
jax.image.resize(image, (5, 12, 3), 'linear'); jax.image.resize(image, (13, 4, 3), 'cubic', antialias=False);
jax.image.resize(image, (5, 12, 3), 'lanczos3'); jax.image.resize(image, (5, 12, 3), 'lanczos5');
jax.ops.segment_sum(v, jnp.array([0, 0, 2, 1, -1, 5, 2]), 4); jax.ops.segment_max(v, jnp.array([0, 0, 2, 2, 2, 5, 2]), 4);
jax.ops.segment_min(v, jnp.array([0, 0, 2, 2, 2, 5, 2]), 4);
jax.ops.segment_prod(v, jnp.array([0, 0, 2, 2, 3, 3, 3]), 4, indices_are_sorted=False, mode='clip');
jax.ops.segment_sum(x, jnp.array([0, 0, 2, 2]), 4, bucket_size=2); jnp.fft.fft(x); jnp.fft.fft2(t); jnp.fft.fftn(t, s=(3, 3), axes=(1, 2), norm='ortho');
jnp.fft.ifft(x, n=8, axis=0, norm='forward'); jnp.fft.rfft(x); jnp.fft.rfft(x, n=4); jnp.fft.irfft(x, n=7); jnp.fft.irfft(x, axis=0); jnp.fft.rfftn(t);
jnp.fft.irfftn(t); jnp.fft.irfft2(t, norm='backward'); jnp.fft.hfft(x); jnp.fft.ihfft(x); jnp.fft.fftshift(x), jnp.fft.ifftshift(t, axes=1);
jnp.fft.fftfreq(8, .1), jnp.fft.rfftfreq(7); jnp.fft.fft(x[:0]); jnp.fft.fft(x[:, :1]); jsp.signal.convolve(v, w, 'same');
jsp.signal.convolve2d(x, g, 'full'); jsp.signal.convolve2d(x, g, 'same', boundary='fill'); jsp.signal.correlate(x, g, 'valid');
jsp.signal.correlate2d(x, g, 'same'); jsp.signal.fftconvolve(x, g, 'full'); jsp.signal.detrend(x); jsp.signal.detrend(x, type='constant', axis=0);
jsp.signal.stft(jnp.tile(v, 20), nperseg=16); jsp.signal.istft(jsp.signal.stft(jnp.tile(v, 20), nperseg=16)[2], nperseg=16);
jsp.ndimage.map_coordinates(x, [jnp.array([0.2, 2.7, 9.]), jnp.array([1.5, -1., 2.])], order=1);
jsp.ndimage.map_coordinates(x, [jnp.array([0.2, 2.7, 9.]), jnp.array([1.5, -1., 2.])], order=0, mode='wrap');
jsp.ndimage.map_coordinates(x, [jnp.array([0.2, 2.7, 9.]), jnp.array([1.5, -1., 2.])], order=1, mode='mirror');
jsp.ndimage.map_coordinates(x, [jnp.array([0.2, 2.7, 9.]), jnp.array([1.5, -1., 2.])], order=1, mode='reflect');
jsp.ndimage.map_coordinates(x, [jnp.array([0.2, 2.7, 9.]), jnp.array([1.5, -1., 2.])], order=1, mode='nearest', cval=3);
jsp.interpolate.RegularGridInterpolator((jnp.arange(4.), jnp.arange(5.)), x, bounds_error=False)(jnp.array([[.5, 1.2], [2.9, 3.]]));
jsp.integrate.trapezoid(x, dx=.3); jsp.cluster.vq.vq(x, y[:2]); jsp.spatial.transform.Rotation.from_quat(jnp.array([.1, .2, .3, .9])).as_matrix();
jsp.stats.rankdata(v), jsp.stats.rankdata(x, method='min', axis=1), jsp.stats.rankdata(x, 'dense'); jsp.stats.mode(jnp.round(x), axis=0);
jsp.stats.sem(x), jsp.stats.invert_permutation(jnp.array([2, 0, 1]));
jsp.optimize.minimize(lambda a: ((a - 1) ** 2).sum() + (a[0] * a[1]), v[:3], method='BFGS').x; jax.scipy.sparse.linalg.cg(g @ g.T + 3 * jnp.eye(3), g[0])[0];
jax.scipy.sparse.linalg.gmres(g @ g.T + 3 * jnp.eye(3), g[0])[0];
jax.scipy.sparse.linalg.gmres(g @ g.T + 3 * jnp.eye(3), g[0], solve_method='incremental')[0];
jax.scipy.sparse.linalg.bicgstab(g @ g.T + 3 * jnp.eye(3), g[0])[0]; lax.custom_linear_solve(lambda a: 3 * a, w, lambda mv, b: b / 3);
lax.custom_root(lambda a: a ** 3 - w[0] ** 2, w[1], lambda f, a: lax.fori_loop(0, 50, lambda _, c: c - f(c) / (3 * c * c + 1e-3), a), lambda g_, y_: y_ / g_(1.0));
jsp.special.multigammaln(jnp.abs(v) + 3, 2); jsp.special.softmax(x), jsp.special.log_softmax(x);
jsp.special.sph_harm_y(jnp.array([2]), jnp.array([1]), jnp.array([.3]), jnp.array([.4]), n_max=3);
jsp.special.lpmn_values(3, 3, v[:3] / 10, is_normalized=True); jsp.special.bernoulli(5); jsp.special.hyp1f1(jnp.abs(x[0]), 2., jnp.abs(y[0]));
jsp.special.bessel_jn(v / 3, v=4);
jsp.special.betainc(jnp.abs(x), 2., jnp.abs(y) / 20), jsp.special.beta(jnp.abs(x), jnp.abs(y)), jsp.special.betaln(jnp.abs(x), jnp.abs(y));
jsp.special.gammainc(jnp.abs(x), jnp.abs(y)), jsp.special.gammaincc(jnp.abs(x), jnp.abs(y));
jsp.special.xlogy(x, jnp.abs(n)), jsp.special.xlog1py(x, jnp.abs(n)), jsp.special.rel_entr(jnp.abs(x), jnp.abs(y)), jsp.special.kl_div(jnp.abs(x), jnp.abs(y));
jsp.special.boxcox(jnp.abs(x), y), jsp.special.boxcox1p(jnp.abs(x), y); jsp.special.digamma(n);
jax.grad(lambda a: jsp.special.digamma(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.gammaln(n);
jax.grad(lambda a: jsp.special.gammaln(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.gamma(n);
jax.grad(lambda a: jsp.special.gamma(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.gammasgn(n);
jax.grad(lambda a: jsp.special.gammasgn(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.loggamma(n);
jax.grad(lambda a: jsp.special.loggamma(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.erf(n);
jax.grad(lambda a: jsp.special.erf(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.erfc(n);
jax.grad(lambda a: jsp.special.erfc(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.erfinv(n);
jax.grad(lambda a: jsp.special.erfinv(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.log_ndtr(n);
jax.grad(lambda a: jsp.special.log_ndtr(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.ndtr(n);
jax.grad(lambda a: jsp.special.ndtr(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.ndtri(n);
jax.grad(lambda a: jsp.special.ndtri(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.i0(n); jsp.special.i0e(n);
jax.grad(lambda a: jsp.special.i0e(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.i1(n);
jax.grad(lambda a: jsp.special.i1(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.i1e(n);
jax.grad(lambda a: jsp.special.i1e(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.entr(n);
jax.grad(lambda a: jsp.special.entr(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.log1p(n);
jax.grad(lambda a: jsp.special.log1p(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.sinc(n);
jax.grad(lambda a: jsp.special.sinc(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.cbrt(n);
jax.grad(lambda a: jsp.special.cbrt(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.expm1(n);
jax.grad(lambda a: jsp.special.expm1(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.special.psi(n);
jax.grad(lambda a: jsp.special.psi(a).sum().astype(jnp.float32))(jnp.abs(x) / 30 + .1); jsp.stats.norm.logpdf(n, y, jnp.abs(w));
jsp.stats.norm.cdf(n, y, jnp.abs(w)); jsp.stats.t.logpdf(n, jnp.abs(y)); jsp.stats.gamma.logpdf(n, jnp.abs(y));
jsp.stats.beta.logpdf(n, jnp.abs(w), jnp.abs(y)); jsp.stats.laplace.cdf(n, y, jnp.abs(w)); jsp.stats.uniform.pdf(n, y, jnp.abs(w));
jsp.stats.poisson.pmf(n, jnp.abs(y)); jsp.stats.vonmises.pdf(n, jnp.abs(y)); jsp.stats.truncnorm.logpdf(n, -1., 2.); jsp.stats.chi2.logpdf(n, jnp.abs(w));
jsp.stats.expon.logpdf(n, y, jnp.abs(w))
"""

# KEY stands for a key, OTHER for another of the same kind. Of Threefry's numbers all, of the others what their bits make.
RANDOM_OF_THREEFRY = """
random.uniform(KEY, (3, 5), minval=-2., maxval=5.); random.uniform(KEY, (3, 5), dtype=jnp.bfloat16); random.uniform(KEY, (7,), dtype=jnp.float16);
random.permutation(KEY, 11); random.permutation(KEY, jnp.arange(12).reshape(4, 3), independent=True);
random.permutation(KEY, jnp.arange(12).reshape(4, 3), axis=1); random.choice(KEY, 9, (4,)); random.choice(KEY, 9, (4,), replace=False);
random.choice(KEY, jnp.arange(9.), (2, 3), p=jnp.arange(9.) / 36); random.choice(KEY, jnp.arange(9.), (3,), replace=False, p=jnp.arange(9.) / 36);
random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(3) + .3, (4,), method='cholesky');
random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(3) + .3, (4,), method='eigh').shape; random.truncated_normal(KEY, -1., 2., (3, 5));
random.bernoulli(KEY, .3, (3, 5)); random.bernoulli(KEY, jnp.array([.1, .5, .9])); random.beta(KEY, 2., 3., (4,)); random.cauchy(KEY, (4,));
random.dirichlet(KEY, jnp.array([1., 2., 3.]), (4,)); random.exponential(KEY, (4,)); random.gamma(KEY, jnp.array([.3, 1., 5.]), (4, 3));
random.loggamma(KEY, jnp.array([.01, 1., 5.]), (4, 3)); random.poisson(KEY, jnp.array([.3, 3., 50.]), (4, 3)); random.gumbel(KEY, (4,));
random.gumbel(KEY, (4,), mode='high'); random.categorical(KEY, jnp.log(jnp.array([[.1, .9], [.5, .5]])), axis=-1, shape=(5, 2));
random.categorical(KEY, jnp.arange(6.), shape=(3,), replace=False); random.laplace(KEY, (4,)); random.logistic(KEY, (4,));
random.lognormal(KEY, .7, (4,)); random.pareto(KEY, 3., (4,)); random.t(KEY, 3., (4,)); random.chisquare(KEY, 3., shape=(4,));
random.f(KEY, 3., 5., shape=(4,)); random.generalized_normal(KEY, 3., (4,)); random.ball(KEY, 3, 2, (4,)); random.orthogonal(KEY, 4);
random.rademacher(KEY, (8,)); random.maxwell(KEY, (4,)); random.double_sided_maxwell(KEY, 1., 2., (4,)); random.weibull_min(KEY, 1., 2., (4,));
random.rayleigh(KEY, 2., (4,)); random.wald(KEY, 2., (4,)); random.geometric(KEY, .3, (9,)); random.triangular(KEY, 0., .3, 1., (9,));
random.binomial(KEY, 10., .3, (9,)); random.binomial(KEY, 1000., .3, (9,)); random.multinomial(KEY, 20, jnp.array([.2, .3, .5]));
random.key_data(random.clone(KEY)); jax.grad(lambda a: random.gamma(KEY, a, (3,)).sum())(jnp.float32(2.));
jax.jacobian(lambda a: random.truncated_normal(KEY, a, 2., (3,)))(jnp.float32(-1.)); random.uniform(KEY, ())
"""

RANDOM_OF_BITS = """
random.bits(KEY, (3, 5), dtype=jnp.uint8); random.bits(KEY, (3, 5), dtype=jnp.uint16); random.bits(KEY, (3, 5), dtype=jnp.uint32);
random.bits(KEY, (3, 5), dtype=jnp.uint64); random.randint(KEY, (3, 5), -5, 100); random.randint(KEY, (30,), -128, 128, dtype=jnp.int8);
random.randint(KEY, (30,), 0, 300, dtype=jnp.uint16); random.normal(KEY, (3, 5)); random.normal(KEY, (3, 5), dtype=jnp.bfloat16);
random.normal(KEY, (3, 5), dtype=jnp.complex64); random.normal(KEY, (0, 3)); random.normal(KEY, (101, 33)).sum()
"""

RANDOM_OF_KEYS = """
random.key_data(random.split(KEY, 3)); random.key_data(random.split(KEY, (2, 2))); random.key_data(random.fold_in(KEY, 77));
random.key_data(jnp.concatenate([random.split(KEY, 3), random.split(KEY, 2)])[::-1][jnp.array([0, 3])]);
random.key_data(jax.vmap(lambda kk: random.fold_in(kk, 3))(random.split(KEY, 4))); jax.vmap(lambda kk: random.normal(kk, (3,)))(random.split(KEY, 4));
jax.vmap(lambda kk: random.randint(kk, (3,), 0, 99))(random.split(KEY, 4)); jax.vmap(lambda kk: random.permutation(kk, 7))(random.split(KEY, 4));
lax.scan(lambda kk, _: (random.split(kk)[0], random.uniform(kk)), KEY, None, length=5);
lax.while_loop(lambda c: c[1] < 3, lambda c: (random.fold_in(c[0], c[1]), c[1] + 1), (KEY, 0));
jnp.where(jnp.array([True, False]), random.split(KEY, 2), OTHER); random.bits(KEY, (513,))
"""

DERIVATIVES = """
several(tangent(lambda x: x[jnp.array([1,0,1,3])]))(x); grad(lambda x: x[::-1, ::2])(x);
several(tangent(lambda x: x.at[jnp.array([0,1,0])].add(2*x[:3])))(x); grad(lambda x: x.at[1].set(x[0]*x[2]))(x);
several(tangent(lambda x, y: x.at[jnp.array([2,2,0])].mul(y[:3])))(x, y); grad(lambda x, y: x.at[jnp.array([2,2,0])].max(y[:3]))(x, y);
several(tangent(lambda x, y: x.at[:, 1:3].min(y[:, :2])))(x, y); grad(lambda x: jnp.sort(x, axis=1))(x);
several(tangent(lambda x, y: lax.sort((x, y), num_keys=1, dimension=0)))(x, y); grad(lambda x: lax.top_k(x, 3)[0])(x);
several(tangent(lambda x: jnp.cumsum(x, 1)))(x); grad(lambda x: jnp.cumprod(x, 0))(x); several(tangent(lambda x: lax.cummax(x, 1)))(x);
grad(lambda x: lax.cumlogsumexp(x, 0, reverse=True))(x); several(tangent(lambda x: jnp.prod(x, 1)))(x); grad(lambda x: jnp.max(x, 0))(x);
several(tangent(lambda x: jnp.var(x, axis=1)))(x); grad(lambda x: jnp.linalg.norm(x, axis=1))(x); several(tangent(lambda x: jnp.quantile(x, .3, axis=1)))(x);
grad(lambda x: jnp.pad(x, 2, mode='reflect'))(x); several(tangent(lambda x: jnp.pad(x, 7, mode='wrap')))(x); grad(lambda x: jnp.roll(x, 2, 1))(x);
several(tangent(lambda x: jnp.repeat(x, 3, 0)))(x); grad(lambda x: jnp.convolve(x[0], x[1]))(x);
several(tangent(lambda x, y: jnp.einsum('ij,kj->ik', x, y)))(x, y); grad(lambda b, c: jnp.matmul(b, c))(batch, batch.transpose(0, 2, 1));
several(tangent(lambda b, c: jnp.tensordot(b, c, 1)))(batch, batch.transpose(0, 2, 1));
grad(lambda b: lax.dot_general(b, b, (((0, 2), (0, 2)), ((1,), (1,)))))(batch);
several(tangent(lambda image, kernel: lax.conv_general_dilated(image, kernel, (2, 1), ((1, 0), (0, 2)), dimension_numbers=('NHWC','HWIO','NHWC'))))(image, kernel);
grad(lambda image, kernel: lax.conv_general_dilated(image, kernel, (1, 1), 'VALID', batch_group_count=2, dimension_numbers=('NHWC','HWIO','NHWC')))(image, kernel);
several(tangent(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (1, 2), 'SAME')))(x);
grad(lambda x: lax.reduce_window(x, 0., lax.add, (2, 3), (1, 2), 'SAME', base_dilation=(2, 1), window_dilation=(1, 2)))(x);
several(tangent(lambda x: lax.reduce_window(x, jnp.inf, lax.min, (2, 2), (2, 2), 'VALID')))(x);
grad(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x, x))(x);
several(tangent(lambda x: lax.scan(lambda c, a: (c * jnp.cos(a), c + a), x[0], x)))(x);
grad(lambda x: lax.scan(jax.checkpoint(lambda c, a: (c * jnp.cos(a), c + a)), x[0], x))(x);
several(tangent(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)))(x); grad(lambda x: lax.switch(jnp.argmax(x[0]), [jnp.sin, jnp.cos, jnp.tanh], x))(x);
several(tangent(lambda x: lax.map(lambda a: a * a.sum(), x)))(x); grad(lambda x: jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), x * x))(x);
several(tangent(lambda x: lax.dynamic_slice(x, (1, 2), (2, 2)) * lax.dynamic_update_slice(x, x[:2, :2] * 2, (3, 4))[:2, :2]))(x);
grad(lambda x: lax.pad(x, 1., ((1, -1, 2), (-2, 3, 0))))(x); several(tangent(lambda g: jnp.linalg.inv(g @ g.T + 3 * jnp.eye(4))))(g);
grad(lambda g: jnp.linalg.cholesky(g @ g.T + 3 * jnp.eye(4)))(g); several(tangent(lambda g: jnp.linalg.det(g)))(g);
grad(lambda g: jnp.linalg.slogdet(g)[1])(g); several(tangent(lambda g: jnp.abs(jnp.linalg.qr(g)[1])))(g);
grad(lambda g: jnp.linalg.pinv(g @ g.T + 3 * jnp.eye(4)))(g); several(tangent(lambda g: jax.scipy.linalg.expm(g / 5)))(g);
grad(lambda g: jax.scipy.linalg.solve_triangular(jnp.tril(g) + 3 * jnp.eye(4), g, lower=True, trans=1))(g);
several(tangent(lambda g: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(g @ g.T + 3 * jnp.eye(4)), g)))(g);
grad(lambda g: jax.scipy.linalg.lu(g)[2])(g); several(tangent(lambda x: jnp.abs(jnp.fft.fft(x) + 9)))(x); grad(lambda x: jnp.abs(jnp.fft.rfft2(x) + 9))(x);
several(tangent(lambda x: jax.image.resize(x, (7, 3), 'cubic')))(x); grad(lambda x: jax.nn.softmax(x, 0) * jax.nn.logsumexp(x, 1, keepdims=True))(x);
several(tangent(lambda x: jax.scipy.special.gammaln(jnp.abs(x)+1) + jax.scipy.special.erf(x) + jax.scipy.special.i0e(x)))(x);
grad(lambda x: jax.ops.segment_max(x, jnp.array([0, 0, 2, 2]), 3))(x);
several(tangent(lambda x: jnp.linalg.norm(x[0], ord=3) + jnp.linalg.norm(x, ord='fro')))(x);
grad(lambda x: jnp.interp(x, jnp.arange(5.), jnp.sin(jnp.arange(5.))))(x);
several(tangent(lambda x: jnp.clip(x, -1, 1) + jnp.minimum(x, .5) + jnp.abs(x) + jnp.sign(x)))(x);
grad(lambda x: jnp.logaddexp(x, x[::-1]) + jnp.hypot(x, 2.) + jnp.arctan2(x, x[::-1] + 9))(x);
several(tangent(lambda x: jnp.power(jnp.abs(x) + 1, x) + x ** 3 + (jnp.abs(x) + 1) ** -1.5))(x);
grad(lambda x: jax.jit(lambda a: jax.nn.relu(a) * 2)(x) + jax.nn.gelu(x))(x);
several(tangent(lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1)[:, :3], 1)))(x); grad(lambda x: jnp.insert(x, 2, x[:, 0], axis=1))(x);
several(tangent(lambda x: jnp.tril(x) + jnp.flip(jnp.triu(x), 1)))(x); grad(lambda x: jax.lax.reduce(x, jnp.ones((), x.dtype), lax.mul, (0,)))(x);
several(tangent(lambda x: jnp.vectorize(jnp.dot, signature='(n),(n)->()')(x, x)))(x); grad(lambda x: jnp.linalg.multi_dot([x, x.T, x]))(x);
several(tangent(lambda x: jnp.apply_along_axis(jnp.sort, 0, x)))(x); grad(lambda x: lax.reduce_precision(x, 5, 10))(x);
several(tangent(lambda x: lax.conv_general_dilated_patches(x[None, None], (2, 2), (1, 1), 'VALID')))(x)
"""


def each(text):
    return [expression.strip() for expression in text.split(";")]


def with_keys(text, *kinds):
    keys = {kind: ("random.key(42)" if kind == "threefry2x32" else f"random.key(42, impl='{kind}')", f"random.key(1, impl='{kind}')") for kind in kinds}
    return [expression.replace("KEY", key).replace("OTHER", other) for key, other in keys.values() for expression in each(text)]


RANDOM = (with_keys(RANDOM_OF_THREEFRY, "threefry2x32") + with_keys(RANDOM_OF_BITS, "threefry2x32", "rbg")
          + with_keys(RANDOM_OF_KEYS, "threefry2x32", "rbg", "unsafe_rbg")
          + with_keys("random.randint(KEY, (3,), 0, 2 ** 40 if jax.config.jax_enable_x64 else 9, dtype=jnp.int64)", "rbg"))
ELEMENTWISE = [f"jnp.{name}(n)" for name in UNARY.split()] + [f"jnp.{name}(n, y)" for name in BINARY.split()]

SECTIONS = {
    "unary": {"wide": False, "calls": [("i4 u16 bf16 f32 c64", ELEMENTWISE)]},
    "reductions": {"wide": False, "calls": [("f32", each(REDUCTIONS))]},
    "indexing": {"wide": False, "calls": [("i4", each(INDEXING))]},
    "primitives": {"wide": False, "calls": [("s32 f32", each(PRIMITIVES))]},
    "functions": {"wide": False, "calls": [("f32", each(FUNCTIONS))]},
    "random": {"wide": False, "calls": [("f32", RANDOM)]},
    "derivatives": {"wide": False, "calls": [("f32", each(DERIVATIVES))]},
    "wide": {"wide": True, "calls": [("s64 f64", ELEMENTWISE)]},
}
