"""How notes are compared; apart from the formulas, which need numpy: what has nothing to compute does without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from second_brain.config import Config


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


def settings_of(config: Config) -> Settings:
    """The settings that are configured."""
    return Settings(
        knn_k=config.graph_knn_k,
        semantic_min=config.graph_semantic_min,
        min_edge_score=config.graph_min_edge_score,
        weight_semantic=config.graph_weight_semantic,
        weight_link=config.graph_weight_link,
        weight_tag=config.graph_weight_tag,
        weight_comention=config.graph_weight_comention,
        comention_cap=config.graph_comention_cap,
        comention_max_fanout=config.graph_comention_max_fanout,
        enabled=config.graph_enabled,
    )
