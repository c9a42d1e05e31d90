"""Plug-ins for pytest, each loaded on its own: `pytest -p tile_kernels.testing.pytest.<name>`.

`device` has fixtures that give a test a small emulated device and default settings, `ids` names
test cases after their values. A conftest may also import what it needs from them.
"""
