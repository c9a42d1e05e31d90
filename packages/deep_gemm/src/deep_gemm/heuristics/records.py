"""Vocabulary of the tile search: enums and the two records (deep_gemm.md sections 3.1 and 3.2).

No torch here: a `GemmDesc` is plain numbers and names, so that the search is a pure function
that can be tested and memoised.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Major(Enum):
    """Which of the two axes of an operand is contiguous, seen as [MN, K]."""

    K = "K"
    MN = "MN"


class GemmType(Enum):
    """How the problem is cut into groups."""

    NORMAL = "Normal"


class DType(Enum):
    """Element types; the value is the name in printed descriptions."""

    BF16 = "BFloat16"
    FP32 = "Float"
    FP8 = "Float8_e4m3fn"
    FP4 = "Float4_e2m1fn_x2"

    @property
    def bits(self) -> int:
        """Size of one element in bits."""
        return _BITS[self]


_BITS = {DType.BF16: 16, DType.FP32: 32, DType.FP8: 8, DType.FP4: 4}


class EpilogueType(Enum):
    """What happens to the accumulator on its way out (deep_gemm.md section 1.7)."""

    IDENTITY = "Identity"
    ALPHA = "Alpha"


class LoadHint(Enum):
    """L2 treatment of a load (deep_gemm.md section 5.2, L2 enums)."""

    NORMAL_FIRST_VICTIM = 0
    NOTALLOC_KEEP = 4


class StoreHint(Enum):
    """L2 treatment of a store."""

    NORMAL_FIRST_VICTIM = 0
    NOTALLOC_CLEAN = 4


@dataclass(frozen=True)
class GemmDesc:
    """One GEMM as the search sees it: D[m,n] (+)= A[m,k] * B[n,k]^T.

    Strides count elements. Pointers are left out on purpose; `d_alignment` is all the search
    needs of them: the largest power of two, at most 32, that divides D's address.
    """

    m: int
    n: int
    k: int
    dtype: DType  # of A and B
    cd_dtype: DType
    major_a: Major = Major.K
    major_b: Major = Major.K
    acc: bool = False
    epilogue: EpilogueType = EpilogueType.IDENTITY
    compiled_dims: str = "nk"
    num_cores: int = 32
    stride_a: int | None = None  # distance of two rows (K-major) or two k (MN-major); None = dense
    stride_b: int | None = None
    stride_d: int | None = None
    d_alignment: int = 32
    gemm_type: GemmType = GemmType.NORMAL

    @property
    def bits(self) -> int:
        """Bits of one operand element."""
        return self.dtype.bits

    @property
    def has_sf(self) -> bool:
        """Whether the operands carry scale factors."""
        return self.bits < 16

    @property
    def epilogue_bits(self) -> int:
        """Bits of one element in the epilogue's buffer."""
        plain = self.epilogue is EpilogueType.IDENTITY
        return 16 if plain and self.cd_dtype is DType.BF16 else 32

    @property
    def pitch_a_bytes(self) -> int:
        """Distance of two contiguous runs of A."""
        dense = self.k if self.major_a is Major.K else self.m
        return (dense if self.stride_a is None else self.stride_a) * self.bits // 8

    @property
    def pitch_b_bytes(self) -> int:
        """Distance of two contiguous runs of B."""
        dense = self.k if self.major_b is Major.K else self.n
        return (dense if self.stride_b is None else self.stride_b) * self.bits // 8

    @property
    def pitch_d_bytes(self) -> int:
        """Distance of two rows of D."""
        stride = self.n if self.stride_d is None else self.stride_d
        return stride * self.cd_dtype.bits // 8

    def __str__(self) -> str:
        return (
            f"GemmDesc(m={self.m}, n={self.n}, k={self.k}, cd_dtype={self.cd_dtype.value}, "
            f"major_a={self.major_a.value}, major_b={self.major_b.value}, "
            f"acc={_flag(self.acc)}, epilogue_type={self.epilogue.value}, "
            f"compiled_dims='{self.compiled_dims}', gemm_type={self.gemm_type.value})"
        )


@dataclass(frozen=True)
class LaunchConfig:
    """What the launch needs beside the arguments (deep_jit.md section 5.1).

    Attributes:
        num_blocks: blocks to start.
        num_ubuf_bytes: dynamic Unified Buffer of a block, in bytes.
        block_stride: blocks this far apart have the same rows of A; a hint for target cpu.
    """

    num_blocks: int
    num_ubuf_bytes: int = 0
    block_stride: int = 0

    def __str__(self) -> str:
        return f"LaunchOptions(num_blocks={self.num_blocks}, num_ubuf_bytes={self.num_ubuf_bytes})"


@dataclass(frozen=True)
class GemmConfig:
    """Everything the search decides; every field reaches the kernel or the launch."""

    block_m: int  # GM -> L1 tile
    block_n: int
    block_k: int
    mad_m: int  # L1 -> L0 tile
    mad_n: int
    mad_k: int
    num_l1_stages: int
    num_epilogue_stages: int
    num_l0_stages: int = 2
    num_l1_sf_stages: int = 0
    sf_k_blocks: int = 0
    direct_store: bool = False
    resident_a: bool = False
    resident_b: bool = False
    hint_a: LoadHint = LoadHint.NORMAL_FIRST_VICTIM
    hint_b: LoadHint = LoadHint.NORMAL_FIRST_VICTIM
    hint_store: StoreHint = StoreHint.NOTALLOC_CLEAN
    launch: LaunchConfig = LaunchConfig(num_blocks=32)

    def __str__(self) -> str:
        hints = f"{self.hint_a.name}/{self.hint_b.name}/{self.hint_store.name}"
        resident = f"{_flag(self.resident_a)}/{_flag(self.resident_b)}/false"
        return (
            f"GemmConfig(block={self.block_m}x{self.block_n}x{self.block_k}, "
            f"mad={self.mad_m}x{self.mad_n}x{self.mad_k}, l1_stages={self.num_l1_stages}, "
            f"l0_stages={self.num_l0_stages}, epi_stages={self.num_epilogue_stages}, "
            f"l1_sf_stages={self.num_l1_sf_stages}, sf_k_blocks={self.sf_k_blocks}, "
            f"l2_ctrl={hints}, direct_store={_flag(self.direct_store)}, resident={resident}, "
            f"dual_aiv_dequant=false, launch_options={self.launch})"
        )


def _flag(value: bool) -> str:
    return "true" if value else "false"


def ceil_div(a: int, b: int) -> int:
    """Smallest integer that is at least a/b."""
    return -(-a // b)


def align_up(a: int, b: int) -> int:
    """Smallest multiple of b that is at least a."""
    return -(-a // b) * b
