"""NumPyro: a regression with groups, by NUTS and by stochastic variational inference."""
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO, autoguide

GROUPS, FEATURES = 20, 8


def model(x, group, y=None):
    mean, spread = numpyro.sample("mean", dist.Normal(0, 1)), numpyro.sample("spread", dist.HalfNormal(1))
    with numpyro.plate("groups", GROUPS):
        offset = numpyro.sample("offset", dist.Normal(mean, spread))
    slopes = numpyro.sample("slopes", dist.Normal(0, 1).expand([FEATURES]).to_event(1))
    noise = numpyro.sample("noise", dist.HalfCauchy(1))
    numpyro.sample("y", dist.Normal(offset[group] + x @ slopes, noise), obs=y)


def main(scale: float = 1.0) -> dict[str, np.ndarray]:
    n = max(500, int(20_000 * scale))
    x = jax.random.normal(jax.random.key(0), (n, FEATURES))
    group = jnp.arange(n) % GROUPS
    y = x @ jnp.arange(float(FEATURES)) + jnp.sin(1.0 * group) + 0.3 * jax.random.normal(jax.random.key(1), (n,))
    chain = MCMC(NUTS(model, max_tree_depth=6), num_warmup=200, num_samples=60, progress_bar=False)
    chain.run(jax.random.key(2), x, group, y)
    inference = SVI(model, autoguide.AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
    found = inference.run(jax.random.key(3), 1000, x, group, y, progress_bar=False)
    # two chains take different ways once they round differently: what they agree on is the posterior
    return {"slopes": np.asarray(chain.get_samples()["slopes"].mean(0)).round(1), "loss": np.asarray(found.losses[-50:].mean() / n).round(1)}
