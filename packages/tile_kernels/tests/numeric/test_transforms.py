"""Transposes, rotary embedding and random numbers."""

import pytest
import torch

from tile_kernels import config, rand, transform, transpose
from tile_kernels import torch as reference
from tile_kernels.errors import LaunchError
from tile_kernels.transform import apply_rotary_kernel
from tile_kernels.transform.rotary_plan import Heads, merged_heads, plan_rotary, rows_of_a_tile


@pytest.mark.parametrize(
    "dtype", [torch.float8_e4m3fn, torch.bfloat16, torch.float32, torch.int8, torch.uint8]
)
@pytest.mark.parametrize(("batches", "rows", "columns"), [(1, 192, 320), (3, 1, 130), (2, 129, 33)])
def test_transpose_of_strided_batches(dtype, batches, rows, columns):
    size = (batches, rows, (columns + 7) * dtype.itemsize)
    x = torch.randint(-128, 128, size, dtype=torch.int8).view(dtype)[:, :, :columns]
    out = transpose.batched_transpose(x)
    assert out.is_contiguous()
    assert torch.equal(out.view(torch.uint8), x.mT.contiguous().view(torch.uint8))
    assert torch.equal(transpose.transpose(x[0]).view(torch.uint8), out[0].view(torch.uint8))


@pytest.mark.parametrize("shape", [(0, 4, 5), (2, 0, 5), (2, 4, 0)])
def test_transpose_of_nothing(shape):
    assert transpose.batched_transpose(torch.empty(shape)).shape == (shape[0], shape[2], shape[1])


@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize(
    ("dtype", "interleaved", "head_dim"),
    [
        (torch.bfloat16, False, 128),
        (torch.bfloat16, True, 64),
        (torch.float32, False, 64),
        (torch.float32, True, 128),
    ],
)
def test_rotary_with_positions(dtype, interleaved, conjugate, head_dim):
    tokens, offset = 11, 2
    cache = torch.randn(40, head_dim)
    positions = torch.randint(0, 38, (tokens,), dtype=torch.int64)
    query = torch.randn(tokens, 5, head_dim + 16).to(dtype)[:, :3, :head_dim]
    key = torch.randn(tokens, 1, head_dim).to(dtype)
    tables = (cache[:, : head_dim // 2], cache[:, head_dim // 2 :])
    options = (positions, offset, interleaved, conjugate)
    expected = [reference.rotary_embedding_ref(x, *tables, *options) for x in (query, key)]
    result = transform.apply_rotary(
        query, cache, key, positions, interleaved, conjugate, seqlen_offset=offset
    )
    assert result is None
    for got, want in zip((query, key), expected, strict=True):
        # fp32: a product, a product and a sum are rounded; bf16: a different last bit at most
        step = 2.0**-8 if dtype == torch.bfloat16 else 2.0**-22
        torch.testing.assert_close(got, want, rtol=step, atol=step)


def test_rotary_of_a_part_of_each_head_in_a_batch():
    cache = torch.randn(20, 32)
    query = torch.randn(2, 9, 3, 80)
    before = query.clone()
    transform.apply_rotary(query, cache, seqlen_offset=4)
    expected = reference.rotary_embedding_ref(before, cache[:, :16], cache[:, 16:], None, 4)
    torch.testing.assert_close(query, expected, rtol=1e-6, atol=1e-6)
    assert torch.equal(query[..., 32:], before[..., 32:])
    transform.apply_rotary(query[:0], cache)


@pytest.mark.parametrize(
    ("dtype", "interleaved", "dim"),
    [
        (torch.bfloat16, False, 64),
        (torch.float32, False, 64),
        (torch.float16, True, 64),
        (torch.float32, True, 128),
    ],
)
def test_rotary_on_registers_is_that_by_threads(dtype, interleaved, dim, monkeypatch):
    # Few cores, so that each has several tiles; heads of a token lie in two of them
    config.set_num_sms(1)
    cache = torch.randn(90, dim)
    shapes = ((37, 5, dim + 16), (150, 1, dim), (1, 29, dim), (3, 7, 13, dim + 8))
    wide = [torch.randn(shape).to(dtype) for shape in shapes]
    for x in wide:
        flat = x.view(-1)
        numbers = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1e38, 1e-40, 6e-8])
        flat[torch.randperm(flat.numel())[:64]] = numbers.to(dtype).repeat(8)
    positions = [torch.randint(0, 88, x.shape[:-2]) for x in wide]
    results = []
    for plan in (plan_rotary, lambda *args: None):
        monkeypatch.setattr(apply_rotary_kernel, "plan_rotary", plan)
        done = [x.clone() for x in wide]
        for x, rows in zip(done, positions, strict=True):
            heads = x[..., 1:12, 8:] if x.dim() == 4 else x[..., :dim]
            transform.apply_rotary(heads, cache, None, rows, interleaved, True, seqlen_offset=2)
        results.append(done)
    bits = torch.int32 if dtype == torch.float32 else torch.int16
    for got, want, given in zip(*results, wide, strict=True):
        assert torch.equal(got.view(bits), want.view(bits))
        assert not torch.equal(got.view(bits), given.view(bits))


@pytest.mark.parametrize(
    ("dim", "dtype", "interleaved"),
    [(32, torch.float32, True), (96, torch.bfloat16, False), (192, torch.float16, True)],
)
def test_rotary_of_heads_that_fill_registers_in_part(dim, dtype, interleaved, monkeypatch):
    cache = torch.randn(40, dim)
    given = torch.randn(2, 33, 3, dim + 8).to(dtype)
    results = []
    for plan in (plan_rotary, lambda *args: None):
        monkeypatch.setattr(apply_rotary_kernel, "plan_rotary", plan)
        results.append(given.clone())
        transform.apply_rotary(results[-1], cache, interleaved=interleaved, seqlen_offset=7)
    assert torch.equal(*results)
    assert torch.equal(results[0][..., dim:], given[..., dim:])


def test_rotary_plan_leaves_odd_sizes_to_threads():
    def takes(dtype, dim, interleaved):
        return plan_rotary(dtype, dim, interleaved, True, False, "int32", 64) is not None

    # Halves of 16-bit numbers must begin at 32 bytes, and so must the sines
    assert takes("bfloat16", 32, False)
    assert not takes("bfloat16", 48, False)
    assert takes("bfloat16", 48, True)
    assert takes("float32", 48, False)
    assert not takes("float32", 40, True)
    assert not takes("float32", 2048, True)


def test_rotary_of_sizes_for_threads():
    cache, given = torch.randn(9, 36), torch.randn(9, 2, 40).bfloat16()
    query = given.clone()
    transform.apply_rotary(query, cache)
    expected = reference.rotary_embedding_ref(given, cache[:, :18], cache[:, 18:])
    torch.testing.assert_close(query, expected, rtol=2.0**-8, atol=2.0**-8)


def test_rotary_plan_merges_strides():
    # Batches of one token each, with positions and without
    one_each = Heads(5, 1, 4, (4 * 64, 999, 64))
    assert merged_heads(one_each, True) == (Heads(1, 20, 1, (0, 64, 1)), True)
    assert merged_heads(one_each, False) == (Heads(5, 4, 1, (256, 64, 1)), True)
    # A part of the heads of each token
    part = Heads(2, 3, 4, (1536, 512, 64))
    assert merged_heads(part, True) == (Heads(1, 6, 4, (0, 512, 64)), False)
    assert merged_heads(part, False) == (part, False)
    # One head
    assert merged_heads(Heads(1, 3, 1, (7, 512, 5)), False) == (Heads(1, 3, 1, (7, 512, 1)), True)


def test_rotary_plan_shares_out_rows():
    assert rows_of_a_tile(64, 64 * 64 * 3, 64) == 64
    assert rows_of_a_tile(64, 64 * 65, 64) == 33
    assert rows_of_a_tile(64, 100, 64) == 2
    assert rows_of_a_tile(64, 1, 64) == 1


@pytest.mark.parametrize("position", [-3, 38])
@pytest.mark.parametrize("dim", [64, 36])
def test_rotary_ends_at_positions_outside_the_cache(position, dim):
    positions = torch.tensor([0, position])
    with pytest.raises(LaunchError):
        transform.apply_rotary(
            torch.ones(2, 1, dim), torch.ones(40, dim), None, positions, seqlen_offset=2
        )


def test_rotary_refuses_a_short_cache():
    query = torch.ones(9, 1, 64)
    with pytest.raises(ValueError, match="has 10 rows, 11 are needed"):
        transform.apply_rotary(query, torch.zeros(10, 64), seqlen_offset=2)
    with pytest.raises(ValueError, match="has 66 columns, wanted an even number up to"):
        transform.apply_rotary(query, torch.zeros(10, 66))
    assert (query == 1).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_randn_is_normal(dtype):
    rand.set_seed(11)
    x = rand.randn(300, 101, dtype=dtype, device="cpu").float()
    n = x.numel()
    assert abs(float(x.mean())) < 5 / n**0.5
    assert abs(float(x.var()) - 1) < 5 * (2 / n) ** 0.5
    assert abs(float((x**4).mean()) - 3) < 5 * (96 / n) ** 0.5
    for limit, share in ((0.0, 0.5), (1.0, 0.158655), (2.0, 0.02275)):
        for side in (x > limit, x < -limit):
            if dtype == torch.float32:
                assert abs(float(side.float().mean()) - share) < 5 * (share / n) ** 0.5
    flat = x.flatten()
    assert abs(float((flat[1:] * flat[:-1]).mean())) < 5 / n**0.5


def test_randn_repeats_with_the_seed_on_any_number_of_cores():
    rand.set_seed(7)
    first, second = rand.randn((5, 3000), device="cpu"), rand.randn(9, device="cpu")
    config.set_num_sms(1)
    rand.set_seed(7)
    assert torch.equal(rand.randn(5, 3000, device="cpu"), first)
    assert torch.equal(rand.randn_like(second), second)
    assert not torch.equal(rand.randn(9, device="cpu"), second)
    assert rand.randn(0, 4, device="cpu").shape == (0, 4)


def test_randn_refuses_other_types():
    with pytest.raises(TypeError, match=r"torch\.float16, allowed: torch\.float32"):
        rand.randn(4, dtype=torch.float16, device="cpu")
    with pytest.raises(ValueError, match="wanted ints of 0 or more"):
        rand.randn(4, -1, device="cpu")
    with pytest.raises(TypeError, match="seed must be an int"):
        rand.set_seed("1")
