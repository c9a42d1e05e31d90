"""Data of the support table: families, priorities of ascend_c_cube.md section 20, and notes."""

from __future__ import annotations

__all__ = ["FAMILIES", "NOTES", "PRIORITIES"]

# Header of asc_emu/api -> title.
FAMILIES = {
    "gm_to_l1": "GM to L1",
    "fill_l1": "Fill of L1",
    "l1_to_l0": "L1 to L0A and L0B",
    "l1_to_bt_fb": "L1 to bias table, Fixpipe buffer and UB",
    "mmad": "Matrix multiply-add",
    "fixpipe": "Fixpipe: L0C to GM, UB and L1",
    "ub_copy": "UB copies",
    "sync": "Synchronisation",
    "atomics": "Atomics and scalar GM access",
    "cache": "Cache control",
    "sysvars": "System variables",
    "scalar": "Scalar helpers",
    "vector_call": "Vector functions",
    "vector_mask": "Vector masks",
    "vector_memory": "Vector loads and stores",
    "vector_compute": "Vector arithmetic and conversions",
}

PRIORITIES = {
    "P0": """
        asc_init asc_sync_notify asc_sync_wait asc_sync_pipe asc_sync asc_lock asc_unlock
        asc_sync_intra_arrive asc_sync_intra_wait asc_set_gm2l1_nz_para asc_copy_gm2l1_nd2nz
        asc_copy_gm2l1_dn2nz asc_copy_l12l0a asc_copy_l12l0b asc_copy_l12l0a_transpose
        asc_copy_l12l0b_transpose asc_copy_l12l0a_mx asc_copy_l12l0b_mx asc_mmad asc_mmad_mx
        asc_set_l0c2gm_nz2nd asc_set_l0c_copy_nz_para asc_copy_l0c2ub asc_copy_l0c2gm
        asc_copy_gm2ub_align asc_copy_ub2gm_align asc_vf_call asc_get_sub_block_id asc_copy_ub2l1
        asc_fill_l1
    """,
    "P1": """
        asc_set_copy_pad_val asc_set_atomic_add_float asc_set_atomic_add_float16
        asc_set_atomic_add_bfloat asc_set_atomic_add_int asc_set_atomic_add_int32
        asc_set_atomic_add_int16 asc_set_atomic_add_int8 asc_set_atomic_max_float
        asc_set_atomic_max_float16 asc_set_atomic_max_bfloat asc_set_atomic_max_int
        asc_set_atomic_max_int32 asc_set_atomic_max_int16 asc_set_atomic_max_int8
        asc_set_atomic_min_float asc_set_atomic_min_float16 asc_set_atomic_min_bfloat
        asc_set_atomic_min_int asc_set_atomic_min_int32 asc_set_atomic_min_int16
        asc_set_atomic_min_int8 asc_set_atomic_none asc_load_dev asc_store_dev
        asc_set_mmad_direction_m asc_set_mmad_direction_n asc_enable_hf32 asc_disable_hf32
        asc_set_hf32_round_mode asc_sync_block_arrive asc_sync_block_wait asc_sync_subblock_arrive
        asc_sync_subblock_wait asc_sync_inter_arrive asc_sync_inter_wait asc_set_l0c2gm_channel_para
        asc_set_l0c_copy_channel_para asc_copy_gm2l1_align asc_set_gm2l1_loop_size
        asc_set_gm2l1_loop1_stride asc_set_gm2l1_loop2_stride asc_copy_gm2l1 asc_copy_l12l0b_trans
        asc_copy_l12bt asc_copy_l12fb asc_set_l0c2gm_config asc_set_l0c_copy_config
        asc_set_l0c_copy_prequant asc_copy_gm2ub asc_copy_ub2gm asc_copy_ub2ub asc_get_block_idx
        asc_get_block_num asc_get_vf_len asc_atomic_add asc_atomic_sub asc_atomic_exch
        asc_atomic_max asc_atomic_min asc_atomic_cas asc_atomic_and asc_atomic_or asc_atomic_xor
        asc_atomic_inc asc_atomic_dec
    """,
    "P2": """
        asc_copy_l12ub asc_copy_l0c2l1 asc_dcci_single asc_ub_dcci_single asc_dcci_entire_all
        asc_dcci_entire_out asc_dcci_entire_atomic asc_dci asc_sync_data_barrier
        asc_datacache_preload asc_icache_preload asc_get_icache_preload_status
        asc_ndim_copy_gm2ub asc_ndim_copy_dci asc_set_ndim_loop0_stride asc_set_ndim_loop1_stride
        asc_set_ndim_loop2_stride asc_set_ndim_loop3_stride asc_set_ndim_loop4_stride
        asc_set_ndim_pad_count asc_set_ndim_pad_value asc_set_l13d_fmatrix asc_set_l13d_fmatrix_b
        asc_set_l13d_rpt asc_set_l3d_rpt_b asc_set_l13d_padding asc_set_l12l0_padding_val
        asc_set_l0c2gm_quant_post asc_get_status asc_get_core_id asc_get_ctrl asc_set_ctrl
        asc_get_system_cycle asc_get_sub_block_num asc_get_phy_buf_addr asc_get_arch_ver
        asc_get_program_counter asc_get_phy_stack_base asc_get_sys_virtual_base
        asc_get_smmu_tag_version asc_get_squeeze_status asc_ffs asc_ffz asc_popc asc_zero_bits_cnt
        asc_clz asc_sflbits asc_set_nthbit asc_clear_nthbit asc_float2int32_rn asc_float2int32_rna
        asc_float2int32_rd asc_float2int32_ru
    """,
}

_TRANSPARENT = "the data cache is transparent: orders the scalar unit's accesses only"
_HINT = "a hint: no effect on values"
_SUM_ORDER = "order and rounding of the sum inside the device are not documented"
_OPAQUE = "opaque on the device, a constant here"

# Why a function is value-exact only; an empty text would hide the reason.
NOTES = {
    "asc_mmad": _SUM_ORDER,
    "asc_mmad_mx": _SUM_ORDER,
    "asc_set_mmad_direction_m": "changes speed only",
    "asc_set_mmad_direction_n": "changes speed only",
    "asc_copy_l0c2gm": "post-stage options are refused; conversions round as section 9.6 describes",
    "asc_copy_l0c2ub": "post-stage options are refused; conversions round as section 9.6 describes",
    "asc_copy_l0c2l1": "post-stage options are refused; conversions round as section 9.6 describes",
    "asc_set_l0c2gm_quant_post": "kept, but post-stage copies are refused",
    "asc_copy_gm2l1": "strides of the plain and the fractal form have no documented unit",
    "asc_dcci_single": _TRANSPARENT,
    "asc_ub_dcci_single": _TRANSPARENT,
    "asc_dcci_entire_all": _TRANSPARENT,
    "asc_dcci_entire_out": _TRANSPARENT,
    "asc_dcci_entire_atomic": _TRANSPARENT,
    "asc_dci": _TRANSPARENT,
    "asc_datacache_preload": _HINT,
    "asc_icache_preload": _HINT,
    "asc_get_icache_preload_status": "always idle",
    "asc_get_system_cycle": "the host's clock",
    "asc_get_status": "sticky exception bits are not raised",
    "asc_get_arch_ver": _OPAQUE,
    "asc_get_program_counter": _OPAQUE,
    "asc_get_phy_stack_base": _OPAQUE,
    "asc_get_sys_virtual_base": _OPAQUE,
    "asc_get_smmu_tag_version": _OPAQUE,
    "asc_float2int32_rn": "out-of-range values saturate (not documented)",
    "asc_float2int32_rna": "out-of-range values saturate (not documented)",
    "asc_float2int32_rd": "out-of-range values saturate (not documented)",
    "asc_float2int32_ru": "out-of-range values saturate (not documented)",
    "asc_vf_call": "runs to its end once started; SIMD functions only",
    "asc_mem_bar": "program order on the host",
}
