"""exp, log and tanh of SIMT code: error against float64, and the same bits everywhere."""

from __future__ import annotations

import platform

import numpy as np
import pytest

from deep_jit._shared.jit.backends.cpu.isa import host_features, supported_isas

REFERENCES = {
    "expf": np.exp,
    "exp2f": np.exp2,
    "exp10f": lambda x: np.power(10.0, x),
    "logf": np.log,
    "log2f": np.log2,
    "log10f": np.log10,
    "tanhf": np.tanh,
}
ULPS = 0.51  # the bound that elementary.hpp names
THREADS = 1024
PER_THREAD = 64
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-39, 88.7, 88.8, -87.3]
SPECIAL += [-103.9, -104.0, 127.0, 128.0, -149.0, -150.0, 38.5, 38.6, -45.1, 1e-5, 3.4e38, -3.4e38]
ISAS = [isa.name for isa in supported_isas(platform.machine(), host_features())]


def _inputs() -> np.ndarray:
    """Every exponent and sign with random significands, and the ends of the ranges."""
    rng = np.random.default_rng(11)
    bits = np.linspace(0, 2**32, THREADS * PER_THREAD, endpoint=False).astype(np.uint64)
    bits += rng.integers(0, 2**16, bits.size).astype(np.uint64)
    x = bits.astype(np.uint32).view(np.float32)
    dense = rng.uniform(-110, 110, x.size // 4).astype(np.float32)
    x[: dense.size] = dense
    x[: len(SPECIAL)] = SPECIAL
    return x


def _run(simt, x: np.ndarray, mode: str, isa: str) -> np.ndarray:
    out = np.zeros((len(REFERENCES), x.size), np.float32)
    statements = "".join(
        f"p1[{index * x.size} + i] = {name}(x);\n" for index, name in enumerate(REFERENCES)
    )
    body = f"""
    for (uint32_t i = threadIdx.x; i < {x.size}; i += {THREADS}) {{
        const float x = p0[i];
        {statements}
    }}
    """
    simt.run(body, THREADS, x, out.reshape(-1), mode=mode, isa=isa)
    return out


def test_error_against_float64(simt):
    x = _inputs()
    outs = _run(simt, x, "lanes", "best")
    for got, (name, reference) in zip(outs, REFERENCES.items(), strict=True):
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
            nearest = exact.astype(np.float32)
        regular = np.isfinite(nearest) & (np.abs(exact) <= np.finfo(np.float32).max)
        ulp = np.spacing(np.abs(nearest[regular])).astype(np.float64)
        assert (np.abs(got[regular] - exact[regular]) <= ULPS * ulp).all(), name
        assert (np.isnan(got) == np.isnan(nearest)).all(), name
        infinite = np.isinf(nearest)
        assert (got[infinite] == nearest[infinite]).all(), name
    assert np.signbit(outs[-1][:2]).tolist() == [False, True]  # tanh keeps the sign of zero


@pytest.mark.parametrize("isa", ISAS)
def test_same_bits_for_both_strategies_and_all_instruction_sets(simt, isa):
    x = _inputs()
    wanted = _run(simt, x, "lanes", "best").view(np.uint32)
    for mode in ("lanes", "threads"):
        got = _run(simt, x, mode, isa).view(np.uint32)
        assert (got == wanted).all(), mode
