"""Public functions: checks, cached plans, launches (architecture.md section 4)."""
