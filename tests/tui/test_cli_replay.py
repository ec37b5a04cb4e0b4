"""`compaction replay`, `sweep`, `compare` and `recommend` on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import compaction
import sample_sessions
from tests.tui.running import Cli


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A session of twenty turns, each with a path that a later one uses again."""
    messages = [{"role": "system", "content": "Depot helper. Never open gate-9."}]
    for turn in range(20):
        messages += [
            {"role": "user", "content": f"Weigh crate {turn}; see /depot/log-{turn % 4}.txt. " * 9},
            {"role": "assistant", "content": f"Crate {turn} weighs {turn}.5 kg. " * 6},
        ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"model": "gpt-4.1", "messages": messages}))
    return path


def test_replay_prints_one_object_with_all_that_happened(cli: Cli, talk: Path) -> None:
    ran = cli("replay", talk, "--budget", "900", "--keep-recent", "4", "--json")
    assert ran.code == 0
    told = ran.json
    assert told["totals"]["calls"] == 20 == len(told["contexts"])
    assert told["totals"]["sent"] == sum(told["contexts"])
    assert told["compactions"][0]["before"] > 900
    assert told["peak"]["tokens"] == max(told["contexts"])
    assert told["money"]["policy"] > told["money"]["baseline"] > 0, "small talk does not pay back"
    assert "genai-prices" in told["money"]["source"]
    assert {need["how"] for need in told["needed_later"]["needs"]} <= {
        "argument", "request", "answer", "fetched", "constraint",
    }  # fmt: skip
    session = compaction.load(talk)
    run = compaction.replay(session, compaction.Policy(budget=900, keep_recent=4), summary="digest")
    assert [each.call for each in run.compactions] == [c["call"] for c in told["compactions"]]


def test_replay_for_people_says_when_what_and_why(cli: Cli, talk: Path) -> None:
    shown = cli("replay", talk, "--budget", "900", "--keep-recent", "4").out
    for words in ("It would compact", "largest context", "pays back after", "money"):
        assert words in shown
    tight = cli("replay", talk, "--budget", "300", "--keep-recent", "200").out
    assert "It would look and not compact" in tight
    assert "nothing is old" in tight


def test_prices_are_a_persons_own_or_not_known(cli: Cli, talk: Path, tmp_path: Path) -> None:
    table = tmp_path / "prices.yaml"
    table.write_text("gpt-4.1: {input: 1000000, output: 0, cached: 0}\n")
    told = cli("replay", talk, "--prices", table, "--budget", "9000", "--json").json
    assert told["money"]["policy"] == told["totals"]["written"]
    unknown = cli("replay", talk, "--price-model", "no-such-model")
    assert unknown.code == 2
    assert "not known; give them with --prices" in unknown.err
    table.write_text("gpt-4.1: {input: cheap}\n")
    assert "must be a number" in cli("replay", talk, "--prices", table).err


def test_a_size_of_summaries_that_cannot_be(cli: Cli, talk: Path) -> None:
    ran = cli("replay", talk, "--summary", "huge")
    assert ran.code == 2
    assert "expected, digest, recorded, or a number" in ran.err
    assert "records no summary" in cli("replay", talk, "--summary", "recorded").err


def test_sweep_writes_a_row_a_setting_and_recommends_one(
    cli: Cli, talk: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.csv"
    ran = cli(
        "sweep", talk, "--budgets", "600,900,2k", "--keep-recents", "2,6", "-o", out, "--json",
        "--backend", "serial",
    )  # fmt: skip
    assert ran.code == 0
    told = ran.json
    assert told["axes"] == ["budget", "keep_recent"]
    assert [each["values"] for each in told["settings"]][:2] == [[600, 2], [600, 6]]
    assert told["recommended"]["why"].startswith("budget ")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7, "six settings, and the session without any"
    assert float(rows[0]["money"]) == pytest.approx(told["rows"][0]["money"])
    assert (rows[-1]["budget"], rows[-1]["setting"]) == ("", "-1")
    again = cli("sweep", talk, "-o", out, "--backend", "serial")
    assert "exists already" in again.err
    assert "Recommended" in cli("sweep", talk, "--budgets", "600,900", "--backend", "serial").out


def test_what_cannot_be_written_is_refused_before_the_work(
    cli: Cli, talk: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "journal.jsonl"
    for command in ("sweep", "compare", "recommend"):
        for name in ("rows.txt", "nowhere/rows.csv"):
            ran = cli(
                command, talk, "-o", tmp_path / name, "--journal", journal, "--backend", "serial"
            )
            assert (ran.code, ran.out) == (2, "")
            assert not journal.exists()
    assert "no standard input" in cli("sweep", "-").err
    twice = cli("sweep", talk, "--axis", "trigger.budget=1k,2k", "--backend", "serial")
    assert (twice.code, "--budgets" in twice.err) == (2, True)


def test_the_rows_never_go_onto_a_session(cli: Cli, talk: Path, tmp_path: Path) -> None:
    line = tmp_path / "talk.jsonl"
    line.write_bytes(talk.read_bytes().replace(b"\n", b""))
    before = line.read_bytes()
    ran = cli("sweep", line, "-o", line, "--force", "--budgets", "900", "--backend", "serial")
    assert ran.code == 2
    assert "never changed" in ran.err
    assert line.read_bytes() == before


def test_a_folder_with_files_that_are_no_sessions(cli: Cli, talk: Path) -> None:
    (talk.parent / "other.json").write_text("[1, 2]")
    ran = cli("sweep", talk.parent, "--budgets", "900", "--keep-recents", "4", "--json")
    assert ran.code == 0
    [skipped] = ran.json["skipped"]
    assert skipped["session"].endswith("other.json")
    assert "skipped: " in ran.err


def test_another_axis(cli: Cli, talk: Path) -> None:
    told = cli(
        "sweep", talk, "--budgets", "900", "--keep-recents", "4", "--axis",
        "summary.max_tokens=50,400", "--json", "--backend", "serial",
    ).json  # fmt: skip
    small, large = told["rows"]
    assert small["summary_output"] < large["summary_output"]
    ran = cli("sweep", talk, "--axis", "sumary.max_tokens=1")
    assert ran.code == 2
    assert "did you mean summary" in ran.err


def test_compare_has_a_row_a_policy(cli: Cli, talk: Path) -> None:
    told = cli(
        "compare", talk, "--policy", "three-region", "--policy", "keep-last", "--budget", "900",
        "--json", "--backend", "serial",
    ).json  # fmt: skip
    assert [each["values"] for each in told["settings"]] == [["three-region"], ["keep-last"]]
    assert all(row["compactions"] for row in told["rows"])
    assert "keep-last" in cli("compare", talk, "--policy", "keep-last").out


def test_recommend_prints_a_policy_file(cli: Cli, talk: Path, tmp_path: Path) -> None:
    ran = cli("recommend", talk, "--budgets", "600,900,2k", "--backend", "serial")
    assert ran.code == 0
    path = tmp_path / "policy.yaml"
    path.write_text(ran.out)
    assert compaction.Policy.from_yaml(path).budget in (600, 900, 2_000)
    assert "cost than without compaction" in ran.err


def test_a_value_that_cannot_be_is_said(cli: Cli, talk: Path) -> None:
    ran = cli(
        "sweep", talk, "--budgets", "900", "--keep-recents", "0.5,4", "--json", "--backend",
        "serial",
    )  # fmt: skip
    assert ran.code == 0
    assert "keep_recent 0.5 cannot be under this policy" in ran.err
    assert [each["values"] for each in ran.json["settings"]] == [[900, 4]]


def test_what_was_not_looked_at_is_not_said_to_be_none(cli: Cli, talk: Path) -> None:
    told = cli("sweep", talk, "--budgets", "600,900", "--keep-recents", "2", "--no-needed").out
    assert "what is lost was not looked at" in told
    assert "—" in told
    assert "Recommended" not in told
    refused = cli("recommend", talk, "--no-needed")
    assert refused.code == 2
    assert "--no-needed leaves nothing to hold the cost against" in refused.err


def test_a_comparison_has_one_way_of_counting_whatever_the_order(cli: Cli, talk: Path) -> None:
    names = ["claude-code", "default", "langmem"]
    seen = []
    for order in (names, names[::-1]):
        policies = [part for name in order for part in ("--policy", name)]
        told = cli("compare", talk, "--budget", "900", *policies, "--json").json
        [base] = told["baselines"]
        costs = {each["values"][0]: each["cost"] for each in told["settings"]}
        seen.append((base["sent"], costs))
    assert seen[0] == seen[1]
    exact = cli("compare", talk, "--budget", "900", "--policy", "default", "--tokenizer", "chars/4")
    assert "counted with chars/4" in exact.out


def test_two_policies_of_one_name_are_called_as_they_were_given(
    cli: Cli, talk: Path, tmp_path: Path
) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text("name: default\nrecent: {messages: 3}\n")
    told = cli("compare", talk, "--budget", "900", "--policy", "default", "--policy", own, "--json")
    assert {each["values"][0] for each in told.json["settings"]} == {"default", str(own)}


def test_a_compaction_in_place_names_no_range(cli: Cli, tmp_path: Path) -> None:
    login = sample_sessions.path("login-refactor")
    shown = cli("replay", login, "--policy", "swe-agent", "--budget", "60k").out
    assert "changed in place" in shown
    assert "#-1" not in shown
    assert "replay-account" not in shown
    told = cli("replay", login, "--policy", "swe-agent", "--budget", "60k", "--json").json
    assert all(each["summarized"][0] == each["summarized"][1] for each in told["compactions"])
    assert sum(len(each["cleared"]) for each in told["compactions"]) > 20


def test_of_a_file_of_many_conversations_it_is_said_that_one_was_replayed(cli: Cli) -> None:
    hall = sample_sessions.path("town-hall-triage")
    ran = cli("sweep", hall, "--budgets", "900", "--keep-recents", "2")
    assert "conversations was replayed, the one that is opened first" in ran.err


def test_a_folder_without_sessions_is_told_from_one_that_is_not_there(
    cli: Cli, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no file in this folder may be a session" in cli("sweep", empty).err
    assert "there is no such file" in cli("sweep", tmp_path / "missing").err
