"""Environments of Gymnasium."""

from __future__ import annotations

import numpy as np
import pytest
from test_market import small

import corro

gymnasium = pytest.importorskip("gymnasium")


def make(**options):
    import corro.envs  # noqa: F401 registers

    return gymnasium.make("corro/MarketMaking-v0", scenario=small(), beside="makers", interval="500ms", **options)


def episode(env, seed, policy):
    observation, _ = env.reset(seed=seed)
    seen, rewards, is_over = [observation], [], False
    while not is_over:
        observation, reward, is_over, truncated, info = env.step(policy(env))
        assert not truncated
        seen.append(observation)
        rewards.append(reward)
    return np.array(seen), np.array(rewards), info


def test_the_official_checker_passes():
    from gymnasium.utils.env_checker import check_env

    check_env(make().unwrapped)


def test_the_same_seed_gives_the_same_episode():
    def policy(env):
        return env.action_space.sample()

    runs = []
    for seed in (3, 3, 4):
        env = make()
        env.action_space.seed(1)
        runs.append(episode(env, seed, policy))
    assert np.array_equal(runs[0][0], runs[1][0]) and np.array_equal(runs[0][1], runs[1][1])
    assert not np.array_equal(runs[0][0], runs[2][0])
    assert len(runs[0][1]) == 39, "20 s in half seconds, less the first"


def test_rewards_add_up_to_what_the_venue_says():
    env = make(risk_aversion=0.0, position_lots=5)
    _, rewards, info = episode(env, 5, lambda env: np.array([-0.8, -0.8], dtype=np.float32))
    held = env.unwrapped.market.positions.to_numpy()
    mine = held[held["agent"] == "maker"]
    assert len(mine) == 1 and mine[0]["traded"] > 5, "quotes near the middle trade"
    assert abs(mine[0]["position"]) == abs(info["position"]) <= 5
    marked = (mine[0]["cash"] - mine[0]["fees"] + mine[0]["position"] * info["middle"]) / 0.25
    assert rewards.sum() == pytest.approx(marked)


def test_quotes_far_away_trade_less():
    traded = []
    for action in (-1, 1):
        env = make(distance_ticks=30)
        episode(env, 2, lambda env, action=action: np.array([action, action], dtype=np.float32))
        held = env.unwrapped.market.positions.to_numpy()
        traded.append(held[held["agent"] == "maker"]["traded"].sum())
    assert traded[0] > traded[1]


@pytest.mark.parametrize("options, message", [
    ({"beside": "whales"}, 'no group "whales"'),
    ({"instrument": "NONE"}, 'no instrument "NONE"; the scenario has: ESZ6'),
    ({"interval": 0}, "a step needs time"),
    ({"lots": 0}, "lots=0"),
    ({"risk_aversion": -1}, "risk_aversion=-1"),
])
def test_a_wrong_argument_is_answered_with_what_to_do(options, message):
    import corro.envs

    with pytest.raises(ValueError, match=message):
        corro.envs.MarketMaking(small(), **options).reset(seed=1)
