"""Second statement of the instructions, in numpy, written from ascend_c_cube.md alone."""
