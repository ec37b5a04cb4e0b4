"""Public bug reports about tools of this kind: which tests cover the kind of each.

The reports are small inputs beside the checkout (`shared_cases`). What is right for a kind of
fault is pinned by the tests that the table names, with inputs of their own; here every input
goes once through all that the engine does, and what holds for any input is looked at.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compaction import Digest, Policy, Session, SessionError, check, compact, count, load, plan
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.formats import format_named
from compaction.groups import find_groups
from compaction.inspecting import inspect
from compaction.policy_blocks import Head, SummaryBlock
from tests.conftest import SHARED

TESTS = Path(__file__).resolve().parents[1]
FOLDER = SHARED / "cases"

_F = "compaction/formats"
_S = "compaction/summary"
_T = "compaction/tokens"


def _in(place: str, *names: str) -> tuple[str, ...]:
    """Names of tests of one file, without the `test_` of both."""
    folder, _, stem = place.rpartition("/")
    return tuple(f"{folder}/test_{stem}.py::test_{name}" for name in names)


#: By report: the tests that cover its kind, or the reason, as a sentence, why it does not apply.
COVERED: Mapping[str, tuple[str, ...] | str] = {
    "PAIR-01": (
        *_in(
            "compaction/loose_results",
            "a_result_without_its_call_is_summarized_wherever_it_stands",
            "the_input_is_told_to_have_had_it",
        ),
        *_in("compaction/laws_planning", "groups_hold"),
    ),
    "PAIR-02": (
        *_in("compaction/planning", "the_cut_moves_back_to_the_call_and_says_so"),
        *_in("compaction/laws_validity", "compacting_in_groups_brings_no_error"),
    ),
    "PAIR-04": (
        *_in("compaction/compacting", "under_budget_the_very_same_list_comes_back"),
        *_in("tui/cli_commands", "export_under_budget_writes_the_same_bytes"),
    ),
    "PAIR-05": (
        *_in("compaction/groups", "an_anthropic_message_of_results_and_text_belongs_to_the_call"),
        *_in("compaction/loose_results", "beside_words_of_a_person_it_becomes_a_note"),
    ),
    "PAIR-07": _in(
        "compaction/reported_kinds", "items_pair_by_call_id_although_an_item_has_that_id_too"
    ),
    "PAIR-08": (
        *_in("compaction/validity", "partners_are_missed"),
        *_in("compaction/laws_validity", "a_list_cut_after_a_call_is_only_interrupted"),
        *_in("compaction/repairing", "open_calls_get_a_marked_answer_where_the_api_wants_it"),
    ),
    "PAIR-10": _in(
        "compaction/groups",
        "a_result_pairs_with_the_nearest_call_of_its_id",
        "an_unanswered_call_of_an_earlier_turn_takes_no_result_of_a_later_one",
    ),
    "PAIR-11": (
        *_in("compaction/validity", "ids_that_are_shared"),
        *_in("compaction/reported_kinds", "two_calls_of_one_id_stay_two_with_both_results"),
    ),
    "PAIR-13": (
        *_in("compaction/groups", "without_ids_calls_and_results_pair_by_name_then_by_order"),
        *_in(f"{_F}/laws_gemini", "dropping_messages_leaves_every_other_byte"),
    ),
    "PAIR-14": (
        *_in("compaction/groups", "a_later_result_of_an_answered_call_joins_its_group"),
        *_in("compaction/loose_results", "a_second_answer_is_told_when_both_are_old"),
        *_in("compaction/repairing", "a_second_result_is_told_as_text"),
    ),
    "PAIR-16": _in(
        "compaction/repairing",
        "an_orphan_becomes_a_note_and_its_text_stays",
        "open_calls_get_a_marked_answer_where_the_api_wants_it",
        "the_copy_keeps_the_bytes_of_all_that_was_not_mended",
    ),
    "PAIR-17": (
        *_in("compaction/laws_validity", "a_result_before_its_call_is_an_orphan"),
        *_in(
            "compaction/loose_results",
            "a_result_without_its_call_is_summarized_wherever_it_stands",
        ),
    ),
    "PAR-01": (
        *_in("compaction/groups", "a_parallel_batch_is_one_group_with_all_its_results"),
        *_in("compaction/laws_planning", "groups_hold"),
    ),
    "PAR-02": (
        *_in("compaction/planning", "keep_zero_keeps_the_newest_group_whole"),
        *_in("compaction/laws_planning", "the_newest_and_the_unanswered_always_stay"),
    ),
    "PAR-04": _in(
        f"{_F}/conversion",
        "results_of_a_batch_are_one_user_message_in_the_order_of_the_calls",
    ),
    "PAR-05": _in(
        f"{_F}/claude_code",
        "the_lines_of_one_response_are_one_message_and_its_results_follow_it",
        "usage_of_a_response_is_that_of_its_last_line_and_counts_the_cache_once",
    ),
    "PAR-07": _in(
        "compaction/reported_kinds",
        "calls_of_one_response_that_were_stored_apart_are_left_apart",
    ),
    "PAR-08": (
        *_in(
            f"{_F}/gemini_dialect",
            "sides_take_turns_and_results_stand_in_the_order_of_their_calls",
        ),
        *_in(f"{_F}/gemini_contents", "parallel_results_apart_are_what_gemini_refuses"),
    ),
    "REAS-01": _in(f"{_F}/anthropic", "dropping_messages_leaves_every_other_byte"),
    "REAS-02": _in(f"{_F}/conversion", "thinking_stays_with_its_provider"),
    "REAS-04": (
        *_in(
            "compaction/groups",
            "reasoning_stays_with_the_next_item_and_through_its_call_with_the_output",
        ),
        *_in("compaction/laws_validity", "reasoning_and_its_item_stay_together"),
    ),
    "REAS-05": _in("compaction/validity", "reasoning_stands_before_its_item"),
    "REAS-07": _in(f"{_F}/gemini_contents", "head_summary_and_recent_survive_with_their_bytes"),
    "REAS-08": _in("compaction/reported_kinds", "reasoning_beside_the_content_is_counted_and_kept"),
    "REAS-10": (
        *_in(f"{_F}/anthropic", "dropping_messages_leaves_every_other_byte", "blocks"),
        *_in("tui/widgets/detail", "parts_that_have_no_text_are_named"),
    ),
    "ROLE-01": (
        *_in(
            "compaction/taking_turns",
            "roles_take_turns_whatever_stands_beside_the_summary",
            "models_that_are_known_to_want_it_get_it",
        ),
        *_in(f"{_S}/joined", "the_request_survives_the_next_compaction"),
    ),
    "ROLE-02": (
        *_in("compaction/compacting", "the_middle_becomes_one_labelled_user_message"),
        *_in("compaction/validity", "a_list_without_a_user"),
    ),
    "ROLE-04": (
        *_in(
            "compaction/reported_kinds",
            "instructions_in_the_middle_are_summarized_like_the_rest",
        ),
        *_in("compaction/validity", "instructions_in_the_middle"),
    ),
    "ROLE-05": _in("compaction/reported_kinds", "all_leading_instructions_are_the_head"),
    "ROLE-07": (
        *_in("compaction/validity", "who_begins"),
        *_in(f"{_F}/conversion", "the_first_message_is_the_users"),
    ),
    "ROLE-08": (
        *_in("compaction/validity", "who_ends_and_who_follows_whom_is_told"),
        *_in("compaction/taking_turns", "no_result_of_a_tool_stands_before_the_summary"),
    ),
    "ROLE-10": (
        *_in(f"{_F}/anthropic", "an_empty_text_block_beside_another_goes_when_the_file_changes"),
        *_in("compaction/validity", "messages_without_content"),
    ),
    "ROLE-11": _in("compaction/validity", "text_of_nothing_but_white_space"),
    "ROLE-13": (
        *_in(
            f"{_F}/conversion",
            "repeated_long_and_missing_ids_are_replaced_alike_everywhere",
        ),
        *_in("compaction/validity", "ids_of_a_length"),
    ),
    "ROLE-14": (
        *_in(f"{_F}/anthropic", "cache_control_is_never_added"),
        *_in("compaction/validity", "cache_marks_are_four_at_most"),
    ),
    "LOOP-01": (
        *_in(
            "compaction/planning",
            "an_unreachable_budget_names_its_numbers_and_the_largest_message",
            "a_summary_that_would_not_be_smaller_is_not_made",
        ),
        *_in("tui/cli_commands", "strict_export_over_budget_is_3_and_writes_nothing"),
    ),
    "LOOP-02": (
        *_in("compaction/compacting", "a_result_still_over_budget_says_the_numbers"),
        *_in("compaction/laws_planning", "shrinking_ends_and_keeps_less_each_time"),
    ),
    "LOOP-04": (
        *_in("compaction/planning", "a_recent_part_that_is_too_large_names_its_largest_message"),
        *_in("compaction/clipping", "the_largest_result_is_clipped_just_until_the_list_fits"),
    ),
    "LOOP-05": (
        *_in("compaction/compacting", "a_summary_as_large_as_what_it_replaces_is_refused"),
        *_in("compaction/laws_compacting", "a_result_is_smaller"),
    ),
    "LOOP-07": _in(
        "compaction/planning",
        "keep_zero_keeps_the_unanswered_user_message",
        "keep_zero_keeps_the_newest_group_whole",
    ),
    "LOOP-08": (
        *_in("compaction/reported_kinds", "words_of_a_role_that_nobody_knows_are_told"),
        *_in(f"{_T}/costs", "an_unknown_part_costs_its_json_and_never_nothing"),
        *_in("compaction/planning", "nothing_old_says_why"),
    ),
    "LOOP-10": (
        *_in("compaction/planning", "an_empty_session_is_under_budget"),
        *_in("compaction/groups", "an_empty_list_has_no_groups"),
    ),
    "LOOP-11": (
        *_in("compaction/compacting", "both_counts_come_from_the_same_counter"),
        *_in("compaction/groups", "where_nobody_answers_only_the_last_of_the_user_waits"),
    ),
    "LOOP-13": _in("compaction/planning", "total_equal_to_the_budget_is_under_it"),
    "LOOP-14": _in(
        "compaction/planning", "an_unreachable_budget_names_its_numbers_and_the_largest_message"
    ),
    "LOOP-16": _in("compaction/planning", "nothing_old_says_why"),
    "LOSS-01": (
        *_in(f"{_F}/anthropic", "system_is_message_zero_and_stays_where_it_was"),
        *_in(f"{_F}/openai_chat", "dropping_messages_leaves_every_other_byte"),
        *_in(f"{_F}/responses", "instructions_are_message_zero"),
    ),
    "LOSS-02": _in("compaction/planning", "keep_zero_keeps_the_unanswered_user_message"),
    "LOSS-04": (
        *_in(f"{_S}/digest", "values_of_a_long_output_are_copied_whole"),
        *_in(f"{_S}/laws_digest", "every_value_in_it_stands_in_the_source"),
    ),
    "LOSS-05": (
        *_in("compaction/compacting", "again_without_news_nothing_happens"),
        *_in(f"{_S}/laws_digest", "again_without_news_is_the_same"),
    ),
    "LOSS-07": (
        *_in("compaction/compacting", "an_unusable_summary_replaces_nothing"),
        *_in("tui/cli_commands", "a_failing_summarizer_is_3_and_writes_nothing"),
    ),
    "LOSS-08": _in("compaction/compacting", "an_unusable_summary_replaces_nothing"),
    "LOSS-10": (
        *_in("compaction/compacting", "kept_images_stay_and_replaced_ones_leave_a_trace"),
        *_in(f"{_S}/digest", "an_image_leaves_a_trace_with_its_caption"),
    ),
    "LOSS-11": _in("compaction/clipping", "calls_and_their_arguments_are_never_touched"),
    "LOSS-13": (
        *_in("compaction/export", "the_source_is_never_written"),
        *_in("tui/cli_commands", "export_refuses_the_source_and_existing_files"),
    ),
    "LOSS-14": (
        *_in(f"{_F}/load", "only_what_the_file_holds_when_it_is_opened_counts"),
        *_in("tui/app", "a_file_that_grows_is_followed_without_a_jump"),
    ),
    "LOSS-16": _in(
        f"{_S}/summarizers",
        "a_command_reads_the_transcript_and_prints_the_summary",
        "a_command_that_reads_nothing_of_a_huge_transcript",
    ),
    "LOSS-17": _in("compaction/compacting", "the_question_that_a_kept_answer_refers_to_survives"),
    "SUMM-01": (
        *_in(
            f"{_S}/digest",
            "summaries_never_nest_and_facts_survive_rounds",
            "growth_is_bounded",
        ),
        *_in(
            "compaction/marker",
            "foreign_summaries_are_freed_of_their_openings_however_often_they_nest",
        ),
    ),
    "SUMM-02": _in(f"{_S}/digest", "a_summary_is_never_a_request"),
    "SUMM-04": _in("compaction/compacting", "rounds_cover_all_messages_and_keep_their_facts"),
    "SUMM-05": (
        *_in(f"{_S}/digest", "tool_text_that_gives_orders_is_quoted_at_most"),
        *_in("compaction/compacting", "the_middle_becomes_one_labelled_user_message"),
    ),
    "SUMM-07": (
        *_in("compaction/compacting", "a_summary_cannot_close_its_frame"),
        *_in("compaction/marker", "nothing_grows_over_rounds"),
    ),
    "SUMM-08": _in("compaction/compacting", "scratch_work_and_open_tags_are_removed_and_said"),
    "TOK-01": _in(f"{_T}/counters", "long_runs_are_counted"),
    "TOK-02": _in(f"{_T}/counters", "every_text_counts_as_tiktoken_encodes_it"),
    "TOK-04": (
        *_in(f"{_T}/costs", "nothing_breaks_a_count_and_more_parts_never_cost_less"),
        *_in(f"{_F}/openai_chat", "no_content_is_dropped_and_none_crashes"),
    ),
    "TOK-05": _in(f"{_T}/costs", "a_call_costs_name_arguments_and_id"),
    "TOK-07": (
        *_in(f"{_T}/counting", "tools_cost_their_text"),
        *_in("compaction/planning", "tools_of_the_file_count_toward_the_budget"),
    ),
    "TOK-08": _in(f"{_T}/costs", "base64_is_never_counted_as_text", "an_image_costs_by_its_tiles"),
    "TOK-10": _in(f"{_T}/costs", "an_unknown_part_costs_its_json_and_never_nothing"),
    "TOK-11": _in("compaction/reported_kinds", "blocks_of_instructions_count_like_one_text"),
    "TOK-13": _in(f"{_T}/estimating", "an_estimate_is_within_a_third"),
    "TOK-14": _in(f"{_T}/counting", "the_model_is_named_where_its_tokenizer_is_another"),
    "TOK-16": _in(f"{_T}/ranks", "the_first_count_needs_no_network_and_leaves_no_file"),
    "TOK-17": _in(
        f"{_F}/claude_code",
        "usage_of_a_response_is_that_of_its_last_line_and_counts_the_cache_once",
    ),
    "TOK-19": _in("compaction/reported_kinds", "the_line_with_the_most_output_says_the_usage"),
    "TOK-20": _in(f"{_T}/costs", "a_name_costs_its_text_and_one"),
    "TOK-22": (
        *_in(f"{_T}/counts", "labels_say_how_good_the_numbers_are"),
        *_in(f"{_T}/calibrating", "the_price_is_found_and_the_plain_error_told"),
    ),
    "LOAD-01": (
        *_in(f"{_F}/jsonl", "what_can_be_read_is_read_and_the_rest_told"),
        *_in("tui/cli_commands", "inspect_reports_the_lines_it_could_not_use"),
    ),
    "LOAD-02": _in(f"{_F}/jsonl", "no_record_is_lost_whatever_stands_between"),
    "LOAD-04": _in(f"{_F}/jsonl", "what_can_be_read_is_read_and_the_rest_told"),
    "LOAD-05": _in(f"{_F}/jsonl", "what_can_be_read_is_read_and_the_rest_told"),
    "LOAD-07": (
        *_in(f"{_F}/openai_chat", "lines_keep_their_bytes_their_ends_and_the_mark"),
        *_in(f"{_F}/load", "other_encodings_with_a_mark_are_read_and_told"),
    ),
    "LOAD-08": (
        *_in(f"{_F}/jsonl", "spans_are_bytes_also_behind_bytes_that_are_no_utf_8"),
        *_in(f"{_F}/claude_code", "bytes_that_are_no_utf_8_stay"),
    ),
    "LOAD-10": _in("tui/cli_errors", "no_encoding_of_the_terminal_breaks_printing"),
    "LOAD-11": _in(f"{_F}/exact", "a_lone_surrogate_is_escaped_and_its_neighbours_are_not"),
    "LOAD-13": (
        *_in(f"{_F}/openai_chat", "nan_becomes_null_and_is_told"),
        *_in(f"{_F}/claude_code", "numbers_that_json_has_not_are_written_as_null"),
    ),
    "LOAD-14": (
        *_in(f"{_F}/jsonl", "nothing_raises_and_no_byte_is_taken_twice"),
        *_in(f"{_F}/exact", "depth_costs_no_stack_when_writing"),
    ),
    "LOAD-16": (
        *_in(f"{_F}/jsonl", "one_line_of_20_mb", "cancelling_keeps_what_was_read"),
        *_in("tui/workbench_hands", "quitting_while_a_session_is_read"),
    ),
    "LOAD-17": _in(f"{_F}/jsonl", "what_can_be_read_is_read_and_the_rest_told"),
    "LOAD-19": (
        *_in(f"{_F}/load", "several_conversations_are_told_and_chosen_by_number_or_id"),
        *_in(f"{_F}/openai_chat", "plain_text_is_ambiguous_and_said_so"),
        *_in(f"{_F}/recognising", "a_format_is_told_from_the_content"),
    ),
    "LOAD-20": _in(f"{_F}/openai_chat", "roles_are_normalised_and_written_as_they_were"),
    "LOAD-22": _in(f"{_F}/chatgpt", "the_branch_last_seen_is_read", "content_of_every_type"),
    "TREE-01": _in(f"{_F}/claude_code", "lines_written_twice_are_used_once"),
    "TREE-02": _in("compaction/reported_kinds", "records_between_two_messages_do_not_part_them"),
    "TREE-04": _in(f"{_F}/claude_code", "only_what_follows_the_last_boundary_is_live"),
    "TREE-05": _in(f"{_F}/codex", "the_newest_compaction_replaces_everything_before_it"),
    "TREE-07": _in(f"{_F}/codex", "turns_that_were_taken_back_are_gone_also_across_a_compaction"),
    "TREE-08": _in(f"{_F}/claude_code", "records_that_are_not_sent_are_counted_by_reason"),
    "TREE-10": _in(f"{_F}/claude_code", "equal_texts_are_no_duplicates"),
    "TREE-11": (
        *_in(f"{_F}/codex", "items_of_an_earlier_compaction_are_written_with_their_own_bytes"),
        *_in(f"{_F}/conversion", "a_sealed_compaction_that_cannot_come_along_is_an_error"),
    ),
    "TREE-13": _in(f"{_F}/codex", "a_fork_repeats_the_first_line_of_its_origin"),
    "TREE-14": _in(
        "compaction/reported_kinds", "parents_that_are_gone_leave_the_order_of_the_lines"
    ),
    "TUI-01": (
        *_in("tui/app", "markup_in_names_and_messages_is_text"),
        *_in("tui/widgets/message_list", "hostile_text_is_only_text"),
    ),
    "TUI-02": (
        *_in("tui/app", "markup_in_names_and_messages_is_text"),
        *_in("tui/widgets/detail", "hostile_content_is_only_text"),
    ),
    "TUI-04": (
        *_in("tui/app", "markup_in_names_and_messages_is_text"),
        *_in("tui/open", "a_double_click_opens_and_hostile_names_are_only_text"),
    ),
    "TUI-05": (
        *_in("tui/cli_output", "nothing_printed_acts_on_a_terminal"),
        *_in("tui/workbench_hands", "a_hostile_session_in_every_pane"),
        *_in("e2e/plain_output", "nothing_hostile_reaches_the_terminal"),
    ),
    "TUI-07": (
        *_in("tui/cli_output", "nothing_printed_acts_on_a_terminal"),
        *_in("tui/reported_kinds_of_the_screen", "carriage_returns_are_lines"),
    ),
    "TUI-08": (
        *_in("tui/cli_output", "wide_characters_count_two_cells"),
        *_in(
            "tui/reported_kinds_of_the_screen",
            "wide_and_joined_signs_shift_no_column_before_the_text",
        ),
    ),
    "TUI-10": _in("tui/reported_kinds_of_the_screen", "marks_of_direction_are_shown"),
    "TUI-11": (
        *_in(
            "tui/widgets/detail",
            "ten_megabytes_show_their_beginning_at_once_and_their_end_on_demand",
        ),
        *_in("tui/widgets/text_flow", "one_endless_line_has_slices_too"),
    ),
    "TUI-13": _in("tui/workbench_hands", "quitting_while_a_session_is_read"),
    "TUI-14": _in("tui/app", "no_size_is_too_small", "every_size_in_turn"),
    "TUI-16": _in("tui/widgets/detail", "text_is_selected_with_the_mouse"),
    "TUI-17": (
        *_in("tui/app", "help_lists_the_keys"),
        *_in("tui/reported_kinds_of_the_screen", "every_command_has_a_key_that_terminals_leave"),
    ),
    "TUI-19": (
        *_in("tui/themes", "no_colour_is_left_and_a_cursor_is_reversed"),
        *_in("tui/cli_output", "colour_only_when_asked"),
    ),
    "TUI-20": _in("tui/themes", "letters_can_be_read_on_every_ground", "the_themes_can_be_chosen"),
    "TUI-22": (
        *_in("tui/any_keys", "nothing_stops_it"),
        *_in("tui/widgets/message_list", "keys_move_the_cursor"),
    ),
    "TUI-23": _in("tui/workbench_hands", "a_bracket_is_found_as_it_is_written"),
    "EXP-01": (
        *_in(f"{_F}/exact", "the_longest_numbers_count_as_numbers_and_print"),
        *_in("compaction/in_memory", "an_integer_of_five_thousand_digits_keeps_them"),
    ),
    "EXP-02": _in(
        f"{_F}/openai_chat",
        "dropping_messages_leaves_every_other_byte",
        "what_is_no_message_stays_where_it_was",
    ),
    "EXP-04": _in(
        f"{_F}/markdown",
        "content_can_not_be_taken_for_what_is_around_it",
        "any_text_comes_back",
    ),
    "EXP-05": _in(
        "compaction/export",
        "a_full_device",
        "a_disk_that_fills_up_leaves_the_old_file",
        "whatever_stops_the_writing_leaves_nothing",
    ),
    "EXP-07": (
        *_in(f"{_F}/exact", "a_lone_surrogate_is_escaped_and_its_neighbours_are_not"),
        *_in("tui/cli_errors", "no_encoding_of_the_terminal_breaks_printing"),
    ),
    "EXP-08": (
        *_in("compaction/compacting", "secrets_are_masked_and_said"),
        *_in(f"{_S}/digest", "secrets_are_masked"),
    ),
    "EXP-10": _in("compaction/reported_kinds", "arguments_are_the_text_that_was_sent"),
    "EXP-11": _in(
        f"{_F}/claude_code",
        "a_replaced_beginning_is_a_boundary_and_a_summary_that_the_tool_resumes",
        "every_parent_in_what_is_written_stands_before_its_child",
    ),
}


@cache
def _reports() -> Mapping[str, dict[str, Any]]:
    """The reports by id; none where the folder is not beside the checkout."""
    path = FOLDER / "index.json"
    if not path.is_file():
        return {}
    return {one["id"]: one for one in json.loads(path.read_text())}


@cache
def _functions(path: Path) -> frozenset[str]:
    """The names of all functions of a file, also those in classes."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def test_every_report_is_in_the_table(shared_cases: Path) -> None:
    assert set(COVERED) == set(_reports())


@pytest.mark.parametrize("report", COVERED)
def test_what_the_table_names_is_there(report: str) -> None:
    covered = COVERED[report]
    if isinstance(covered, str):
        assert covered.endswith(".")
        return
    assert covered
    for node in covered:
        path, _, name = node.partition("::")
        assert name in _functions(TESTS / path), node


# ------------------------------------------------------------------------------- every input


def _input(report: Mapping[str, Any]) -> Path | None:
    if report["file"]:
        return FOLDER / str(report["file"])
    named = report["run"].get("input")
    return next(FOLDER.glob(f"{named}.json*"), None) if named else None


def _policies(report: Mapping[str, Any], total: int) -> Iterator[Policy]:
    """What the report says to run: a budget that is passed where it names none."""
    run = report["run"]
    kept, heads = run.get("keep_recent", 20), run.get("keep_head")
    budget = run["budget"] if isinstance(run.get("budget"), int) else max(0, total - 1)
    for recent in kept if isinstance(kept, list) else [kept]:
        for first in heads if isinstance(heads, list) else [heads]:
            policy = Policy(budget=budget, keep_recent=recent)
            if first is not None:
                policy = policy.replace(head=Head("first", first=first))
            yield policy
            # The inputs are so small that any summary is larger; this one is taken all the same.
            yield policy.replace(summary=SummaryBlock(accept="usable"))


@pytest.mark.parametrize("name", _reports() or [pytest.param("", marks=pytest.mark.skip)])
def test_every_input_goes_through_all_of_it(name: str) -> None:
    report = _reports()[name]
    path = _input(report)
    if path is None:
        pytest.skip("this report has no input of its own")
    before = path.read_bytes()
    session = load(path)
    counts = count(session)
    inspect(session, counts)
    _left_alone(session, before)
    for policy in _policies(report, counts.total):
        decided = plan(session, policy, counts=counts)
        result = compact(decided, Digest())
        _holds(session, result)
        for target in dict.fromkeys((None, *_TARGETS.get(report["run"].get("export"), ()))):
            _written(result, target)
        for _ in range(report["run"].get("rounds", 0)):
            result = _again(result)
    assert path.read_bytes() == before


def _again(result: Compacted) -> Compacted:
    """Another round over the result: one summary, as flat as before, and never more of it."""
    session = result.as_session()
    again = compact(plan(session, result.plan.policy), Digest())
    summaries = [one for one in again.messages if one.summary == "compaction"]
    assert len(summaries) <= 1
    assert again.messages is session.messages or again.tokens_after <= result.tokens_after
    return again


#: The formats to write in, by what a report calls them.
_TARGETS = {
    "openai": ("openai-chat",),
    "anthropic": ("anthropic",),
    "gemini": ("gemini-contents",),
    "openai-responses": ("openai-responses",),
    "markdown": ("markdown",),
}


def _left_alone(session: Session, data: bytes) -> None:
    """Under its budget a session is the very list, and its file the very bytes."""
    result = compact(plan(session, Policy(budget=10**9)), Digest())
    assert result.messages is session.messages
    written, told = render_bytes(result)
    assert written == data or any(one.code.startswith("export-") for one in told)


def _holds(session: Session, result: Compacted) -> None:
    """What holds for every result."""
    decided = result.plan
    assert result.tokens_before == decided.tokens_before
    assert len(result.account) == len(session)
    for index, fate in enumerate(result.account):
        if fate.region in ("head", "recent", "kept") and "note" not in fate.reason:
            assert fate.into is not None
            assert result.messages[fate.into] is session.messages[index]
    dialect = format_named(session.format).dialect
    if not result.made:
        assert result.messages is session.messages
        assert result.tokens_after == result.tokens_before
        return
    groups = find_groups(result.messages)
    assert groups.orphans == ()
    assert len(result.messages) > len(decided.head)
    assert result.summary is not None
    assert result.summary.role == "user"
    assert result.summary.text.strip()
    if decided.policy.summary.accept == "smaller":
        assert result.tokens_after < result.tokens_before
    had = {one.code for one in check(session.messages, dialect) if one.level == "error"}
    assert {one.code for one in check(result.messages, dialect) if one.level == "error"} <= had
    last = len(session) - 1
    assert result.account[last].region in ("recent", "head")


def _written(result: Compacted, target: str | None) -> None:
    """What is written is read again as the same list, or told to be another."""
    if result.failure and not result.made:
        return
    data, told = render_bytes(result, target)
    try:
        again = load(data)
    except SessionError:
        assert not result.messages
        return
    if target is None and not told:
        assert [one.text for one in again.messages] == [one.text for one in result.messages]
        assert [one.role for one in again.messages] == [one.role for one in result.messages]
    assert find_groups(again.messages).orphans == () or not result.made
