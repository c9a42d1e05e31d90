"""Help for tests and benchmarks of every component (architecture.md section 8)."""
