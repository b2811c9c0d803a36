"""Environments of Gymnasium."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import SCENARIOS
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


def test_the_options_of_a_scenario_are_quoted():
    import corro.envs

    env = corro.envs.OptionQuoting(SCENARIOS / "options.toml")
    options = [each.name for each in env._scenario.instruments if each.kind == "option"]
    seen, _ = env.reset(seed=1)
    assert seen.shape == (6 * len(options),) and len(options) > 3
    for _ in range(3):
        seen, reward, is_over, _, info = env.step(np.full(2 * len(options), 0.5, dtype=np.float32))
    assert list(info) == options and not is_over and np.isfinite(reward)
    quoted = {str(each) for each in env._makers[0].seat.orders["instrument"]}
    assert quoted and quoted <= set(options)


def execution(**options):
    import corro.envs

    return corro.envs.Execution(small(duration="10s"), interval="500ms", beside="makers", **options)


def test_the_checker_passes_for_the_others():
    from gymnasium.utils.env_checker import check_env

    import corro.envs

    check_env(execution())
    check_env(corro.envs.OptionQuoting(small(duration="4s"), instruments=["ESZ6"], beside="makers"))


@pytest.mark.parametrize("quantity", [12, -12])
def test_an_execution_costs_what_the_venue_says(quantity):
    env = execution(quantity=quantity, clip_lots=3)
    _, rewards, info = episode(env, 4, lambda env: np.array([0.0, -1.0], dtype=np.float32))
    assert info["left"] == 0
    held = env.market.positions.to_numpy()
    mine = held[held["agent"] == "maker"][0]
    assert mine["position"] == quantity
    assert -rewards.sum() == pytest.approx(info["cost_ticks"])
    assert info["cost_ticks"] == pytest.approx(-(mine["cash"] - mine["fees"] + quantity * info["arrival"]) / 0.25)
    assert info["cost_ticks"] > 0, "orders at market pay the spread"


def test_what_is_left_is_charged():
    env = execution(quantity=5, penalty_ticks=7.0)
    _, rewards, info = episode(env, 4, lambda env: np.array([-1.0, -1.0], dtype=np.float32))
    assert info["left"] == 5 and rewards.sum() == -35


def test_quoting_one_instrument_is_making_a_market():
    import corro.envs

    alone = make()
    several = corro.envs.OptionQuoting(small(), instruments=["ESZ6"], beside="makers", interval="500ms")

    def policy(env):
        return np.array([-0.4, -0.6], dtype=np.float32)

    first, second = episode(alone, 6, policy), episode(several, 6, policy)
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


@pytest.mark.parametrize("make_wrong, message", [
    (lambda e: e.Execution(small(), quantity=0), "quantity=0"),
    (lambda e: e.Execution(small(), penalty_ticks=-1), "penalty_ticks=-1"),
    (lambda e: e.OptionQuoting(small()), "no options"),
    (lambda e: e.OptionQuoting(small(), instruments=["NONE"]), 'no instrument "NONE"'),
])
def test_a_wrong_argument_of_the_others_too(make_wrong, message):
    import corro.envs

    with pytest.raises(ValueError, match=message):
        make_wrong(corro.envs)
