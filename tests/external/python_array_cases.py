"""Cases of python_arrays.py: each an expression of NumPy's or our functions `np`, on numbers that `d` draws, the same for both."""
import math
import types


class Draws:
    """The same inputs for both: extents, and arrays of them."""

    def __init__(self, seed, numpy, made):
        self.rng, self.np, self.made = numpy.random.default_rng(seed), numpy, made

    def shape(self, rank, least=0):
        return tuple(int(n) for n in self.rng.integers(least, 6, rank))

    def f(self, *shape, low=-2.0, high=2.0, dtype="float32"):
        return self.made(self.rng.uniform(low, high, shape).astype(dtype))

    def i(self, *shape, low=0, high=9, dtype="int32"):
        return self.made(self.rng.integers(low, high, shape).astype(dtype))

    def b(self, *shape):
        return self.made(self.rng.integers(0, 2, shape).astype(bool))

    def c(self, *shape):
        return self.made((self.rng.normal(size=shape) + 1j * self.rng.normal(size=shape)).astype("complex64"))

    def rough(self, *shape):  # with what isn't a number
        x = self.rng.uniform(-3, 3, shape).astype("float32")
        for value in (self.np.nan, self.np.inf, -self.np.inf, 0.0):
            x.reshape(-1)[self.rng.integers(0, max(1, x.size), 2) % max(1, x.size)] = value
        return self.made(x)


def definitions(np):
    """What NumPy lacks, by definition."""
    import ml_dtypes

    def put(how):
        def scatter(a, indices, updates, axes):  # one axis 0, rows
            a = a.copy()
            for row, update in zip(np.asarray(indices[0]), updates):
                a[row] = how(a[row], update[0])
            return a
        return scatter

    def box(how):
        def update(a, with_, start, stop, strides=None):
            a = a.copy()
            at = tuple(map(slice, start, stop, strides or [None] * len(start)))
            a[at] = how(a[at], with_)
            return a
        return update

    def put_along(a, indices, values, axis):
        a = a.copy()
        np.put_along_axis(a, indices, values, axis)
        return a

    def add_along(a, indices, values, axis):
        a = a.copy()
        at = list(np.indices(indices.shape))
        at[axis] = indices
        np.add.at(a, tuple(at), values)
        return a

    def running(of):
        return lambda a, axis: of.accumulate(a, axis=axis)

    def conv(x, w, stride, low, high, dilation, flip=False):
        x = np.pad(x, [(0, 0), *zip(low, high), (0, 0)])
        rank = len(stride)
        extents = [(x.shape[1 + d] - (w.shape[1 + d] - 1) * dilation[d] - 1) // stride[d] + 1 for d in range(rank)]
        y = np.zeros((x.shape[0], *extents, w.shape[0]), np.float32)
        for at in np.ndindex(*extents):
            for k in np.ndindex(*w.shape[1:-1]):
                place = tuple(a * s + t * d for a, s, t, d in zip(at, stride, k, dilation))
                tap = tuple(n - 1 - t for n, t in zip(w.shape[1:-1], k)) if flip else k
                y[(slice(None), *at)] += x[(slice(None), *place)] @ w[(slice(None), *tap)].T
        return y

    def softmax(a, axis=None, precise=False):
        e = np.exp(a - a.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def take_last(a, k, axis=-1):
        return np.take(np.sort(a, axis=axis), range(a.shape[axis] - k, a.shape[axis]), axis=axis)

    def conv_transpose(x, w, stride, padding, dilation, more):
        rank = len(stride)
        whole = [(n - 1) * s + (k - 1) * t + 1 + m for n, s, k, t, m in zip(x.shape[1:-1], stride, w.shape[1:-1], dilation, more)]
        y = np.zeros((x.shape[0], *whole, w.shape[0]), np.float32)
        for at in np.ndindex(*x.shape[1:-1]):
            for k in np.ndindex(*w.shape[1:-1]):
                place = tuple(a * s + t * d for a, s, t, d in zip(at, stride, k, dilation))
                y[(slice(None), *place)] += x[(slice(None), *at)] @ w[(slice(None), *k)].T
        return y[(slice(None), *(slice(p, n - p) for p, n in zip(padding, whole)))]

    def unique(a, size, return_index=False, return_inverse=False, return_counts=False, fill_value=None):
        values, index, inverse, counts = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
        fit = lambda x, fill: np.concatenate([x[:size], np.full(max(0, size - x.size), fill, x.dtype)])
        return [fit(values, values[0] if fill_value is None else fill_value), fit(index, index[0]), np.minimum(inverse.reshape(a.shape), size - 1), fit(counts, 0)]

    def masked_scatter(a, mask, values):
        a = a.copy()
        a[mask] = values[:mask.sum()]
        return a

    def masked_mm(a, b, block, out=None, lhs=None, rhs=None):
        wide = lambda mask, like: 1 if mask is None else np.kron(mask, np.ones((block, block)))[:like.shape[0], :like.shape[1]]
        made = (a * wide(lhs, a)) @ (b * wide(rhs, b))
        return (made * wide(out, made)).astype(a.dtype)

    def hadamard(a):
        h = np.ones((1, 1), a.dtype)
        while len(h) < a.shape[-1]:
            h = np.block([[h, h], [h, -h]])
        return a @ h / np.sqrt(np.float32(len(h)))

    def einsum_path(text, *operands):
        return [np.array([[0, 1], [0, 1]], "int32")]

    plus, times = (lambda a, b: a + b), (lambda a, b: a * b)
    two = lambda n: (n, n) if isinstance(n, int) else n
    erf = np.vectorize(math.erf, otypes=["float32"])
    logsumexp = lambda a, axis=None, keepdims=False: np.log(np.sum(np.exp(a), axis=axis, keepdims=keepdims))
    return {
        "rsqrt": lambda a: 1 / np.sqrt(a), "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "erf": erf, "erfinv": lambda a: a, "stop_gradient": lambda a: a,
        "contiguous": lambda a: a, "logsumexp": logsumexp, "softmax": softmax, "cummax": running(np.maximum), "cummin": running(np.minimum),
        "logcumsumexp": running(np.logaddexp), "topk": take_last, "unflatten": lambda a, axis, shape: a.reshape(a.shape[:axis] + tuple(shape) + a.shape[axis + 1:]),
        "number_of_elements": lambda a, axes: np.prod([a.shape[d] for d in axes]), "scatter": put(lambda a, b: b), "scatter_add": put(plus),
        "scatter_prod": put(times), "scatter_max": put(np.maximum), "scatter_min": put(np.minimum), "slice_update": box(lambda a, b: b),
        "slice_update_add": box(plus), "slice_update_prod": box(times), "slice_update_max": box(np.maximum), "slice_update_min": box(np.minimum),
        "slice": lambda a, start, stop, strides=None: a[tuple(map(slice, start, stop, strides or [None] * len(start)))],
        "slice_at": lambda a, start, axes, size: a[tuple(slice(s, s + n) for s, n in zip(np.asarray(start), size))],
        "slice_update_at": lambda a, u, start, axes: box(lambda a, b: b)(a, u, np.asarray(start), np.asarray(start) + u.shape),
        "gather": lambda a, indices, axes, sizes: a[np.asarray(indices[0])][:, None],
        "put_along_axis": put_along, "scatter_add_axis": add_along, "addmm": lambda c, a, b, alpha=1, beta=1: beta * c + alpha * (a @ b),
        "conv1d": lambda x, w, stride=1, padding=0, dilation=1: conv(x, w, [stride], [padding], [padding], [dilation]),
        "conv2d": lambda x, w, stride=1, padding=0, dilation=1: conv(x, w, two(stride), two(padding), two(padding), two(dilation)),
        "conv3d": lambda x, w, stride=1, padding=0: conv(x, w, [stride] * 3, [padding] * 3, [padding] * 3, [1] * 3),
        "conv_general": lambda x, w, stride, padding, flip: conv(x, w, stride, padding[0], padding[1], [1] * len(stride), flip),
        **{f"conv_transpose{n}d": lambda x, w, s=1, p=0, d=1, m=0, n=n: conv_transpose(x, w, *([v] * n for v in (s, p, d, m))) for n in (1, 2, 3)},
        "minmax": lambda a, axis=None: (np.min(a, axis), np.max(a, axis)), "unique": unique, "depends": lambda a, b: a, "masked_scatter": masked_scatter,
        "gather_mm": lambda a, b, i, j: a[i] @ b[j], "segmented_mm": lambda a, b, s: np.stack([a[:, x:y] @ b[x:y] for x, y in s]), "block_masked_mm": masked_mm,
        "hadamard_transform": hadamard, "einsum_path": einsum_path,
        "to_fp8": lambda a: a.astype(np.float32).astype(ml_dtypes.float8_e4m3fn).view("uint8"), "from_fp8": lambda a, t: a.view(ml_dtypes.float8_e4m3fn).astype(t),
        "conj": np.conjugate, "flatten": lambda a: a.reshape(-1), "view": lambda a, t: a.view(t),
        "partition": lambda a, k, axis=-1: np.sort(a, axis)[..., k], "logical": None, "as_strided": lambda a, shape, strides, offset: np.array(
            [a.reshape(-1)[offset + sum(i * s for i, s in zip(at, strides))] for at in np.ndindex(*shape)], a.dtype).reshape(shape),
        "expand_dims": np.expand_dims, "degrees": np.degrees,
    }


class Beside:
    """NumPy, with definitions of what it lacks."""

    def __init__(self, np):
        self.np, self.more = np, definitions(np)
        self.fft = types.SimpleNamespace(**{name: getattr(np.fft, name) for name in np.fft.__all__} | {"stft": self.stft})
        self.linalg = types.SimpleNamespace(**{name: getattr(np.linalg, name) for name in np.linalg.__all__} | linalg_definitions(np))

    def stft(self, x, n_fft, hop, win_length=None, window=None, center=True):
        np = self.np
        window = np.ones(win_length or n_fft, "float32") if window is None else window
        before = (n_fft - window.size) // 2
        window = np.pad(window, (before, n_fft - window.size - before))
        if center:
            x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode="reflect")
        parts = [np.fft.rfft(x[..., at:at + n_fft] * window) for at in range(0, x.shape[-1] - n_fft + 1, hop)]
        return np.stack(parts, -1).astype("complex64")

    def __getattr__(self, name):
        return self.more[name] if name in self.more else getattr(self.np, name)


def each(names, inputs):
    return {name: (lambda np, d, name=name: getattr(np, name)(*inputs(d))) for name in names.split()}


def rank2(low=-2.0, high=2.0, least=0):
    return lambda d: [d.f(*d.shape(2, least), low=low, high=high)]


def rows_of(d):
    return d.f(5, 3, low=0.5), [d.i(4, high=5)], d.f(4, 1, 3, low=0.5), [0]


def unique_rows(d):
    return d.f(5, 3, low=0.5), [d.made(d.rng.permutation(5)[:4].astype("int32"))], d.f(4, 1, 3, low=0.5), [0]


def boxes(d):
    return d.f(5, 6), d.f(2, 3), [1, 0], [5, 6], [2, 2]


def broadcastable(low=-2.0, high=2.0):
    def inputs(d):
        n, m, k = d.shape(3, 1)
        return [d.f(n, m, k, low=low, high=high), d.f(*([m, k], [m, 1], [n, 1, k], [])[d.rng.integers(4)], low=low, high=high)]
    return inputs


def whole(d):
    shape = d.shape(2, 1)
    return [d.i(*shape, high=100), d.i(*shape, low=1, high=6)]


def reductions(name):
    def case(np, d):
        x, f = d.f(*d.shape(3, 1)), getattr(np, name)
        return [f(x), f(x, axis=1), f(x, axis=-1, keepdims=True)] + ([f(x, axis=(0, 2))] if not name.startswith("arg") else [])
    return {name: case}


def cumulative(name):
    return {name: lambda np, d: [getattr(np, name)(d.f(*d.shape(2, 1)), axis=axis) for axis in (0, -1)]}


CASES = {
    **each("positive negative ceil floor trunc square sin cos tan arctan sinh cosh tanh arcsinh exp expm1 degrees radians abs sign sigmoid erf zeros_like ones_like "
           "stop_gradient contiguous copy transpose flatten ravel squeeze atleast_1d atleast_2d atleast_3d real imag", rank2()),
    **each("sqrt rsqrt reciprocal log log2 log10 log1p", rank2(0.1, 4)), **each("arcsin arccos arctanh", rank2(-0.9, 0.9)), **each("arccosh", rank2(1.1, 4)),
    **each("isnan isinf isfinite isposinf isneginf nan_to_num", lambda d: [d.rough(4, 5)]),
    **each("conjugate conj", lambda d: [d.c(3, 2)]), **each("logical_not", lambda d: [d.b(3, 4)]), **each("bitwise_invert", lambda d: [d.i(3, 4)]),
    **each("add subtract multiply maximum minimum logaddexp arctan2 equal not_equal less less_equal greater greater_equal", broadcastable()),
    **each("divide floor_divide remainder divmod", broadcastable(0.5, 9)), **each("power", broadcastable(0.5, 2)),
    **each("bitwise_and bitwise_or bitwise_xor left_shift right_shift", whole),
    **each("logical_and logical_or logical_xor", lambda d: [d.b(3, 4), d.b(4)]), **each("isclose allclose array_equal", lambda d: [d.i(3, 4), d.i(3, 4)]),
    **each("matrix_transpose", lambda d: [d.f(2, 3, 4)]),
    **each("outer", lambda d: [d.f(3), d.f(4)]), **each("inner", lambda d: [d.f(3, 4), d.f(2, 4)]), **each("kron", lambda d: [d.f(2, 3), d.f(3, 2)]),
    **each("vecdot", lambda d: [d.f(3, 4), d.f(3, 4)]), **each("addmm", lambda d: [d.f(3, 4), d.f(3, 2), d.f(2, 4), 0.5, 2.0]),
    **each("scatter", unique_rows), **each("scatter_add scatter_prod scatter_max scatter_min", rows_of),
    **each("slice_update slice_update_add slice_update_prod slice_update_max slice_update_min", boxes),
    "erfinv": lambda np, d: d.f(20, low=-0.9, high=0.9) if isinstance(np, Beside) else np.erf(np.erfinv(d.f(20, low=-0.9, high=0.9))),
    **{k: v for name in "sum prod mean max min all any median count_nonzero logsumexp var std argmax argmin".split() for k, v in reductions(name).items()},
    **{k: v for name in "cumsum cumprod cummax cummin logcumsumexp".split() for k, v in cumulative(name).items()},
    "ddof": lambda np, d: [np.var(d.f(4, 5), axis=0, ddof=1), np.std(d.f(4, 5), ddof=2)],
    "softmax": lambda np, d: [np.softmax(d.f(3, 4), axis=-1), np.softmax(d.f(3, 4)), np.softmax(d.f(3, 4), axis=0, precise=True)],
    "round": lambda np, d: [np.round(d.f(9, high=50)), np.round(d.f(9), 2), np.round(np.array([0.5, 1.5, 2.5], "float32"))],
    "clip": lambda np, d: [np.clip(d.f(9), -1, 1), np.clip(d.f(9), None, 0.5), np.clip(d.f(3, 4), d.f(4, high=0), 3.0)],
    "where": lambda np, d: [np.where(d.b(3, 4), d.f(4), 0.0), np.where(d.b(3, 1), d.f(3, 4), d.f(3, 4))],
    "arange": lambda np, d: [np.arange(7), np.arange(2, 9, 3), np.arange(5, -1, -2), np.arange(0.0, 1.0, 0.25), np.arange(3, dtype="float32")],
    "linspace": lambda np, d: [np.linspace(0, 1, 7), np.linspace(2, -1, 5, endpoint=False), np.linspace(0, 3, 4, dtype="int32")],
    "full": lambda np, d: [np.full((2, 3), 7), np.full(4, 1.5), np.full((2, 3), d.f(3)), np.full_like(d.f(2, 2), 3), np.full((2,), 3, "int8")],
    "full_like": lambda np, d: np.full_like(d.i(2, 2), 3), "zeros": lambda np, d: [np.zeros((0, 3)), np.zeros(4, "int32")],
    "ones": lambda np, d: [np.ones((2, 3)), np.ones((), "bool")], "identity": lambda np, d: np.identity(4),
    "eye": lambda np, d: [np.eye(3), np.eye(3, 5, 1), np.eye(4, 2, -1, dtype="int32")], "tri": lambda np, d: [np.tri(4), np.tri(3, 5, 1), np.tri(3, 5, -1)],
    "tril": lambda np, d: [np.tril(d.f(2, 4, 5)), np.tril(d.f(4, 4), -1)], "triu": lambda np, d: [np.triu(d.f(2, 4, 5)), np.triu(d.f(4, 4), 1)],
    "meshgrid": lambda np, d: list(np.meshgrid(d.f(3), d.f(4))) + list(np.meshgrid(d.f(3), d.f(4), d.f(2), indexing="ij", sparse=True)),
    **{name: (lambda np, d, name=name: getattr(np, name)(int(d.rng.integers(2, 9)))) for name in "bartlett blackman hamming hanning".split()},
    "astype": lambda np, d: [d.f(3, 4).astype("int32"), d.i(3).astype(float), d.b(4).astype("uint8"), np.astype(d.f(3), "float64")],
    "view": lambda np, d: [np.view(d.f(3, 4), "int32"), np.view(d.i(3, 4), "uint8"), np.view(d.i(2, 8, dtype="uint8"), "float32")],
    "reshape": lambda np, d: [np.reshape(d.f(3, 4), (2, -1)), np.reshape(d.f(6), (2, 3)), d.f(2, 3, 4).reshape(-1), d.f(12).reshape(3, 4), d.f(0, 3).reshape((3, 0))],
    "unflatten": lambda np, d: np.unflatten(d.f(2, 12, 3), 1, (3, 4)),
    "expand_dims": lambda np, d: [np.expand_dims(d.f(3, 4), 1), np.expand_dims(d.f(3, 4), (0, -1)), np.squeeze(d.f(1, 3, 1), axis=0), np.squeeze(d.f(1, 3, 1))],
    "broadcast_to": lambda np, d: np.broadcast_to(d.f(3, 1), (2, 3, 4)), "broadcast_arrays": lambda np, d: list(np.broadcast_arrays(d.f(3, 1), d.f(4))),
    "transposes": lambda np, d: [np.transpose(d.f(2, 3, 4), (2, 0, 1)), d.f(2, 3, 4).T, d.f(2, 3, 4).transpose(1, 0, 2), d.f(2, 3, 4).mT],
    "swapaxes": lambda np, d: np.swapaxes(d.f(2, 3, 4), 0, -1), "moveaxis": lambda np, d: np.moveaxis(d.f(2, 3, 4), 0, 2),
    "flip": lambda np, d: [np.flip(d.f(3, 4)), np.flip(d.f(3, 4), 1), np.flip(d.f(3, 4), (0, 1))],
    "concatenate": lambda np, d: [np.concatenate([d.f(2, 3), d.f(4, 3)]), np.concatenate([d.f(2, 3), d.f(2, 1)], axis=-1), np.concatenate([d.f(2, 3), d.f(4)], axis=None)],
    "stack": lambda np, d: [np.stack([d.f(2, 3), d.f(2, 3)]), np.stack((d.f(2), d.f(2)), axis=-1)],
    "split": lambda np, d: list(np.split(d.f(6, 4), 3)) + list(np.split(d.f(6, 4), [1, 3], axis=1)), "unstack": lambda np, d: list(np.unstack(d.f(3, 4), axis=1)),
    "repeat": lambda np, d: [np.repeat(d.f(3, 4), 2), np.repeat(d.f(3, 4), 3, axis=1)], "tile": lambda np, d: [np.tile(d.f(3, 2), (2, 3)), np.tile(d.f(3), 2)],
    "pad": lambda np, d: [np.pad(d.f(3, 4), 1), np.pad(d.f(3, 4), (1, 2)), np.pad(d.f(3, 4), [(0, 1), (2, 0)], constant_values=3.0), np.pad(d.f(3, 4), 2, mode="edge")],
    "roll": lambda np, d: [np.roll(d.f(3, 4), 2), np.roll(d.f(3, 4), -1, axis=1), np.roll(d.f(3, 4), (1, 2), axis=(0, 1))],
    "as_strided": lambda np, d: np.as_strided(d.f(4, 5), (3, 2), [6, 2], 1), "number_of_elements": lambda np, d: np.number_of_elements(d.f(2, 3, 4), [0, 2]),
    "slice": lambda np, d: [np.slice(d.f(5, 6), [1, 0], [4, 6], [2, 3]), np.slice(d.f(5, 6), [1, 2], [4, 3])],
    "slice_at": lambda np, d: np.slice_at(d.f(5, 6), d.made(d.np.array([1, 2], "int32")), [0, 1], [3, 2]),
    "slice_update_at": lambda np, d: np.slice_update_at(d.f(5, 6), d.f(3, 2), d.made(d.np.array([1, 2], "int32")), [0, 1]),
    "gather": lambda np, d: np.gather(d.f(5, 3), [d.i(4, high=5)], [0], [1, 3]),
    "take": lambda np, d: [np.take(d.f(5, 3), d.i(4, high=5), axis=0), np.take(d.f(5, 3), d.i(2, 2, high=15)), np.take(d.f(5, 3), 2, axis=1)],
    "take_along_axis": lambda np, d: np.take_along_axis(d.f(5, 3), d.i(2, 3, high=5, dtype="int64"), axis=0),
    "put_along_axis": lambda np, d: np.put_along_axis(d.f(5, 3), np.arange(3)[None, :] + 0 * np.ones((1, 3), "int32"), d.f(1, 3), 0),
    "scatter_add_axis": lambda np, d: np.scatter_add_axis(d.f(5, 3), d.i(4, 3, high=5, dtype="int64"), d.f(4, 3), 0),
    "diagonal": lambda np, d: [np.diagonal(d.f(3, 4)), np.diagonal(d.f(2, 3, 4), 1, 1, 2)], "diag": lambda np, d: [np.diag(d.f(3)), np.diag(d.f(3, 4), -1), np.diag(d.f(2), 2)],
    "trace": lambda np, d: [np.trace(d.f(3, 4)), np.trace(d.f(2, 3, 4), 1, 1, 2), np.trace(d.f(3, 4), dtype="float64")],
    "sort": lambda np, d: [np.sort(d.rough(4, 5)), np.sort(d.f(4, 5), axis=0), np.sort(d.f(4, 5), axis=None)],
    "argsort": lambda np, d: [np.argsort(d.f(4, 5)), np.argsort(d.f(4, 5), axis=0), np.argsort(d.f(4, 5), axis=None)],
    "partition": lambda np, d: np.sort(d.f(4, 5))[..., 2] if isinstance(np, Beside) else np.partition(d.f(4, 5), 2)[..., 2],
    "argpartition": lambda np, d: np.argsort(d.f(4, 5))[..., 2] if isinstance(np, Beside) else np.argpartition(d.f(4, 5), 2)[..., 2],
    "topk": lambda np, d: [np.topk(d.f(4, 5), 2), np.topk(d.f(4, 5), 3, axis=0)], "diff": lambda np, d: [np.diff(d.f(4, 5)), np.diff(d.f(5, 3), 2, axis=0)],
    "searchsorted": lambda np, d: [np.searchsorted(np.sort(d.i(9)), d.i(4, 2), side=side) for side in ("left", "right")]
    + [np.searchsorted(np.sort(d.rough(9)), d.rough(6), side=side) for side in ("left", "right")],
    "matmul": lambda np, d: [np.matmul(d.f(3, 4), d.f(4, 2)), d.f(2, 3, 4) @ d.f(4), d.f(5) @ d.f(5), d.f(2, 1, 3, 4) @ d.f(3, 4, 2)],
    "tensordot": lambda np, d: [np.tensordot(d.f(2, 3, 4), d.f(3, 4, 5)), np.tensordot(d.f(2, 3), d.f(4, 3), axes=((1,), (1,))), np.tensordot(d.f(2), d.f(3), axes=0)],
    "einsum": lambda np, d: [np.einsum("ij,jk->ik", d.f(2, 3), d.f(3, 4)), np.einsum("bij,bj->bi", d.f(2, 3, 4), d.f(2, 4)), np.einsum("ii", d.f(3, 3))],
    "conv1d": lambda np, d: np.conv1d(d.f(2, 9, 3), d.f(4, 3, 3), stride=2, padding=1, dilation=2),
    "conv2d": lambda np, d: [np.conv2d(d.f(2, 6, 7, 3), d.f(4, 3, 2, 3), padding=1), np.conv2d(d.f(1, 6, 7, 2), d.f(3, 2, 2, 2), stride=(2, 1), dilation=(1, 2))],
    "conv_general": lambda np, d: np.conv_general(d.f(2, 6, 3), d.f(4, 3, 3), [1], ([1], [0]), flip=True),
    "conv3d": lambda np, d: np.conv3d(d.f(1, 4, 5, 4, 2), d.f(3, 2, 3, 2, 2), stride=2, padding=1),
    "conv_transpose1d": lambda np, d: [np.conv_transpose1d(d.f(2, 5, 2), d.f(3, 3, 2)), np.conv_transpose1d(d.f(2, 5, 2), d.f(3, 3, 2), 3, 1, 2, 1)],
    "conv_transpose2d": lambda np, d: np.conv_transpose2d(d.f(2, 4, 3, 2), d.f(3, 2, 3, 2), 2, 1), "conv_transpose3d": lambda np, d: np.conv_transpose3d(d.f(1, 2, 3, 2, 2), d.f(3, 2, 2, 2, 2), 2),
    "minmax": lambda np, d: [*np.minmax(d.f(3, 4)), *np.minmax(d.f(3, 4), 1)], "depends": lambda np, d: np.depends(d.f(3), d.f(4)),
    "unique": lambda np, d: [*np.unique(d.i(3, 4, high=5), 3, True, True, True), *np.unique(d.i(12, high=5), 9, True, True, True, fill_value=7)],
    "masked_scatter": lambda np, d: [np.masked_scatter(d.f(3, 4), d.b(3, 4), d.f(12)), np.masked_scatter(d.f(3, 4), d.b(3), d.f(3, 4))],
    "gather_mm": lambda np, d: np.gather_mm(d.f(3, 2, 4), d.f(5, 4, 3), d.i(6, high=3), d.i(6, high=5)),
    "segmented_mm": lambda np, d: np.segmented_mm(d.f(3, 6), d.f(6, 2), np.array([[0, 2], [2, 6], [5, 5]], "int32")),
    "block_masked_mm": lambda np, d: [np.block_masked_mm(d.f(3, 5), d.f(5, 4), 2, d.b(2, 2), d.b(2, 3), d.b(3, 2)), np.block_masked_mm(d.f(3, 5), d.f(5, 4), 4, d.f(1, 1))],
    "hadamard_transform": lambda np, d: np.hadamard_transform(d.f(2, 128)), "einsum_path": lambda np, d: [np.array(np.einsum_path("ij,jk,kl->il", d.f(2, 3), d.f(3, 4), d.f(4, 5))[0])],
    "to_fp8": lambda np, d: np.to_fp8(d.f(300, low=-440, high=440) * d.f(300, low=0, high=1) ** 6), "from_fp8": lambda np, d: np.from_fp8(d.i(100, high=127, dtype="uint8"), "float32"),
    "masks": lambda np, d: [d.f(3, 4)[d.b(3, 4)], d.f(3, 4)[d.b(3)], d.f(3, 4, 2)[:, d.b(4)], d.f(3, 4)[d.b(3), 1:]],
    "more pads": lambda np, d: [np.pad(d.f(3, 4), 5, mode="reflect"), np.pad(d.f(3, 2), ((3, 1), (0, 7)), mode="symmetric"), np.roll(d.f(3, 4), (1, 2)), np.split(d.f(6), [4, 2])[1]],
    "dots": lambda np, d: [np.einsum("...ij,...jk", d.f(2, 3, 4), d.f(4, 2)), np.einsum("...i->i...", d.f(2, 3, 4)), np.einsum("i...,j...->ij...", d.f(2, 3), d.f(4, 3))],
    "operators": lambda np, d: [2 - d.f(3), 1 / d.f(3, low=1), d.i(3) // 2, 7 % d.i(3, low=1), 2.0 ** d.f(3), d.i(3) << 1, d.i(3) & 5, ~d.i(3), -d.f(3), +d.f(3), abs(d.f(3)),
                                d.f(3) > 0, 0 <= d.f(3), d.b(3) | True, d.i(4) == 3, d.i(4) != 3, divmod(d.f(3), 0.5), d.c(3).real, d.c(3).imag],
    "methods": lambda np, d: [d.f(3, 4).sum(axis=0), d.f(3, 4).mean(), d.f(3, 4).max(axis=1), d.f(3, 4).argmax(), d.f(3, 4).clip(-1, 1), d.f(3, 4).var(ddof=1), d.f(2, 3).ravel(),
                              d.f(3, 1).squeeze(), d.f(2, 3).swapaxes(0, 1), d.f(3, 4).round(1), d.f(3, 4).take(d.i(2, high=3), axis=0), d.f(3, 4).trace(), d.f(3, 4).cumsum(axis=1)],
    "numbers": lambda np, d: [np.array([1, 2]) + 1, np.array([[1.5, 2], [3, 4]]), np.array(True), np.array([True, False]) + 1, np.array(3 + 4j) * 2, np.array([]), np.array([[], []])],
}


def square(d):
    return d.f(2, 4, 4) + 4 * d.made(d.np.eye(4, dtype="float32"))


def positive(d):
    a = d.np.asarray(d.rng.normal(size=(4, 4)))
    return d.made((a @ a.T + d.np.eye(4)).astype("float32"))


def linalg_definitions(np):
    return {
        "tri_inv": lambda a, upper=False: np.linalg.inv(np.triu(a) if upper else np.tril(a)), "cholesky_inv": lambda a, upper=False: np.linalg.inv(a @ a.T),
        "solve_triangular": lambda a, b, upper=False: np.linalg.solve(np.triu(a) if upper else np.tril(a), b),
    }


def whole_of_lu(np, a):
    """What L, U and the order of rows make again."""
    if isinstance(np, Beside):
        return [a, a]
    p, l, u = np.linalg.lu(a)
    back = np.argsort(p.astype("int32"), axis=-1)
    both, pivots = np.linalg.lu_factor(a)
    return [np.take_along_axis(l @ u, np.expand_dims(back, -1) + np.zeros(a.shape, "int32"), axis=-2), a + 0 * (both.shape == a.shape) * pivots.shape[-1]]


MODULES = {
    "linalg": {
        "norm": lambda np, d: [np.linalg.norm(d.f(3, 4)), np.linalg.norm(d.f(3, 4), axis=1), np.linalg.norm(d.f(3, 4), 1, axis=0, keepdims=True),
                               np.linalg.norm(d.f(3, 4), "fro"), np.linalg.norm(d.f(3, 4), "nuc"), np.linalg.norm(d.f(2, 3, 4), 2, axis=(-2, -1)), np.linalg.norm(d.f(5), np.inf)],
        "inv": lambda np, d: np.linalg.inv(square(d)), "pinv": lambda np, d: np.linalg.pinv(d.f(4, 3)), "det": lambda np, d: np.linalg.det(square(d)),
        "slogdet": lambda np, d: list(np.linalg.slogdet(square(d))), "solve": lambda np, d: np.linalg.solve(square(d), d.f(2, 4, 3)),
        "cross": lambda np, d: np.linalg.cross(d.f(5, 3), d.f(5, 3)), "eigvalsh": lambda np, d: np.linalg.eigvalsh(positive(d)),
        "eigh": lambda np, d: [abs(part) for part in np.linalg.eigh(positive(d))], "cholesky": lambda np, d: [np.linalg.cholesky(positive(d)), np.linalg.cholesky(positive(d), upper=True)],
        "qr": lambda np, d: [abs(part) for part in np.linalg.qr(d.f(5, 3))], "svd": lambda np, d: [np.linalg.svd(d.f(4, 3), compute_uv=False), abs(np.linalg.svd(d.f(3, 3))[0])],
        "lu": lambda np, d: whole_of_lu(np, square(d)), "lu_factor": lambda np, d: whole_of_lu(np, square(d))[1],
        "tri_inv": lambda np, d: [np.linalg.tri_inv(square(d)), np.linalg.tri_inv(square(d), upper=True)],
        "cholesky_inv": lambda np, d: np.linalg.cholesky_inv(np.tril(positive(d))),
        "solve_triangular": lambda np, d: [np.linalg.solve_triangular(square(d), d.f(2, 4, 3)), np.linalg.solve_triangular(square(d), d.f(2, 4, 3), upper=True)],
        "eig": lambda np, d: np.sort(abs(np.linalg.eig(d.f(4, 4))[0])), "eigvals": lambda np, d: np.sort(abs(np.linalg.eigvals(d.f(4, 4)))),
    },
    "fft": {
        **{name: (lambda np, d, f=name: [getattr(np.fft, f)(d.c(3, 8)), getattr(np.fft, f)(d.c(3, 8), 5, axis=0), getattr(np.fft, f)(d.c(8), norm="ortho")])
           for name in ("fft", "ifft", "irfft")},
        "rfft": lambda np, d: [np.fft.rfft(d.f(3, 8)), np.fft.rfft(d.f(3, 8), n=9, axis=-1, norm="forward")],
        **{name: (lambda np, d, f=name: [getattr(np.fft, f)(d.c(2, 4, 6)), getattr(np.fft, f)(d.c(4, 6), s=(3, 5), axes=(0, 1))])
           for name in ("fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn")},
        **{name: (lambda np, d, f=name: [getattr(np.fft, f)(d.f(2, 4, 6)), getattr(np.fft, f)(d.f(4, 6), s=(3, 5), axes=(0, 1))]) for name in ("rfft2", "rfftn")},
        "stft": lambda np, d: [np.fft.stft(d.f(2, 20), 8, 3, window=d.f(6, low=0.5)), np.fft.stft(d.f(20), 6, 2, 4, center=False)],
        "istft": lambda np, d: d.f(2, 24) if isinstance(np, Beside) else np.fft.istft(np.fft.stft(d.f(2, 24), 8, 2), hop_length=2),
        "fftfreq": lambda np, d: [np.fft.fftfreq(7), np.fft.fftfreq(8, 0.5)], "rfftfreq": lambda np, d: np.fft.rfftfreq(9, 2.0),
        "fftshift": lambda np, d: [np.fft.fftshift(d.f(3, 4)), np.fft.fftshift(d.f(3, 4), axes=1)], "ifftshift": lambda np, d: np.fft.ifftshift(d.f(5, 4)),
    },
}
