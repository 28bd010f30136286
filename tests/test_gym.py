"""Gymnasium environments: spaces, seeds, determinism, messages, and an agent that learns."""

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import simoom as sm
from simoom import gym

ROOT = Path(__file__).parents[1]
SATURATED = {
    "standard": "11b",
    "stations": 4,
    "duration_s": 0.3,
    "warmup_s": 0.0,
    "flows": [{"from": "sta*", "to": "ap", "traffic": {"saturated": {"payload_bytes": 1472}}}],
}
WINDOWS = gym.Setting(("wlan.cw_min", "wlan.cw_max"), [(31, 1023), (15, 15), (255, 255)])


def environment(**options):
    usual = {"settings": [WINDOWS], "observe": ["total.goodput_mbps", "total.attempts"]}
    return gym.Environment(SATURATED, **{**usual, **options})


def episode(env, actions, **reset):
    """Step an environment to the end of the episode; the last action goes on."""
    observation, _ = env.reset(**reset)
    seen, rewards, step = [observation], [], 0
    while True:
        action = actions[min(step, len(actions) - 1)]
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        step += 1
        assert not terminated
        if truncated:
            return np.array(seen), np.array(rewards), info


@pytest.mark.parametrize("preset", gym.PRESETS, ids=lambda preset: preset.name)
def test_gymnasium_accepts_the_registered_environments(preset):
    options = {"stations": 3, "duration_s": 0.2}
    env = gymnasium.make(f"simoom/{preset.name}", **options)
    with warnings.catch_warnings():
        # It prefers bounded observations; a goodput has no bound.
        warnings.simplefilter("ignore")
        check_env(env.unwrapped, skip_render_check=True)
    seen, rewards, info = episode(env, [0, env.action_space.n - 1], seed=1)
    assert seen.shape == (21, len(env.unwrapped.observation_names))
    assert np.isfinite(rewards).all()
    assert seen[1:].any()
    assert info["time_s"] == 0.2
    envs = gymnasium.make_vec(
        f"simoom/{preset.name}", num_envs=2, vectorization_mode="vector_entry_point", **options
    )
    observations, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)


def test_the_settings_of_the_scenario_give_its_run():
    env = environment(also=["stations[*].sent"])
    seen, rewards, _ = episode(env, [0], seed=5)
    done, run = env.finish(), sm.run(SATURATED, seed=5)
    assert done.digest == run.digest
    results = {path: value for path, value in run.summary.items() if path != "run.events"}
    assert {path: done.summary[path] for path in results} == results
    assert seen[:, 1].sum() == run.summary["total.attempts"]
    assert rewards.mean() == pytest.approx(run.summary["total.goodput_mbps"])
    env.reset()
    assert env.finish().digest == sm.run(SATURATED, seed=5, replication=1).digest
    env.reset(options={"replication": 7})
    assert env.finish().digest == sm.run(SATURATED, seed=5, replication=7).digest


def test_an_action_is_what_the_scenario_says():
    env = environment()
    assert env.chosen(1) == {"wlan.cw_min": 15, "wlan.cw_max": 15}
    episode(env, [1], seed=5)
    written = sm.Scenario(**SATURATED).set("wlan.cw_min", 15).set("wlan.cw_max", 15)
    assert env.finish().digest == sm.run(written, seed=5).digest


def test_equal_seeds_and_actions_give_equal_episodes():
    actions = list(np.random.default_rng(3).integers(0, 3, 40))
    env = environment()
    digests = []
    for _ in range(4):
        first, _, _ = episode(env, actions, seed=9)
        digests.append(env.finish().digest)
    again, _, _ = episode(environment(), actions, seed=9)
    assert len(set(digests)) == 1
    assert (first == again).all()
    episode(env, actions[::-1], seed=9)
    assert env.finish().digest != digests[0]


def test_an_environment_begins_anew_at_any_time_and_any_number_of_times():
    env = environment(step_ms=50.0)
    for _ in range(300):
        env.reset()
        env.step(1)
    assert env.reset(seed=4)[0].tolist() == [0.0, 0.0]
    seeds = [environment() for _ in range(2)]
    runs = [(env.reset(), env.finish().seed)[1] for env in seeds]
    assert runs[0] != runs[1], "without a seed, each environment has its own"


def test_a_vector_is_its_environments():
    actions = np.random.default_rng(8).integers(0, 3, (80, 3))
    envs = gym.VectorEnvironment(
        SATURATED, num_envs=3, settings=[WINDOWS], observe=["total.goodput_mbps", "total.attempts"]
    )
    seen = [envs.reset(seed=20)[0]]
    rewards, ended = [], []
    for action in actions:
        observation, reward, terminated, truncated, info = envs.step(action)
        seen.append(observation)
        rewards.append(reward)
        ended.append(truncated)
        assert not terminated.any()
        assert info["time_s"].shape == (3,)
    for which in range(3):
        env = environment()
        one = [env.reset(seed=20 + which)[0]]
        worth = []
        ends = False
        for action in actions[:, which]:
            if ends:  # the step after the end begins the next replication
                observation, reward, ends = env.reset()[0], 0.0, False
            else:
                observation, reward, _, ends, _ = env.step(action)
            one.append(observation)
            worth.append(reward)
        assert (np.array(seen)[:, which] == np.array(one)).all()
        assert np.allclose(np.array(rewards)[:, which], worth, rtol=0, atol=0)
        assert envs.finish(which).digest == env.finish().digest
    assert np.array(ended).sum() == 3 * 2


def test_several_settings_are_chosen_together():
    scenario = {**SATURATED, "standard": "11n", "wlan": {"qos": True}}
    settings = [
        gym.Setting('stations["sta1"].mcs', [7, 0]),
        gym.Setting('stations["sta2"].mcs', [7, 3]),
        gym.Setting("wlan.rts_threshold_bytes", [2347, 0]),
    ]
    env = gym.Environment(
        scenario,
        settings=settings,
        observe=["stations[*].rate_mbps"],
        also=["total.goodput_mbps"],
    )
    names = ('stations["sta1"].mcs', 'stations["sta2"].mcs', "wlan.rts_threshold_bytes")
    assert env.action_names == names
    assert env.action_space == gymnasium.spaces.MultiDiscrete([2, 2, 2])
    env.reset(seed=1)
    assert env.step([0, 0, 0])[0].tolist() == [65.0] * 4
    assert env.step([1, 0, 0])[0].tolist() == [65.0, 6.5, 65.0, 65.0]
    assert env.step([1, 1, 1])[0].tolist() == [65.0, 6.5, 26.0, 65.0]
    assert env.finish().summary["airtime.rts_cts_fraction"] > 0.01


def test_the_reward_is_the_users():
    path = "stations[*].sent"

    def frames(step):
        assert step.step_s == 0.01
        assert "total.goodput_mbps" in step
        return step[path].sum(axis=-1)

    env = environment(reward=frames, also=[path])
    seen, rewards, _ = episode(env, [0], seed=2)
    assert seen.shape[1] == 2, "the agent does not see what only the reward needs"
    summary = env.finish().summary
    assert rewards.sum() == sum(summary[f"stations[{n}].sent"] for n in range(4))
    envs = gym.VectorEnvironment(
        SATURATED, num_envs=2, settings=[WINDOWS], observe=["total.attempts"], reward=frames,
        also=["total.goodput_mbps", path],
    )  # fmt: skip
    envs.reset(seed=2)
    assert envs.step([0, 0])[1].tolist()[0] == rewards[0]
    env = environment(reward=gym.rewards.proportional_fairness)
    env.reset(seed=1)
    with pytest.raises(KeyError, match=r"flows\[\*\].goodput_mbps.*name it in observe"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"observe": ["total.goodput"]}, sm.ScenarioError, "did you mean total.goodput_mbps"),
        ({"observe": "total.attempts"}, TypeError, "must be a list of paths"),
        ({"observe": []}, ValueError, "at least one setting and one observation"),
        ({"step_ms": 0.0}, ValueError, "step_ms: must be 0.001 or more, is 0"),
        ({"step_ms": float("nan")}, ValueError, "step_ms: must be 0.001 or more, is nan"),
        (
            {"settings": [gym.Setting("wlan.cw_min", [15, 16])]},
            sm.ScenarioError,
            "wlan.cw_min: 16 is not of the form 2\\^k - 1",
        ),
        (
            {"settings": [gym.Setting("duration_s", [1.0])]},
            sm.ScenarioError,
            "duration_s: cannot change during a run; contention windows,",
        ),
        ({"settings": [gym.Setting("wlan.cwmin", [15])]}, sm.ScenarioError, "cw_min"),
    ],
)
def test_faults_are_said(options, error, message):
    with pytest.raises(error, match=message):
        environment(**options)


def test_faults_of_use_are_said():
    env = environment()
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset first"):
        env.step(0)
    with pytest.raises(sm.ScenarioError, match="call reset first"):
        env.finish()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action: 3 is not in 0 to 2"):
        env.step(3)
    with pytest.raises(ValueError, match="there is no 'replicaton'"):
        env.reset(options={"replicaton": 3})
    with pytest.raises(ValueError, match="1 values for 2 paths"):
        gym.Setting(("wlan.cw_min", "wlan.cw_max"), [(1,)])
    with pytest.raises(ValueError, match="num_envs: must be at least 1, is 0"):
        gym.VectorEnvironment(SATURATED, num_envs=0, settings=[WINDOWS], observe=["total.attempts"])


def test_a_missing_package_is_named_in_one_line():
    code = "import sys; sys.modules['gymnasium'] = None; import simoom.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("simoom.gym needs gymnasium, which is missing: pip install 'simoom[gym]'")


def test_the_example_learns_to_beat_a_fixed_window():
    path = ROOT / "docs" / "gym" / "learn_window.py"
    spec = importlib.util.spec_from_file_location("learn_window", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for name, (gain, half_width) in example.main(quick=True).items():
        assert gain - half_width > 0, name
