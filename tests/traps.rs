//! What a container engine does that would make a sandbox lie, and the tests that keep das from
//! believing it. A trap whose test is renamed or removed fails here.

use std::fs;
use std::path::{Path, PathBuf};

/// A trap, what happens in it, and the tests. `lib::` tests stand beside the code, those of
/// `real` and `podman` need an engine.
type Trap = (u32, &'static str, &'static [&'static str]);

const TRAPS: [Trap; 39] = [
    (
        1,
        "a kill hangs while nobody reads the client's output",
        &[
            "stop::deadline::a_kill_that_waits_for_the_reader_is_not_waited_for_in_vain",
            "stop::signals::a_reader_that_does_not_read_keeps_neither_the_container_nor_das",
        ],
    ),
    (
        2,
        "a container appears after its client was killed, in whichever state",
        &[
            "stop::faults::a_container_that_appears_after_its_client_is_dead_is_removed",
            "real::ends::a_das_that_is_killed_early_leaves_no_container",
        ],
    ),
    (
        3,
        "a client's death or signal does not stop its container",
        &[
            "stop::strays::a_client_that_somebody_kills_leaves_no_container",
            "stop::signals::while_the_program_runs",
        ],
    ),
    (
        4,
        "a container that was made and never started cannot be killed",
        &[
            "stop::signals::when_the_container_has_been_made_and_never_starts",
            "stop::faults::a_container_that_never_starts_is_removed_and_no_timeout",
        ],
    ),
    (
        5,
        "an engine hangs, is gone or comes back in the middle of a run",
        &[
            "stop::faults::a_kill_that_never_returns_is_followed_by_a_removal",
            "stop::faults::a_kill_that_does_nothing_is_followed_by_a_removal",
            "stop::faults::an_engine_that_neither_kills_nor_removes_leaves_the_end_unconfirmed",
            "stop::faults::an_engine_that_hangs_while_the_program_runs_is_given_up",
            "stop::faults::an_engine_that_is_gone_at_the_deadline_is_given_up",
            "stop::faults::an_engine_that_comes_back_is_told_to_kill",
            "real::daemon::a_daemon_that_freezes_during_a_run_is_waited_for_no_longer_than_the_bounds",
        ],
    ),
    (
        6,
        "das is killed while its container runs",
        &[
            "stop::strays::a_killed_das_leaves_no_container",
            "stop::signals::a_second_signal_ends_das_at_once_and_the_container_soon",
            "sweep::stand_in::what_a_dead_owner_left_goes_in_every_state_and_a_live_siblings_stays",
            "real::ends::a_killed_das_leaves_no_container",
        ],
    ),
    (
        7,
        "a grandchild of the client keeps its pipes",
        &[
            "stop::strays::a_grandchild_that_keeps_the_pipes_does_not_keep_das",
            "real::ends::what_a_program_leaves_in_the_background_ends_with_it",
        ],
    ),
    (
        8,
        "nobody reads das's output any more",
        &[
            "stop::closed_output::a_program_that_prints_is_stopped",
            "stop::closed_output::a_program_that_prints_nothing_is_stopped_too",
            "stop::closed_output::an_object_that_nobody_reads_is_a_closed_output_too",
            "real::ends::a_pipe_to_head_ends_in_time",
        ],
    ),
    (
        9,
        "a program drips, or never stops printing, at its deadline",
        &[
            "stop::deadline::a_byte_now_and_then_does_not_postpone_it",
            "stop::deadline::a_program_that_never_stops_printing_is_stopped",
        ],
    ),
    (
        10,
        "many runs at once, and a name that is taken",
        &[
            "stop::strays::sixteen_runs_at_once_have_their_own_names_outputs_and_ends",
            "verdicts::engine::a_name_that_is_taken_is_tried_again_under_another",
            "verdicts::engine::names_that_are_all_taken_are_given_up",
            "real::ends::sixty_four_runs_at_once_do_not_mix",
        ],
    ),
    (
        11,
        "a program ends with the engine's own exit codes, and prints its words",
        &[
            "verdicts::program::every_exit_code_is_the_programs_own",
            "verdicts::program::a_program_that_prints_what_docker_prints_keeps_its_words_and_its_exit_code",
            "verdicts::engine::a_program_that_imitates_a_missing_engine_is_told_from_one",
        ],
    ),
    (
        12,
        "the OOM killer strikes a child, and the program goes on",
        &["verdicts::program::the_oom_killers_strike_at_a_child_leaves_the_program_its_exit_code"],
    ),
    (
        13,
        "a program that dies of a signal, its own SIGKILL included",
        &[
            "verdicts::program::a_signal_that_the_program_dies_of_is_in_its_exit_code",
            "verdicts::program::a_program_that_kills_itself_is_not_out_of_memory",
        ],
    ),
    (
        14,
        "a broken runtime has the exit code of a missing interpreter",
        &[
            "verdicts::engine::a_broken_runtime_is_no_missing_interpreter",
            "verdicts::program::a_missing_interpreter_is_127_and_one_that_cannot_be_executed_126",
        ],
    ),
    (
        15,
        "the ways in which there is no engine, or no image, look alike",
        &[
            "verdicts::engine::no_engine_at_all",
            "verdicts::engine::a_daemon_that_is_down",
            "verdicts::engine::a_daemon_that_may_not_be_asked",
            "verdicts::engine::a_context_that_does_not_exist",
            "verdicts::engine::an_image_that_is_not_there",
            "stop::faults::an_engine_that_hangs_from_the_beginning_is_given_up",
        ],
    ),
    (
        16,
        "a pull, or a slow start, eats the program's time",
        &[
            "explain::argv::every_wall_stands_in_every_command",
            "image_commands::a_missing_image_is_pulled_and_the_program_runs_once",
            "stop::deadline::the_time_that_the_engine_takes_to_start_is_not_the_programs",
        ],
    ),
    (
        17,
        "the engine's warnings come on the program's stderr",
        &[
            "output::engines_words::a_warning_of_the_engine_is_das_own_to_tell",
            "output::engines_words::a_warning_of_the_engine_is_not_in_the_objects_stderr",
            "output::engines_words::a_program_that_prints_the_same_words_keeps_them",
        ],
    ),
    (
        18,
        "a program ends at its very deadline",
        &[
            "stop::deadline::a_program_that_exits_at_its_deadline_has_one_verdict_and_all_its_output",
            "verdicts::program::a_program_that_ends_between_its_deadline_and_the_kill_is_judged_by_its_own_end",
        ],
    ),
    (
        19,
        "a shell's commands read the rest of its script",
        &[
            "explain::text::each_language_ends_in_its_image_and_its_interpreter",
            "real::limits::exit_codes_of_a_shell_are_told_apart",
        ],
    ),
    (
        20,
        "an interpreter stops at a NUL byte, a shell stumbles over Windows line ends",
        &[
            "input::a_nul_byte_is_refused_before_anything_runs",
            "input::a_windows_script_is_read_as_its_author_meant_it",
        ],
    ),
    (
        21,
        "code is larger than a pipe, or nobody reads it",
        &[
            "input::ten_megabytes_reach_a_program_that_reads_them",
            "input::ten_megabytes_for_a_program_that_exits_at_once_are_no_error",
            "stop::deadline::a_program_that_never_reads_its_code_is_stopped",
        ],
    ),
    (
        22,
        "a program that asks for input gets its end at once",
        &[
            "lib::outcome::hints::every_error_that_a_sandbox_causes_has_a_hint_that_names_the_limit_or_the_way_out",
            "real::limits::exit_codes_of_python_are_told_apart",
        ],
    ),
    (
        23,
        "arguments are short, and everybody sees them",
        &["input::a_programs_code_is_on_no_command_line_and_in_no_environment"],
    ),
    (
        24,
        "output drives the terminal, or breaks JSON",
        &[
            "output::terminal::what_could_drive_the_terminal_is_shown_instead",
            "output::terminal::bytes_that_are_no_text_are_replaced",
            "output::bytes::an_object_is_valid_whatever_the_program_prints",
            "output::bytes::a_pipe_gets_the_bytes_untouched",
        ],
    ),
    (
        25,
        "a character lies across the cut, and a cut looks like a crash",
        &["output::cap::a_character_across_the_cut_is_not_halved"],
    ),
    (
        26,
        "one stream is full while the other floods",
        &[
            "output::cap::a_full_stream_takes_nothing_from_the_other",
            "output::cap::two_floods_at_once_are_both_drained",
        ],
    ),
    (
        27,
        "an interpreter buffers what it prints until it is too late",
        &[
            "explain::text::the_default_command_has_every_wall_in_its_documented_place",
            "verdicts::program::the_deadline_is_a_timeout",
            "real::limits::an_infinite_loop_ends_at_its_deadline_with_what_it_printed",
        ],
    ),
    (28, "two pipes have no common order", &["output::live::each_stream_goes_to_its_own"]),
    (
        29,
        "some clients cut the output at exit: a finding of the doctor",
        &["lib::doctor::versions::only_the_versions_with_a_fault_have_one"],
    ),
    (
        30,
        "the engine writes every byte of output to the disk",
        &[
            "explain::argv::every_wall_stands_in_every_command",
            "real::walls::nothing_of_the_output_is_written_to_the_hosts_disk",
        ],
    ),
    (
        31,
        "the client copies its proxies, with passwords, into containers",
        &[
            "environment::the_proxies_of_the_clients_configuration_are_unset",
            "environment::a_configuration_that_cannot_be_read_may_have_proxies",
            "real::walls::the_proxies_of_the_clients_configuration_stay_out",
        ],
    ),
    (
        32,
        "a name is a flag, or two arguments",
        &[
            "policy_cli::what_could_be_a_flag_or_a_second_argument_is_refused",
            "lib::names::no_kind_of_name_accepts_what_could_be_a_flag_or_a_second_argument",
            "work_dir::a_path_that_could_add_options_to_the_mount_is_refused",
        ],
    ),
    (
        33,
        "an image brings its own entrypoint and writable volumes",
        &[
            "explain::argv::every_wall_stands_in_every_command",
            "real::images::an_images_entrypoint_and_command_do_not_run",
            "real::images::nothing_is_left_in_an_images_volume",
        ],
    ),
    (
        34,
        "files in /tmp count as memory",
        &[
            "verdicts::program::the_oom_killers_strike_at_the_program_is_out_of_memory",
            "real::limits::tmp_is_as_large_as_the_policy_says_and_counts_as_memory",
        ],
    ),
    (
        35,
        "a runtime that is not registered",
        &["verdicts::engine::a_runtime_that_the_engine_does_not_have_is_never_replaced"],
    ),
    (
        36,
        "hosts start das with next to no environment",
        &[
            "environment::the_bare_environment_of_an_mcp_host_is_enough",
            "environment::an_empty_variable_counts_as_unset",
            "environment::an_engine_outside_path_is_found_in_its_usual_place",
            "environment::an_engine_outside_path_finds_its_helpers_beside_it",
        ],
    ),
    (
        37,
        "podman answers in its own words",
        &[
            "lib::engine::record::a_podmans_record_is_read",
            "podman::what_podman_refuses_is_told_apart",
            "podman::the_doctor_finds_podman_usable_and_says_what_differs",
        ],
    ),
    (
        38,
        "the engine's clock is ahead of the client's or behind it, and its events are told up to a time",
        &[
            "verdicts::clock::a_program_that_fails_has_failed_whatever_the_engines_clock_shows",
            "verdicts::clock::out_of_memory_is_known_whatever_the_engines_clock_shows",
            "verdicts::clock::a_timeout_is_a_timeout_whatever_the_engines_clock_shows",
        ],
    ),
    (
        39,
        "the machine has no thread, process or descriptor left for the client and what attends it",
        &[
            "scarce::a_das_that_may_open_few_files_runs_its_program_or_says_why_not",
            "scarce::a_das_that_may_start_few_processes_runs_its_program_or_says_why_not",
        ],
    ),
];

#[test]
fn every_trap_has_its_tests() {
    for (index, (number, what, tests)) in TRAPS.iter().enumerate() {
        assert_eq!(*number as usize, index + 1, "{what}");
        assert!(!tests.is_empty(), "{number}: {what}");
        for test in *tests {
            assert!(is_there(test), "{number}: there is no test `{test}`");
        }
    }
}

/// Whether a test is where its name says.
fn is_there(test: &str) -> bool {
    let (module, function) = test.rsplit_once("::").expect("a module and a function");
    let marked = format!("#[test]\nfn {function}()");
    let declared = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let text: Vec<&str> = text.lines().map(str::trim_start).collect();
        let text = text.join("\n");
        text.contains(&marked) || is_ignored_test(&text, function)
    };
    files_of(module).iter().any(declared)
}

fn is_ignored_test(text: &str, function: &str) -> bool {
    let ignored = concat!("#[", "ignore");
    text.split_once(&format!("\nfn {function}()"))
        .and_then(|(before, _)| before.lines().rev().take(4).find(|line| line.contains(ignored)))
        .is_some()
}

fn files_of(module: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (base, module) = match module.strip_prefix("lib::") {
        Some(module) => (root.join("src"), module),
        None => (root.join("tests"), module),
    };
    let path = base.join(module.replace("::", "/"));
    vec![path.with_extension("rs"), path.join("mod.rs"), path.join("tests.rs")]
}
