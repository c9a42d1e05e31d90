"""GEMM kernels for Ascend 950 in Ascend C, compiled at run time; they also run without an NPU.

Importing this package touches no device and runs no compiler (architecture.md section 4).
"""

from __future__ import annotations

from deep_gemm import _environment, epilogue, errors, locality_domain
from deep_gemm._shared.emulator import EmulatorOptions, emulator, last_profile
from deep_gemm._version import __version__
from deep_gemm.apis.config import (
    get_deterministic_algorithms,
    get_library_root_path,
    get_mk_alignment_for_contiguous_layout,
    get_npu_arch,
    get_num_sms,
    get_theoretical_mk_alignment_for_contiguous_layout,
    set_mk_alignment_for_contiguous_layout,
    set_npu_arch,
    set_num_sms,
    use_deterministic_algorithms,
)
from deep_gemm.apis.fp8_gemm import (
    fp8_fp4_gemm_nn,
    fp8_fp4_gemm_nt,
    fp8_fp4_gemm_tn,
    fp8_fp4_gemm_tt,
    fp8_gemm_nn,
    fp8_gemm_nt,
    fp8_gemm_tn,
    fp8_gemm_tt,
)
from deep_gemm.apis.gemm import bf16_gemm_nn, bf16_gemm_nt, bf16_gemm_tn, bf16_gemm_tt
from deep_gemm.apis.reference import (
    aclnn_bf16_gemm_nn,
    aclnn_bf16_gemm_nt,
    aclnn_bf16_gemm_tn,
    aclnn_bf16_gemm_tt,
    cublaslt_gemm_nn,
    cublaslt_gemm_nt,
    cublaslt_gemm_tn,
    cublaslt_gemm_tt,
)
from deep_gemm.errors import DeepGemmError, DeepGemmTypeError, DeepGemmValueError
from deep_gemm.locality_domain import (
    destroy_localizer,
    get_num_locality_domains,
    is_localization_available,
    is_localized,
    localize,
)

_environment.apply_persistent_envs()
ASCEND_HOME = _environment.ascend_home()

# fmt: off
__all__ = [
    # Dense GEMM
    "bf16_gemm_nt", "bf16_gemm_nn", "bf16_gemm_tn", "bf16_gemm_tt", "epilogue",
    "fp8_fp4_gemm_nt", "fp8_fp4_gemm_nn", "fp8_fp4_gemm_tn", "fp8_fp4_gemm_tt",
    "fp8_gemm_nt", "fp8_gemm_nn", "fp8_gemm_tn", "fp8_gemm_tt",
    # Reference names
    "aclnn_bf16_gemm_nt", "aclnn_bf16_gemm_nn", "aclnn_bf16_gemm_tn", "aclnn_bf16_gemm_tt",
    "cublaslt_gemm_nt", "cublaslt_gemm_nn", "cublaslt_gemm_tn", "cublaslt_gemm_tt",
    # Settings
    "set_num_sms", "get_num_sms", "set_npu_arch", "get_npu_arch",
    "use_deterministic_algorithms", "get_deterministic_algorithms",
    "set_mk_alignment_for_contiguous_layout", "get_mk_alignment_for_contiguous_layout",
    "get_theoretical_mk_alignment_for_contiguous_layout",
    # Emulator
    "emulator", "EmulatorOptions", "last_profile",
    # Locality
    "locality_domain", "get_num_locality_domains", "is_localization_available", "localize",
    "is_localized", "destroy_localizer",
    # Errors and environment
    "errors", "DeepGemmError", "DeepGemmTypeError", "DeepGemmValueError",
    "ASCEND_HOME", "get_library_root_path", "__version__",
]
# fmt: on
