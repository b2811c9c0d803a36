# SPDX-License-Identifier: Apache-2.0
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
    quoted = {str(each) for each in env.market.seat("maker").orders["instrument"]}
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


def with_delay(delay, **market):
    """The small market, whose seats are so far away."""
    made = small(**market)
    made["link"].append({"name": "seats", "delay": delay})
    made["agents"].append({"group": "seats", "kind": "noise", "count": 1, "link": "seats", "interval": "5s", "life": "10s"})
    return made


@pytest.mark.parametrize("interval", ["1ms", "10ms", "100ms", "1s"])
@pytest.mark.parametrize("quantity", [20, -7])
def test_an_execution_trades_no_more_than_its_quantity(quantity, interval):
    import corro.envs

    env = corro.envs.Execution(small(duration="10s"), quantity=quantity, beside="noise", interval=interval)
    _, _, info = episode(env, 1, lambda env: np.array([1.0, 1.0]))
    assert info["left"] == 0 and env._seat.position() == quantity
    resting, _, _ = episode(env, 1, lambda env: np.array([-1.0, 1.0]))
    assert abs(env._seat.position()) <= abs(quantity) and len(resting) > 1
    env.market.run()
    held = env.market.positions.to_numpy()
    assert abs(held[held["agent"] == "maker"]["position"]).sum() <= abs(quantity), "also of what was on its way"


def test_an_execution_of_a_spread_ends_with_its_quantity():
    import corro.envs

    env = corro.envs.Execution(SCENARIOS / "calendar.toml", instrument="ESZ6-ESH7", quantity=-20, beside="noise")
    _, rewards, info = episode(env, 1, lambda env: np.array([1.0, -1.0]))
    held = env._seat.holdings.to_numpy()
    spread = held[held["instrument"] == "ESZ6-ESH7"][0]
    assert (info["left"], spread["traded"]) == (0, 20)
    assert set(held["position"]) == {0, -20, 20}, "the position is held in the legs"
    assert -rewards.sum() == info["cost_ticks"] == pytest.approx(-(spread["cash"] - spread["fees"] - 20 * info["arrival"]) / 0.25)


@pytest.mark.parametrize("interval, steps", [("25ms", 1), ("11ms", 2), ("5ms", 5)])
def test_a_maker_exceeds_its_limit_by_what_is_on_its_way_at_most(interval, steps):
    import corro.envs

    env = corro.envs.MarketMaking(with_delay("10ms", duration="10s"), beside="seats",
                                  interval=interval, position_lots=1, distance_ticks=1)  # fmt: skip
    env.reset(seed=1)
    most, is_over = 0, False
    while not is_over:
        _, _, is_over, _, info = env.step(np.array([-1.0, -1.0]))
        most = max(most, abs(info["position"]))
    assert 1 <= most <= 1 + steps, "a round trip takes a little more than 20 ms"
    assert most > 1 or steps < 5


WRONG_ACTIONS = [
    [np.nan, 0], [0, np.inf], [0.0], [0, 0, 0], [[0, 0]], ["a", "b"], None, [None, 0], [[0], [0, 0]], np.array([0, 0], dtype=object),
    np.array([0, np.nan], dtype=np.float32), np.array([0j, 0j]),
]


@pytest.mark.parametrize("action", WRONG_ACTIONS)
@pytest.mark.parametrize("made", ["Execution", "MarketMaking"])
def test_an_action_that_is_not_two_numbers_is_answered_with_what_to_do(made, action):
    import corro.envs

    env = getattr(corro.envs, made)(small(duration="3s"), beside="makers")
    env.reset(seed=1)
    before = env.market.now
    with pytest.raises(ValueError, match=r"^action=.*give finite numbers from -1 to 1, as an array of the shape \(2,\)"):
        env.step(action)
    assert env.market.now == before and len(env.market.seat("maker").orders) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ">f8", np.int64, np.int8, bool, list])
def test_an_action_may_have_any_type_of_number(dtype):
    import corro.envs

    rewards = []
    for action in (np.array([1.0, 0.0]), [1, 0] if dtype is list else np.array([1, 0], dtype=dtype)):
        env = corro.envs.MarketMaking(small(duration="5s"), beside="makers")
        rewards.append(episode(env, 1, lambda env, action=action: action)[1])
    assert np.array_equal(*rewards)


def test_a_seed_may_be_an_integer_of_numpy():
    import corro.envs

    env = corro.envs.MarketMaking(small(duration="3s"), beside="makers")
    together = corro.envs.MarketMakingVector(2, scenario=small(duration="3s"), beside="makers")
    assert env.reset(seed=np.int64(3))[1] == env.reset(seed=3)[1]
    expected = together.reset(seed=3)[1]["seed"].tolist()
    for seed in (np.int64(3), np.array([3, 4]), [np.uint8(3), 4]):
        assert together.reset(seed=seed)[1]["seed"].tolist() == expected
    for seed in (3.5, "ab", [3, "x"]):
        with pytest.raises(TypeError, match="a seed is an int"):
            together.reset(seed=seed)


def vector(count, mode, **options):
    return gymnasium.make_vec("corro/MarketMaking-v0", count, scenario=small(duration="3s"), beside="makers", interval="500ms",
                              autoreset_mode=mode, **options)


def assert_same(one, other):
    assert type(one) is type(other) and list(one) == list(other) if isinstance(one, dict) else True
    if isinstance(one, dict):
        for key in one:
            assert_same(one[key], other[key])
    elif one.dtype == object:
        assert all((a is None) == (b is None) and (a is None or np.array_equal(a, b)) for a, b in zip(one, other, strict=True))
    else:
        assert one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_vector_steps_as_single_environments_do(mode):
    import corro.envs
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    def make_one():
        return corro.envs.MarketMaking(small(duration="3s"), beside="makers", interval="500ms")

    singles = SyncVectorEnv([make_one] * 5, autoreset_mode=AutoresetMode(mode))
    together = vector(5, mode, threads=3)
    assert together.observation_space == singles.observation_space and together.action_space == singles.action_space
    (seen, info), (expected, expected_info) = together.reset(seed=8), singles.reset(seed=8)
    assert_same(seen, expected)
    assert_same(info, expected_info)
    generator = np.random.default_rng(1)
    overs = 0
    for _ in range(12):
        actions = generator.uniform(-1, 1, (5, 2)).astype(np.float32)
        got, wanted = together.step(actions), singles.step(actions)
        for one, other in zip(got, wanted, strict=True):
            assert_same({k: one[k] for k in sorted(one)} if isinstance(one, dict) else one,
                        {k: other[k] for k in sorted(other)} if isinstance(other, dict) else other)
        overs += got[2].sum()
    assert overs >= 5, "episodes ended and began again"
    assert together.unwrapped._native.totals(4).digest == int(singles.envs[4].market.result.digest, 16)


def test_a_vector_resets_those_that_are_chosen_and_works_with_wrappers():
    import corro.envs

    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(vector(3, "Disabled"))
    envs.reset(seed=[1, 2, 3])
    for _ in range(5):
        seen, _, over, _, infos = envs.step(envs.action_space.sample())
    assert over.all() and infos["episode"]["l"].tolist() == [5, 5, 5]
    with pytest.raises(RuntimeError, match="reset_mask"):
        envs.step(envs.action_space.sample())
    plain = corro.envs.MarketMakingVector(2, scenario=small(duration="3s"), beside="makers")
    first, _ = plain.reset(seed=[5, 6])
    again, _ = plain.reset(seed=[5, 6], options={"reset_mask": np.array([True, False])})
    assert np.array_equal(first, again)
    several = corro.envs.OptionQuotingVector(2, scenario=small(duration="3s"), instruments=["ESZ6"], beside="makers")
    assert np.array_equal(several.reset(seed=[5, 6])[0], first)
    assert several.step(several.action_space.sample())[4]["ESZ6"]["position"].shape == (2,)


@pytest.mark.parametrize("call, kind, message", [
    (lambda e: e.step(np.zeros((2, 2))), RuntimeError, "call reset first"),
    (lambda e: e.reset(seed=[1]), ValueError, "seed: 1 seeds; give one for each of the 2"),
    (lambda e: e.reset(options={"reset_mask": [True, False]}), ValueError, "reset_mask"),
    (lambda e: (e.reset(seed=1), e.step(np.zeros(3))), ValueError, r"give finite numbers .* the shape \(2, 2\)"),
    (lambda e: (e.reset(seed=1), e.step([[0, 0], [np.nan, 0]])), ValueError, r"^actions=.* give finite numbers"),
    (lambda e: (e.reset(seed=1), e.step([["a", "b"]] * 2)), ValueError, r"^actions=.* give finite numbers"),
])
def test_a_wrong_call_of_a_vector_is_answered_with_what_to_do(call, kind, message):
    import corro.envs

    with pytest.raises(kind, match=message):
        call(corro.envs.MarketMakingVector(2, scenario=small(duration="2s"), beside="makers"))
