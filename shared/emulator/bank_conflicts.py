"""Which vector functions lose time to bank conflicts of UB (ascend_c_vector.md section 1.4)."""

from __future__ import annotations

from .frames import source_lines
from .timing import TimingProfile

__all__ = ["bank_conflict_lines"]


def bank_conflict_lines(profile: TimingProfile) -> dict[str, float]:
    """Returns the calls of vector functions that lose time to bank conflicts, the worst first.

    Args:
        profile: of one launch.

    Returns:
        "file:line" of the call -> mean share of the vector cores' time that UB lost there, 0..1.
        Calls of one line are added up; "?" stands for those whose line is not known.
    """
    found = source_lines(profile.object, profile.bank_conflict_sites)
    shares: dict[str, float] = {}
    for site, share in profile.bank_conflict_sites.items():
        line = found.get(site, "?")
        shares[line] = shares.get(line, 0.0) + share
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
