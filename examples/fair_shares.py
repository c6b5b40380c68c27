"""A trivial controller shares a drive fairly: after each window the slower tenants get more weight.

Needs the package with the extra ``gym``: pip install 'flashlane[gym]'
"""

from __future__ import annotations

import gymnasium
import numpy as np

from flashlane.gym import ENVIRONMENT, Load, SharedDrive

LOADS = [
    Load("light", depth=2, read_ratio=1.0),
    Load("heavy", depth=64, read_ratio=1.0, sectors=64),
]
#: Every tenant has as many commands outstanding as it would by itself.
FIXED = np.array([load.depth for load in LOADS]) / sum(load.depth for load in LOADS)


def episode(env: SharedDrive, *, control: bool, seed: int) -> tuple[float, float]:
    """Mean fairness of an episode, and that of its last ten windows."""
    env.reset(seed=seed)
    weights, fairness = FIXED.copy(), []
    over = False
    while not over:
        _, reward, _, over, info = env.step(weights)
        fairness.append(reward)
        if control:
            weights *= np.power(info["slowdowns"], 0.5)
            weights /= weights.sum()
    return float(np.mean(fairness)), float(np.mean(fairness[-10:]))


def main() -> None:
    """Compare the controller with fixed shares."""
    env = gymnasium.make(ENVIRONMENT, device="tiny", loads=LOADS, windows=60).unwrapped
    assert isinstance(env, SharedDrive)
    for name, control in (("fixed shares", False), ("controller", True)):
        mean, last = episode(env, control=control, seed=1)
        print(f"{name:>12}: fairness {mean:.3f} over the episode, {last:.3f} in its last ten windows")


if __name__ == "__main__":
    main()
