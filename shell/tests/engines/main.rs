//! The command on real engines. One switch: `ORCA_TEST_ENGINES=docker,podman`. Unset, every test is reported as
//! ignored; an engine that is named and not there is a failure.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacker;
mod bench;
mod canary;
mod clone;
mod copying;
mod debug_mode;
mod delivery;
mod devcontainer;
mod disk;
mod dockerd;
mod doctor;
mod endpoints;
mod environment;
mod failures;
mod fetch;
mod fidelity;
mod hardening;
mod hostile_fetch;
mod images;
mod interrupted;
mod keyring;
mod lifecycle;
mod listing;
mod many;
mod misfortune;
mod policy;
mod recipe;
mod recreate;
mod rootless;
mod secrets;
mod sweep;
mod tampered;
mod tls;
mod unpushed;
mod user;
mod verbatim;

use bench::Bench;
use libtest_mimic::{Arguments, Trial};

/// A test on one engine.
type Test = fn(&mut Bench);

const TESTS: &[(&str, Test)] = &[
    ("verbatim::commands_create_run_as_they_stand", verbatim::commands_create_run_as_they_stand),
    (
        "lifecycle::a_workspace_is_made_worked_in_and_removed_without_rest",
        lifecycle::made_worked_in_and_removed,
    ),
    ("lifecycle::this_projects_own_repository", lifecycle::own_repository),
    ("lifecycle::a_terminal_is_passed_on", lifecycle::terminal),
    ("lifecycle::two_creates_at_once_share_their_network", lifecycle::two_at_once),
    ("lifecycle::an_interrupted_create_leaves_nothing_for_the_next_one", lifecycle::interrupted),
    ("lifecycle::a_worktree_has_one_workspace_and_what_is_not_whole_starts_nothing", lifecycle::one_worktree),
    ("lifecycle::a_stopped_workspace_keeps_its_network", lifecycle::stopped_keeps_network),
    ("lifecycle::an_engine_out_of_reach_is_not_an_empty_one", lifecycle::out_of_reach),
    ("failures::a_docker_that_is_really_podman_is_podman", failures::docker_is_podman),
    ("lifecycle::exec_passes_exit_codes_signals_and_output", lifecycle::exec_passes_everything),
    ("lifecycle::the_agents_worst_command_stays_inside", lifecycle::worst_command_stays_inside),
    (
        "lifecycle::terminate_ends_a_launch_whose_client_was_killed",
        lifecycle::terminate_after_a_killed_client,
    ),
    ("hardening::the_kernel_and_the_cgroup_say_what_the_plan_says", hardening::kernel_and_cgroup),
    ("hardening::a_hostile_volume_is_refused_and_left", hardening::hostile_volume),
    ("hardening::peers_do_not_reach_each_other", hardening::peers_are_apart),
    ("delivery::every_layer_arrives_byte_for_byte", delivery::every_layer_arrives),
    ("delivery::names_that_configure_a_client_reach_the_container_only", delivery::client_hijack),
    ("delivery::the_users_docker_configuration_stays_outside", delivery::docker_config_stays_outside),
    ("delivery::an_approved_variable_is_there_and_a_pending_one_is_not", delivery::approvals),
    ("environment::each_layer_wins_when_those_above_it_are_gone", environment::precedence),
    ("environment::an_edit_is_in_the_next_terminal_and_not_in_the_last", environment::edits),
    ("environment::a_refused_edit_changes_nothing", environment::refused_edits),
    ("environment::a_process_has_the_plans_variables_and_a_known_few", environment::names),
    ("fidelity::every_value_arrives_byte_for_byte_in_every_layer", fidelity::every_value_in_every_layer),
    ("fidelity::what_no_process_can_carry_is_refused_before_anything_starts", fidelity::impossible_values),
    ("policy::what_an_agent_writes_changes_nothing_but_the_report", policy::agent_against_policy),
    ("environment::two_launches_at_once_have_their_own_values", environment::pairs),
    ("policy::odd_files_of_an_agent_are_told_and_delay_nothing", policy::odd_files),
    ("policy::redirecting_names_are_absent_until_approved", policy::redirecting_names),
    ("policy::nothing_of_the_person_or_the_hosts_network_gets_in_unasked", policy::host_stays_outside),
    ("canary::no_value_is_anywhere_while_and_after_it_is_used", canary::no_value_anywhere),
    ("canary::what_is_planted_where_it_is_looked_for_is_found", canary::the_search_finds),
    ("canary::no_value_is_in_what_fails", canary::no_value_in_failures),
    ("canary::no_value_is_in_edits_reports_and_a_container_anew", canary::no_value_in_edits),
    ("canary::a_full_disk_keeps_nothing_half_and_stops_no_removal", canary::full_disk),
    ("secrets::what_a_command_prints_arrives_byte_for_byte", secrets::command_arrives),
    ("secrets::a_source_is_asked_at_a_launch_that_needs_it_and_once", secrets::only_what_is_needed),
    ("secrets::what_is_missing_or_wrong_is_told_before_anything_starts", secrets::missing_is_an_error),
    ("secrets::a_source_that_does_not_end_is_ended", secrets::slow_is_an_error),
    ("secrets::standard_input_leaves_its_rest_to_the_process", secrets::stdin_leaves_the_rest),
    ("secrets::commands_of_the_repository_get_none_and_ask_none", secrets::lifecycle_gets_none),
    ("secrets::no_value_is_anywhere_by_any_source", secrets::no_value_anywhere),
    ("interrupted::a_kill_at_every_effect_on_the_engine_leaves_nothing", interrupted::at_every_engine_effect),
    ("interrupted::a_kill_at_every_effect_on_the_store_leaves_nothing", interrupted::at_every_file_effect),
    ("tampered::each_row_of_expectations_is_broken_by_a_real_container", tampered::every_row),
    ("tampered::every_row_of_a_plan_is_broken_here_or_says_where", tampered::rows_are_complete),
    ("tampered::another_image_or_command_is_found", tampered::other_image_or_command),
    ("tampered::a_volume_or_network_made_otherwise_is_found", tampered::other_volume_or_network),
    ("tampered::a_volume_of_the_same_name_is_refused_and_left", tampered::volume_of_the_same_name),
    ("tampered::a_container_of_the_same_name_is_left", tampered::container_of_the_same_name),
    ("tampered::a_tag_that_moves_changes_nothing", tampered::retagged_image),
    ("tampered::what_an_image_brings_for_itself_stays_without_effect", tampered::image_with_baggage),
    ("tampered::what_inspect_does_not_tell_the_kernel_does", tampered::kernel_rows),
    ("tampered::an_inspect_that_lies_is_caught_by_the_kernel", tampered::lying_inspect),
    ("copying::the_repository_asks_and_a_person_grants", copying::asked_and_granted),
    ("copying::a_hostile_checkout_brings_its_files_and_nothing_else", copying::hostile_checkout),
    ("copying::what_changes_while_it_is_read_is_left_out_and_named", copying::changed_meanwhile),
    ("copying::a_branch_that_moves_after_it_was_judged_is_not_cloned", copying::moved_branch),
    ("copying::what_is_borrowed_after_the_judgement_is_found", copying::borrowed_meanwhile),
    ("copying::a_later_copy_keeps_or_replaces_file_by_file", copying::again),
    ("copying::a_hostile_tar_is_heard_briefly", copying::complaints_are_cut),
    ("devcontainer::an_image_with_what_people_ask_for_works", devcontainer::image_with_everything),
    ("devcontainer::habits_that_are_left_out_stop_nothing", devcontainer::habits),
    ("devcontainer::commands_run_in_their_order_as_the_user_without_secrets", devcontainer::commands),
    (
        "devcontainer::a_command_that_fails_or_waits_for_approval_leaves_a_workspace",
        devcontainer::failing_commands,
    ),
    ("devcontainer::an_image_is_built_from_committed_files", devcontainer::build),
    ("devcontainer::what_a_builder_does_by_itself_is_refused", devcontainer::hostile_dockerfiles),
    ("devcontainer::a_folder_of_a_worktree_builds_from_itself", devcontainer::build_in_a_folder),
    ("devcontainer::a_foreign_image_of_the_builds_name_is_left", devcontainer::foreign_image),
    ("devcontainer::an_image_of_root_has_the_user_of_its_label", devcontainer::labelled_user),
    ("devcontainer::a_hostile_file_gets_nothing", devcontainer::hostile),
    ("images::reserved_variables_of_the_image_are_gone", images::reserved_are_gone),
    ("images::an_image_without_git_or_sh_says_what_to_install", images::missing_tools),
    ("images::a_chown_that_never_ends_is_ended_by_rm", images::endless_chown),
    ("failures::what_cannot_be_cloned_is_refused_before_anything_is_made", failures::cannot_be_cloned),
    ("failures::private_branches_and_stashes_stay_outside", failures::private_branches_stay),
    ("failures::a_failed_step_leaves_nothing", failures::a_failed_step_leaves_nothing),
    ("failures::an_engine_that_is_not_there_has_its_own_exit_code", failures::no_engine),
    ("failures::a_client_that_cannot_be_run_ends_a_launch", failures::client_that_cannot_be_run),
    ("failures::a_renamed_container_is_removed_with_the_rest", failures::renamed),
    ("failures::a_name_that_is_taken_is_left_alone", failures::taken_name),
    ("listing::the_disk_that_a_workspace_takes_is_told", listing::sizes),
    ("listing::a_badge_says_what_to_do", listing::badges),
    ("listing::settings_that_would_make_another_container_are_named_and_wait", listing::changed_settings),
    ("recreate::another_user_is_refused_before_anything_is_touched", recreate::another_user_is_refused),
    ("recreate::what_is_chosen_counts_from_then_on", recreate::choices_are_taken_and_kept),
    ("recreate::a_failure_leaves_the_volumes_and_the_way_on", recreate::a_failure_leaves_the_way_on),
    ("recreate::a_lost_volume_is_made_again_where_nothing_of_ours_was_in_it", recreate::lost_volumes),
    ("recreate::a_folder_of_a_worktree_adopts_its_own_files", recreate::of_a_folder),
    ("recreate::the_agents_volume_is_made_afresh_where_a_person_says_so", recreate::reset_agent),
    ("recreate::a_kill_at_every_effect_is_ended_by_the_same_command", recreate::killed_at_every_effect),
    ("unpushed::work_that_is_nowhere_else_is_kept", unpushed::work_is_kept),
    ("unpushed::what_cannot_be_looked_at_is_kept", unpushed::unknown_is_kept),
    ("unpushed::the_look_changes_nothing_and_reaches_nothing", unpushed::the_look_is_only_a_look),
    ("sweep::what_nobody_uses_goes_and_a_dry_run_tells_the_same", sweep::orphans),
    ("sweep::work_goes_only_by_force_and_a_clock_that_jumped_keeps_all", sweep::forced),
    ("sweep::nothing_of_anybody_else_is_touched", sweep::strangers),
    ("sweep::a_store_that_cannot_be_read_removes_nothing", sweep::broken_store),
    ("misfortune::an_engine_that_dies_in_the_middle_loses_nothing", misfortune::engine_dies),
    ("misfortune::what_is_removed_behind_our_back_is_told_and_mended", misfortune::removed_behind_our_back),
    ("misfortune::a_hostile_volume_in_place_of_the_workspaces_is_not_touched", misfortune::volume_replaced),
    ("misfortune::a_clock_that_jumped_changes_nothing", misfortune::clock_jumps),
    ("fetch::a_branch_that_no_worktree_holds_moves_forward", fetch::forward),
    ("fetch::a_branch_that_a_worktree_holds_is_left", fetch::held),
    ("fetch::what_is_no_step_forward_is_kept_beside_the_branch", fetch::diverged),
    ("clone::a_token_is_for_one_clone_and_nowhere_afterwards", clone::over_https),
    ("clone::a_clone_that_is_killed_before_its_files_count_goes_on", clone::interrupted),
    ("clone::a_remote_that_leads_elsewhere_leads_there_without_the_token", clone::led_elsewhere),
    ("clone::a_key_is_for_one_clone_and_for_a_host_that_is_known", clone::over_ssh),
    ("clone::what_git_would_run_or_read_is_refused", clone::refused),
    ("clone::a_devcontainer_in_a_folder_of_its_own_is_found", clone::devcontainer_in_a_folder),
    ("clone::other_branches_and_new_ones_are_workspaces_of_their_own", clone::branches),
    ("recipe::orcas_terminals_live_in_the_workspace_from_create_to_destroy", recipe::whole_life),
    ("recipe::every_new_session_has_the_variables_of_now", recipe::variables),
    ("recipe::a_client_that_is_killed_leaves_no_process", recipe::killed),
    ("recipe::what_is_killed_between_client_and_container_leaves_no_process", recipe::killed_between),
    ("recipe::a_create_that_orca_gives_up_leaves_nothing", recipe::given_up),
    ("recipe::what_is_stopped_inside_holds_nobody_on_the_host", recipe::stopped_inside),
    ("recipe::a_workspace_is_removed_under_an_open_terminal", recipe::removed),
    ("recipe::orcas_one_connection_serves_many_sessions", recipe::one_connection),
    ("recipe::a_terminal_does_not_wait_for_what_runs_after_a_start", recipe::after_a_start),
    ("recipe::orcas_doctor_tries_a_workspace", recipe::trial),
    ("recipe::each_terminal_is_in_its_own_workspace", recipe::five),
    ("recipe::a_failure_says_nothing_on_standard_output_and_leaves_nothing", recipe::failures),
    ("hostile_fetch::objects_that_no_git_writes_are_refused", hostile_fetch::bad_objects),
    ("hostile_fetch::nothing_but_the_branch_comes", hostile_fetch::other_bundles),
    ("hostile_fetch::what_is_too_much_is_dropped", hostile_fetch::too_much),
    ("hostile_fetch::nothing_of_it_runs_or_chooses_on_the_host", hostile_fetch::inside),
    ("doctor::facts_are_what_the_engine_says_itself", doctor::facts_are_the_engines),
    (
        "doctor::listeners_on_every_address_are_named_and_those_on_loopback_are_not",
        doctor::listeners_are_named,
    ),
    ("doctor::a_container_reaches_what_is_named", doctor::a_container_reaches_what_is_named),
    ("doctor::what_cannot_be_tried_is_said", doctor::what_cannot_be_tried_is_said),
    ("doctor::a_killed_probe_is_cleaned_up_by_the_next", doctor::a_killed_probe_is_cleaned_up),
    ("doctor::it_only_asks", doctor::it_only_asks),
];

/// Tests on a small disk, which is a tmpfs of their own.
const NEED_A_MOUNT: &[(&str, Test)] = &[
    ("disk::a_create_is_refused_below_the_floor_before_anything_is_made", disk::create_is_refused),
    ("disk::a_launch_warns_and_goes_on", disk::launch_warns),
    ("misfortune::a_store_that_nobody_can_write_is_looked_at_only", misfortune::read_only_store),
];

/// Tests with a keyring of their own: `ORCA_TEST_KEYRING=1`, and then its programs are a condition.
const NEED_A_KEYRING: &[(&str, Test)] = &[
    ("keyring::an_entry_arrives_byte_for_byte_or_is_told_to_be_missing", keyring::arrives),
    ("keyring::no_keyring_here_is_told_before_anything_starts", keyring::no_keyring),
    ("keyring::no_value_is_anywhere", keyring::no_value_anywhere),
];

/// Tests of one engine's own ways.
const OF_ONE_ENGINE: &[(&str, &str, Test)] = &[
    ("docker", "images::volumes_that_stayed_roots_are_found_by_a_write_test", images::idle_chown),
    (
        "docker",
        "endpoints::in_the_clear_no_value_goes_and_a_workspace_without_one_works",
        endpoints::docker_in_the_clear,
    ),
    (
        "podman",
        "endpoints::in_the_clear_no_value_goes_and_a_workspace_without_one_works",
        endpoints::podman_in_the_clear,
    ),
    ("docker", "misfortune::a_daemon_that_stops_under_an_agent_keeps_the_work", misfortune::daemon_stops),
    ("docker", "many::forty_workspaces_live_at_once_and_leave_nothing", many::forty),
    ("docker", "tls::what_is_secured_is_spoken_to_with_tls_or_not_at_all", tls::of_environment_and_context),
    (
        "docker",
        "debug_mode::no_value_that_is_kept_nowhere_ends_in_the_daemons_log",
        debug_mode::no_secret_is_logged,
    ),
    ("docker", "endpoints::over_ssh_a_workspace_has_volume_mode_and_its_values", endpoints::docker_over_ssh),
];

/// Tests of podman as a user who is not root.
const ROOTLESS: &[(&str, Test)] = &[
    ("rootless::limits_that_are_discarded_are_refused_or_advisory", rootless::limits_are_refused_or_advisory),
    ("rootless::a_workspace_works_from_create_to_rm", rootless::works_from_create_to_rm),
    ("rootless::the_kernels_word_is_there", rootless::the_kernels_word_is_there),
    ("rootless::doctor_says_what_is_missing", rootless::doctor_says_what_is_missing),
];

/// The same with a network, which takes more of the machine.
const ROOTLESS_NETWORK: &[(&str, Test)] =
    &[("rootless::the_default_network_is_there", rootless::default_network)];

fn main() {
    let mut arguments = Arguments::from_args();
    // Engines do one thing at a time well; two at once keep both busy.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let wanted = std::env::var("ORCA_TEST_ENGINES").unwrap_or_default();
    let mounts = wanted.is_empty() || (disk::can_mount() && misfortune::can_mount_read_only());
    let mut trials = Vec::new();
    for engine in ["docker", "podman"] {
        let on = wanted.split(',').any(|name| name.trim() == engine);
        for (name, test) in TESTS {
            let run = move || {
                test(&mut Bench::new(engine));
                Ok(())
            };
            trials.push(Trial::test(format!("{engine}::{name}"), run).with_ignored_flag(!on));
        }
        for (_, name, test) in OF_ONE_ENGINE.iter().filter(|(of, ..)| *of == engine) {
            let run = move || {
                test(&mut Bench::new(engine));
                Ok(())
            };
            trials.push(Trial::test(format!("{engine}::{name}"), run).with_ignored_flag(!on));
        }
        for (name, test) in NEED_A_KEYRING {
            let run = move || {
                test(&mut Bench::new(engine));
                Ok(())
            };
            let trial = Trial::test(format!("{engine}::{name}"), run);
            trials.push(trial.with_ignored_flag(!on || std::env::var_os("ORCA_TEST_KEYRING").is_none()));
        }
        for (name, test) in NEED_A_MOUNT {
            let run = move || {
                test(&mut Bench::new(engine));
                Ok(())
            };
            let trial = Trial::test(format!("{engine}::{name}"), run).with_ignored_flag(!on || !mounts);
            trials.push(if mounts { trial } else { trial.with_kind("no tmpfs can be mounted here") });
        }
    }
    let on = wanted.split(',').any(|name| name.trim() == "podman");
    let cannot = if on { user::cannot() } else { None };
    let no_network = if on { cannot.or(user::cannot_network()) } else { None };
    for (tests, cannot) in [(ROOTLESS, cannot), (ROOTLESS_NETWORK, no_network)] {
        for (name, test) in tests {
            let run = move || {
                test(&mut Bench::rootless(user::User::new()));
                Ok(())
            };
            let trial =
                Trial::test(format!("podman::{name}"), run).with_ignored_flag(!on || cannot.is_some());
            trials.push(trial.with_kind(cannot.unwrap_or_default()));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}
