"""Spin hints and conditions on the kind of core."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Body = Callable[..., str]
SPIN = "::asc_emu::spin();"


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("while (*p == 0);", f"while (*p == 0){SPIN}"),
        ("while (*p == 0) {}", f"while (*p == 0) {{ {SPIN}}}"),
        ("while (x) { y(); }", f"while (x) {{ {SPIN} y(); }}"),
        ("while (x) y();", f"while (x) {{ {SPIN} y(); }}"),
        (
            "while (x) if (y) z(); else { w(); }",
            f"while (x) {{ {SPIN} if (y) z(); else {{ w(); }} }}",
        ),
        ("while (auto v = x()) use(v);", f"while (auto v = x()) {{ {SPIN} use(v); }}"),
        ("for (;;) { x(); }", f"for (;;) {{ {SPIN} x(); }}"),
        ("for (int i = 0;; ++i) x();", f"for (int i = 0;; ++i) {{ {SPIN} x(); }}"),
        ("for (; *p != i;) {}", f"for (; *p != i;) {{ {SPIN}}}"),
        ("do { x(); } while (y);", f"do {{ {SPIN} x(); }} while (y);"),
        ("do x(); while (y);", f"do {{ {SPIN} x(); }} while (y);"),
        (
            "while (a) while (b) c();",
            f"while (a) {{ {SPIN} while (b) {{ {SPIN} c(); }} }}",
        ),
        (
            "while (a) do { b(); } while (c); d();",
            f"while (a) {{ {SPIN} do {{ {SPIN} b(); }} while (c); }} d();",
        ),
    ],
)
def test_polling_loops(body: Body, loop: str, expected: str) -> None:
    assert body(f"void f() {{ {loop} }}") == f"void f() {{ {expected} }}"


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < n; ++i) { x(); }",
        "for (auto& v : values) { x(v); }",
        "for (Tile tile; scheduler.next(tile);) { x(tile); }",
        "for (auto f = [] { return 1; }; f() < n; ++n);",
        "meanwhile(x);",
        "int do_it = 1, whiles = 2;",
        "// while (x);\n",
        'puts("while (x);");',
    ],
)
def test_other_loops_stay(body: Body, loop: str) -> None:
    assert body(f"void f() {{ {loop} }}") == f"void f() {{ {loop} }}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if constexpr (ASC_IS_AIC) {}", "if  (ASC_IS_AIC) {}"),
        ("if constexpr (X && ASC_IS_NOT_AIV) {}", "if  (X && ASC_IS_NOT_AIV) {}"),
        ("if constexpr ASCEND_IS_AIV {}", "if  ASCEND_IS_AIV {}"),
        (
            "constexpr bool cube = ASC_IS_AIC; if constexpr (cube) {} if constexpr (X) {}",
            "const bool cube = ASC_IS_AIC; if  (cube) {} if constexpr (X) {}",
        ),
        ("if ASC_IS_AIC {} if constexpr (kCube) {}", "if ASC_IS_AIC {} if constexpr (kCube) {}"),
    ],
)
def test_roles(body: Body, text: str, expected: str) -> None:
    assert body(f"void f() {{ {text} }}") == f"void f() {{ {expected} }}"
