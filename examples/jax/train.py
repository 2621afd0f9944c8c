import flax.linen as nn, jax, lowtide, numpy, optax
block = lambda: nn.Sequential([nn.LayerNorm(), nn.SelfAttention(4), nn.LayerNorm(), nn.Dense(512), nn.gelu, nn.Dense(128)])
model, optimiser = nn.Sequential([nn.Embed(2048, 128), block(), block(), nn.Dense(2048)]), optax.adam(1e-3)
tokens = jax.random.randint(jax.random.key(0), (4, 257), 0, 2048)
loss = lambda params: optax.softmax_cross_entropy_with_integer_labels(model.apply(params, tokens[:, :-1]), tokens[:, 1:]).mean()
def step(train, _=None):
    (params, state), (value, slope) = train, jax.value_and_grad(loss)(train[0])
    changes, state = optimiser.update(slope, state)
    return (optax.apply_updates(params, changes), state), value
start = (params := model.init(jax.random.key(1), tokens[:, :-1]), optimiser.init(params))
print(lowtide.explain(step, start))
plain, fitted = jax.jit(step), lowtide.fit(step)
a = b = start
for _ in range(20):
    (a, wanted), (b, value) = plain(a), fitted(b)
    numpy.testing.assert_allclose(value, wanted, rtol=1e-4)
print(wanted, value, *(f"{it.temp_size_in_bytes / 2**20:.1f} MiB" for it in fitted.memory_analysis()))
