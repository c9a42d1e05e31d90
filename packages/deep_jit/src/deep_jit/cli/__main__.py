"""`python -m deep_jit.cli` is `deep-jit`."""

from . import main

main()
