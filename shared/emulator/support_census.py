"""Data of the support table: families, priorities and notes.

The priorities are those of ascend_c_cube.md section 20 and ascend_c_vector.md section 18.2.
"""

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
    "ub_ndim": "N-dimensional UB copies",
    "vector_call": "Vector functions",
    "vector_mask": "Vector masks",
    "vector_memory": "Vector barriers and address registers",
    "vector_load": "Vector loads",
    "vector_store": "Vector stores",
    "vector_unalign": "Unaligned vector loads and stores",
    "vector_squeeze": "Compaction of lanes",
    "vector_gather": "Gather, scatter and histograms",
    "vector_arith": "Vector arithmetic",
    "vector_logic": "Vector logic and shifts",
    "vector_select": "Comparison, selection and broadcast of lanes",
    "vector_float": "Floating-point functions of lanes",
    "vector_reduce": "Reductions",
    "vector_permute": "Lane movement",
    "vector_convert": "Conversions of lanes",
    "vector_sort": "Sorting and transposing in UB",
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
        asc_create_mask_b8 asc_create_mask_b16 asc_create_mask_b32 asc_update_mask_b8
        asc_update_mask_b16 asc_update_mask_b32 asc_loadalign asc_loadalign_postupdate
        asc_loadalign_brc_elem asc_loadalign_brc_elem_postupdate asc_loadalign_unpack
        asc_loadalign_unpack_postupdate asc_loadalign_unpack4 asc_loadalign_unpack4_postupdate
        asc_loadalign_brc_elem2datablock asc_loadalign_brc_elem2datablock_postupdate
        asc_loadalign_brc_datablock asc_loadalign_brc_datablock_postupdate asc_storealign
        asc_storealign_postupdate asc_storealign_pack asc_storealign_pack_postupdate
        asc_storealign_pack_quarter asc_storealign_pack_quarter_postupdate asc_storealign_1st
        asc_storealign_1st_postupdate asc_add asc_sub asc_mul asc_max asc_min asc_abs asc_div
        asc_exp asc_ln asc_sqrt asc_exp_sub asc_madd asc_axpy asc_add_scalar asc_mul_scalar
        asc_max_scalar asc_min_scalar asc_and asc_or asc_xor asc_not asc_shiftleft asc_shiftright
        asc_shiftleft_scalar asc_shiftright_scalar asc_eq asc_ne asc_gt asc_ge asc_lt asc_le
        asc_eq_scalar asc_ne_scalar asc_gt_scalar asc_ge_scalar asc_lt_scalar asc_le_scalar
        asc_select asc_duplicate asc_duplicate_scalar asc_intlv asc_deintlv asc_reduce_sum
        asc_reduce_max asc_reduce_min asc_reduce_sum_datablock asc_reduce_max_datablock
        asc_reduce_min_datablock asc_pair_reduce_sum asc_arange asc_float2half_rn
        asc_float2half_rna asc_float2half_rd asc_float2half_ru asc_float2half_rz
        asc_float2bfloat16_rn asc_float2bfloat16_rna asc_float2bfloat16_rd asc_float2bfloat16_ru
        asc_float2bfloat16_rz asc_float2int32_rz asc_float2int32_rn_sat asc_int322float_rn
        asc_int322float_rz asc_half2float asc_bfloat162float asc_e4m32float asc_float2e4m3_rn
        asc_float2e4m3_rn_sat asc_e2m1x22bfloat16 asc_int322int16 asc_int322int16_sat
        asc_int322uint8 asc_int322uint8_sat asc_uint322uint16 asc_uint322uint8 asc_int162uint8
        asc_uint162uint8 asc_int82int16 asc_int82int32 asc_uint82uint16 asc_uint82uint32
        asc_int162int32 asc_uint162uint32 asc_mem_bar
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
        asc_gather asc_gather_datablock asc_scatter asc_loadalign_upsample
        asc_loadalign_upsample_postupdate asc_loadalign_downsample
        asc_loadalign_downsample_postupdate asc_loadalign_deintlv asc_loadalign_deintlv_postupdate
        asc_storealign_intlv asc_squeeze asc_squeeze_with_status asc_squeeze_and_storeunalign
        asc_squeeze_and_storeunalign_init asc_squeeze_and_storeunalign_finalize
        asc_storealign_squeeze_status asc_clear_ar_spr asc_get_ar_spr asc_get_squeeze_status
        asc_unsqueeze asc_frequency_histogram_bin0 asc_frequency_histogram_bin1
        asc_cumulative_histogram_bin0 asc_cumulative_histogram_bin1 asc_pack_to_low
        asc_pack_to_high asc_unpack_lower asc_unpack_upper asc_intlv_b8 asc_intlv_b16
        asc_intlv_b32 asc_deintlv_b8 asc_deintlv_b16 asc_deintlv_b32 asc_addc asc_subc asc_mull
        asc_loadunalign_pre asc_loadunalign asc_loadunalign_postupdate asc_load asc_storeunalign
        asc_storeunalign_postupdate asc_storeunalign_post asc_storeunalign_post_postupdate
        asc_store asc_duplicate_highest asc_arange_descend asc_copy asc_neg asc_relu
        asc_float2e5m2_rn asc_float2e5m2_rn_sat asc_e5m22float asc_bfloat162e2m1x2_rn
        asc_bfloat162e1m2x2_rn asc_e1m2x22bfloat16 asc_half2bfloat16_rn asc_bfloat162half_rn
        asc_half2int32_rd asc_half2int16_rn asc_half2int8_rn asc_half2uint8_rn asc_int82half
        asc_uint82half asc_int162half_rn asc_int162float asc_bfloat162int32_rn
        asc_float2int16_rna_sat asc_ndim_copy_gm2ub asc_set_ndim_loop0_stride
        asc_set_ndim_loop1_stride asc_set_ndim_loop2_stride asc_set_ndim_loop3_stride
        asc_set_ndim_loop4_stride asc_set_ndim_pad_count asc_set_ndim_pad_value
    """,
    "P2": """
        asc_copy_l12ub asc_copy_l0c2l1 asc_dcci_single asc_ub_dcci_single asc_dcci_entire_all
        asc_dcci_entire_out asc_dcci_entire_atomic asc_dci asc_sync_data_barrier
        asc_datacache_preload asc_icache_preload asc_get_icache_preload_status
        asc_ndim_copy_dci asc_set_l13d_fmatrix asc_set_l13d_fmatrix_b
        asc_set_l13d_rpt asc_set_l3d_rpt_b asc_set_l13d_padding asc_set_l12l0_padding_val
        asc_set_l0c2gm_quant_post asc_get_status asc_get_core_id asc_get_ctrl asc_set_ctrl
        asc_get_system_cycle asc_get_sub_block_num asc_get_phy_buf_addr asc_get_arch_ver
        asc_get_program_counter asc_get_phy_stack_base asc_get_sys_virtual_base
        asc_get_smmu_tag_version asc_nop asc_ffs asc_ffz asc_popc asc_zero_bits_cnt
        asc_clz asc_sflbits asc_set_nthbit asc_clear_nthbit asc_float2int32_rn asc_float2int32_rna
        asc_float2int32_rd asc_float2int32_ru
        asc_leakyrelu asc_prelu asc_abs_sub asc_muls asc_muls_v2 asc_exp_sub_v2 asc_rint asc_round
        asc_floor asc_ceil asc_trunc asc_float2hif8_rna asc_float2hif8_rh asc_half2hif8_rna
        asc_half2hif8_rh asc_hif82float asc_hif82half asc_half2int4x2_rn asc_int4x22half
        asc_int4x22bfloat16 asc_int4x22int16 asc_int162int4x2 asc_float2int64_rn asc_int642float_rn
        asc_int322int64 asc_int642int32 asc_bitsort asc_mrgsort4 asc_transpose asc_transto5hd
        asc_set_va_reg asc_update_addr_reg_b8 asc_update_addr_reg_b16 asc_update_addr_reg_b32
        asc_get_mask_spr_b16 asc_get_mask_spr_b32
    """,
}

_TRANSPARENT = "the data cache is transparent: orders the scalar unit's accesses only"
_HINT = "a hint: no effect on values"
_SUM_ORDER = "order and rounding of the sum inside the device are not documented"
_ROUNDED = "correctly rounded; the device's last bit is not documented"
_ONE_LOOP = "offsets for the innermost loop only"
_OPAQUE = "opaque on the device, a constant here"

# Why a function is value-exact only; an empty text would hide the reason.
NOTES = {
    "asc_nop": "takes no time here",
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
    "asc_mem_bar": "program order on the host; racecheck reports missing ones",
    "asc_exp": _ROUNDED,
    "asc_ln": _ROUNDED,
    "asc_sqrt": _ROUNDED,
    "asc_div": _ROUNDED,
    "asc_exp_sub": _ROUNDED,
    "asc_ndim_copy_dci": "the copy's own cache is not modelled",
    "asc_update_addr_reg_b8": _ONE_LOOP,
    "asc_update_addr_reg_b16": _ONE_LOOP,
    "asc_update_addr_reg_b32": _ONE_LOOP,
    "asc_bitsort": "equal scores keep their order (not documented)",
    "asc_mrgsort4": "of equal scores the first queue's comes first (not documented)",
    "asc_scatter": "of equal indices the last lane wins (arbitrary on the device)",
}
