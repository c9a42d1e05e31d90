"""Parts of tools/gen_texts.py: the calls whose lowered kernels ship, and what lowers them."""
