# SPDX-License-Identifier: Apache-2.0
"""Environments of PettingZoo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from test_market import small

import corro

pytest.importorskip("pettingzoo")


def options(**others):
    return {"makers": 3, "beside": "makers", "interval": "500ms", **others}


def short():
    return small(duration="6s")


def test_the_official_checks_pass():
    import corro.zoo
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what environments usually have, such as a spec
        api_test(corro.zoo.env(short(), **options()), num_cycles=60)
        parallel_api_test(corro.zoo.parallel_env(short(), **options()), num_cycles=60)
        seed_test(lambda: corro.zoo.env(short(), **options()), num_cycles=20)
        parallel_seed_test(lambda: corro.zoo.parallel_env(short(), **options()), num_cycles=20)


def test_acting_in_turn_and_at_once_is_the_same_market():
    import corro.zoo

    at_once = corro.zoo.parallel_env(short(), **options())
    in_turn = corro.zoo.raw_env(short(), **options())
    generator = np.random.default_rng(3)
    observations, _ = at_once.reset(seed=7)
    in_turn.reset(seed=7)
    total = dict.fromkeys(at_once.possible_agents, 0.0)
    while at_once.agents:
        actions = {name: generator.uniform(-1, 1, 2).astype(np.float32) for name in at_once.agents}
        for name in at_once.agents:
            assert in_turn.agent_selection == name and np.array_equal(in_turn.observe(name), observations[name])
            in_turn.step(actions[name])
        observations, rewards, *_ = at_once.step(actions)
        assert in_turn.rewards == rewards
        total = {name: total[name] + rewards[name] for name in total}
    assert at_once.market.result == in_turn.market.result
    assert any(total.values()), "somebody traded"


@pytest.mark.parametrize("wrong, message", [
    ({"makers": 0}, "makers=0"), ({"beside": "whales"}, 'no group "whales"'), ({"interval": 0}, "a step needs time"),
    ({"instrument": "NONE"}, 'no instrument "NONE"'), ({"lots": 0}, "lots=0"),
    ({"interval": ["1s", "2s"]}, "2 durations; give one for each of the 3 makers"),
])
def test_a_wrong_argument_is_answered_with_what_to_do(wrong, message):
    import corro.zoo

    with pytest.raises(ValueError, match=message):
        corro.zoo.parallel_env(short(), **options(**wrong)).reset(seed=1)


def test_makers_in_turn_wake_at_times_of_their_own():
    import corro.zoo

    env = corro.zoo.raw_env(short(), **options(makers=2, interval=["500ms", "200ms"]))
    env.reset(seed=7)
    acted = {name: [] for name in env.possible_agents}
    earned = dict.fromkeys(env.possible_agents, 0.0)
    for name in env.agent_iter():
        _, reward, is_over, _, _ = env.last()
        earned[name] += reward
        if not is_over:
            acted[name].append(round(float(env.market.elapsed / np.timedelta64(1, "ms"))))
        env.step(None if is_over else np.array([-0.9, -0.9], dtype=np.float32))
    assert acted["maker_0"] == list(range(500, 6000, 500))
    assert acted["maker_1"] == list(range(200, 6000, 200))
    held = env.market.positions.to_numpy()
    for name in env.possible_agents:
        mine = held[held["agent"] == name][0]
        info = env._all.makers[name].info
        risk = earned[name] - info["value_ticks"]
        assert -10 < risk <= 0, "rewards add up to the value, less the aversion to risk"
        assert info["value_ticks"] == pytest.approx((mine["cash"] - mine["fees"] + mine["position"] * info["middle"]) / 0.25)


@pytest.mark.parametrize("actions, message", [
    ({"maker_0": [0, 0]}, "actions: there is none for maker_1, maker_2; give one for each of agents: maker_0, maker_1, maker_2"),
    ({"maker_0": [0, 0], "maker_1": [np.nan, 0], "maker_2": [0, 0]}, r"action of maker_1=\[nan, 0\]: give finite numbers"),
    ({"maker_0": [0, 0], "maker_1": [0, 0], "maker_2": None}, "action of maker_2=None: give finite numbers"),
])
def test_a_wrong_action_is_answered_with_what_to_do(actions, message):
    import corro.zoo

    env = corro.zoo.parallel_env(short(), **options())
    env.reset(seed=np.int64(1))
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert not any(len(env.market.seat(name).orders) for name in env.agents), "none has acted"


def test_a_step_needs_a_market():
    import corro.zoo

    together, in_turn = corro.zoo.parallel_env(short(), **options()), corro.zoo.raw_env(short(), **options())
    for _ in range(2):
        with pytest.raises(RuntimeError, match="call reset first"):
            together.step({name: np.zeros(2) for name in together.possible_agents})
        with pytest.raises(RuntimeError, match="call reset first"):
            in_turn.step(np.zeros(2))
        for each in (together, in_turn):
            each.reset(seed=1)
            each.close()
    in_turn.reset(seed=1)
    for wrong in (None, [0, np.inf]):
        with pytest.raises(ValueError, match="action of maker_0="):
            in_turn.step(wrong)
