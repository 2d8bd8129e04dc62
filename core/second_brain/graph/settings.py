"""How notes are compared; apart from the formulas, which need numpy: what has nothing to compute does without."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """How notes are compared; the defaults are those of contracts 1.6.  Every value is usable: none may raise later."""

    knn_k: int = 8
    semantic_min: float = 0.35
    min_edge_score: float = 0.15
    weight_semantic: float = 0.5
    weight_link: float = 0.25
    weight_tag: float = 0.15
    weight_comention: float = 0.10
    comention_cap: int = 3
    comention_max_fanout: int = 20
    enabled: bool = True  # False: no note has an edge
