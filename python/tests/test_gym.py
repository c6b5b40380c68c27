from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from flashlane.gym import ENVIRONMENT, Load, SharedDrive

ROOT = Path(__file__).parents[2]
LOADS = [Load("light", depth=1, read_ratio=1.0), Load("mixed", depth=16, sectors=16), Load("third", depth=4)]


def environment(**keys: object) -> SharedDrive:
    made = gymnasium.make(ENVIRONMENT, device="tiny", loads=LOADS, windows=8, **keys)
    assert isinstance(made.unwrapped, SharedDrive)
    return made.unwrapped


def test_the_checker_of_gymnasium_passes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment())


def test_the_same_seed_gives_the_same_episode() -> None:
    def episode(env: SharedDrive, seed: int) -> list[np.ndarray]:
        rows = [env.reset(seed=seed)[0]]
        over = False
        while not over:
            observation, reward, _, over, info = env.step([0.2, 0.3, 0.5])
            rows.append(observation)
            assert 0.0 < reward <= 1.0 and env.observation_space.contains(observation)
            assert info["limits"] == [1, 6, 4]
        assert len(rows) == 9
        return rows

    one, other = environment(), environment()
    first = episode(one, 7)
    assert np.array_equal(first, episode(one, 7)) and np.array_equal(first, episode(other, 7))
    assert not np.array_equal(first, episode(one, 8))


def test_a_tenant_alone_is_not_slowed_down() -> None:
    env = SharedDrive("tiny", [Load("alone", depth=4, read_ratio=1.0)], windows=4)
    env.reset(seed=1)
    _, reward, _, _, info = env.step([1.0])
    assert reward == 1.0 and info["slowdowns"][0] == pytest.approx(1.0, abs=0.05)


def test_a_trivial_controller_is_fairer_than_fixed_shares() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "fair_shares.py"))
    env = SharedDrive("tiny", example["LOADS"], windows=60)
    fixed, controlled = (example["episode"](env, control=control, seed=2) for control in (False, True))
    assert controlled[0] > 3 * fixed[0] and controlled[1] > 0.8, (fixed, controlled)


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(ValueError, match=r"read_ratio: found 2\.0, allowed: 0\.0 to 1\.0"):
        Load("a", read_ratio=2.0)
    with pytest.raises(ValueError, match="found no loads"):
        SharedDrive("tiny", [])
    with pytest.raises(ValueError, match="budget: found 2, allowed"):
        SharedDrive("tiny", LOADS, budget=2)
    with pytest.raises(RuntimeError, match="allowed after reset"):
        SharedDrive("tiny", LOADS).step([1, 1, 1])
    env = SharedDrive("tiny", LOADS, window_ps=1000)
    with pytest.raises(ValueError, match="'light' alone completes a command"):
        env.reset(seed=1)
    env = environment()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"found shape \(2,\), allowed: \(3,\)"):
        env.step([1, 1])


NAN = float("nan")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"depth": 2.5}, "depth: found 2.5, allowed: whole numbers from 1 to 65535"),
        ({"depth": True}, "depth: found True, allowed: whole numbers"),
        ({"depth": "8"}, "depth: found '8', allowed: whole numbers"),
        ({"sectors": 8.0}, "sectors: found 8.0, allowed: whole numbers from 1 to 32768"),
        ({"read_ratio": NAN}, "read_ratio: found nan, allowed: 0.0 to 1.0"),
        ({"working_set": "all"}, "working_set: found 'all', allowed: 0.0 to 1.0"),
    ],
)
def test_a_load_that_is_no_load_is_refused(keys: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Load("a", **keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["windows", "window_ps"])
@pytest.mark.parametrize("value", [0, -1, 2.5, True])
def test_windows_are_whole_numbers(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{key}: found {value!r}, allowed: whole numbers from 1"):
        SharedDrive("tiny", LOADS, **{key: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=re.escape("budget: found 3.5, allowed: a whole number")):
        SharedDrive("tiny", LOADS, budget=3.5)  # type: ignore[arg-type]


def test_an_action_that_is_no_number_is_refused_and_changes_nothing() -> None:
    env = environment()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=re.escape("action: found [nan, 1.0, 1.0], allowed")):
        env.step([NAN, 1, 1])
    after = env.step([0.2, 0.3, 0.5])[0]
    other = environment()
    other.reset(seed=1)
    assert np.array_equal(after, other.step([0.2, 0.3, 0.5])[0])
