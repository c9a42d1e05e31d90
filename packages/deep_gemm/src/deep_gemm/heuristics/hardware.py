"""The machine the tile search plans for: one table of named constants (deep_gemm.md section 3.3).

Sources: [G] host hardware model of the published DeepGEMM for Ascend, [T] TileLang 0.1.15's latency
table, [D] Ascend C documentation; see ascend950_model.md sections 1-3. Nothing else in
`heuristics` may contain a hardware number.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True)
class HardwareModel:
    """Capacities in bytes, rates in bytes or FLOP per cycle, bandwidths in GB/s (= bytes/ns)."""

    name: str
    num_cores: int  # [G] AI cores; a core is one AIC and two AIVs
    clock_mhz: int  # [G] AIC clock
    bf16_flops_per_cycle: int  # [G] per core; x2 for 8-bit, x4 for 4-bit operands
    hbm_gbps: int  # [G] all cores together
    l2_gbps: int  # [G] L2 to cores, all cores together
    l1_bytes: int  # [G][D]
    l0a_bytes: int  # [G][D]
    l0b_bytes: int  # [G][D]
    l0c_bytes: int  # [G][D]
    ub_bytes: int  # [G][D]
    l2_bytes: int  # [G]
    l2_sector_bytes: int  # [G]
    l1_to_l0_bytes_per_cycle: int  # [T] each of L0A and L0B
    l1_to_l0_sf_bytes_per_cycle: int  # [G] measured there
    l0c_out_bytes_per_cycle: int  # [T] L0C -> UB and L0C -> GM
    fractal_mn: int  # [D] rows of a fractal
    fractal_row_bytes: int  # [D] C0
    pipe_events: int  # [D] per direction
    intra_block_events: int  # [D]
    # Issue cost of one MAD when L0 turns over, by operand bits [G]
    mad_issue_cycles_16: int
    mad_issue_cycles_8: int
    mad_issue_cycles_4: int
    gm_load_issue_cycles: int  # [T] GM -> L1, per descriptor
    store_alignment_bytes: int  # [D] unit of L0C -> GM rows

    def flops_per_cycle(self, bits: int) -> int:
        """Multiply-add rate of one core for operands of `bits` bits."""
        return self.bf16_flops_per_cycle * 16 // bits

    def peak_tflops(self, bits: int) -> float:
        """Peak of the whole chip for operands of `bits` bits."""
        return self.flops_per_cycle(bits) * self.clock_mhz * self.num_cores / 1e6

    def mad_issue_cycles(self, bits: int) -> int:
        """Cycles between two MADs whose operands had to be reloaded into L0."""
        table = {
            16: self.mad_issue_cycles_16,
            8: self.mad_issue_cycles_8,
            4: self.mad_issue_cycles_4,
        }
        return table[bits]

    def cycles_to_ns(self, cycles: int) -> int:
        """Whole nanoseconds, rounded down."""
        return cycles * 1000 // self.clock_mhz


ASCEND_950DT = HardwareModel(
    name="Ascend 950DT",
    num_cores=32,
    clock_mhz=1650,
    bf16_flops_per_cycle=8192,
    hbm_gbps=3500,
    l2_gbps=4500,
    l1_bytes=512 * KIB,
    l0a_bytes=64 * KIB,
    l0b_bytes=64 * KIB,
    l0c_bytes=256 * KIB,
    ub_bytes=256 * KIB,
    l2_bytes=128 * MIB,
    l2_sector_bytes=128,
    l1_to_l0_bytes_per_cycle=256,
    l1_to_l0_sf_bytes_per_cycle=32,
    l0c_out_bytes_per_cycle=128,
    fractal_mn=16,
    fractal_row_bytes=32,
    pipe_events=8,
    intra_block_events=16,
    mad_issue_cycles_16=64,
    mad_issue_cycles_8=116,
    mad_issue_cycles_4=40,
    gm_load_issue_cycles=64,
    store_alignment_bytes=32,
)
