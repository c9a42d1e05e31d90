"""Per kernel: source text, launch arguments, launch; device code is `include/deep_gemm/impls`."""
