"""What all components share, as the package `<component>._shared` (architecture.md section 3).

Code below this folder imports itself relatively; nobody imports a top-level `shared`.
"""
