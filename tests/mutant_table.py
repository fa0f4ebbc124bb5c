"""The table of mistakes: what could be wrong in each part, and the tests that must notice.

One entry is one mistake that somebody could really make: a name, what it breaks, the edits that
plant it (``file::function``, a pattern that fits there exactly once whatever its line breaks, the
text in its place) and the tests that fail.
"""

from typing import NamedTuple


class Edit(NamedTuple):
    """One text put in the place of another."""

    place: str
    old: str
    new: str

    @property
    def file(self):
        """The file alone."""
        return self.place.partition("::")[0]

    @property
    def function(self):
        """The function or class; empty for the whole file."""
        return self.place.partition("::")[2]


class Mistake(NamedTuple):
    """One mistake: a name, a sentence, its edits and the tests that must notice it."""

    name: str
    breaks: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


def mistake(name, breaks, *edits, by):
    """One row; ``by`` names the tests, separated by spaces, below ``tests/``."""
    tests = tuple(f"tests/{test}" for test in by.split())
    return Mistake(name, breaks, tuple(Edit(*edit) for edit in edits), tests)


TRANSCRIPT = "protocols/virsci/test_transcript.py"
PROMPTS = (
    f"{TRANSCRIPT}::test_every_prompt_holds_exactly_the_words_it_should_by_those_who_said_them"
)
MEMORY = f"{TRANSCRIPT}::test_memory_is_ones_own_from_other_teams_and_never_in_assessment"
POLICIES = "protocols/policies/test_coauthorship.py"
COUNTS = "protocols/virsci/test_counts.py"
IDEAS = "protocols/test_ideas.py"
PEOPLE = "protocols/virsci/test_people.py"
ACTS = "protocols/virsci/test_acts.py"
RELEASED = "protocols/virsci/test_released_code.py"
REVIEW = "protocols/virsci/test_self_review.py"
ANSWERS = "society/kernel/test_answer.py"
ENDING = "society/teams/test_lifecycle.py"
MEETINGS = "society/teams/test_meetings.py"
WORLD = "society/teams/test_world.py"
LIBRARY = "society/teams/test_library.py"
JOURNAL = "agents/journal/test_journal.py"
RESUMING = "scenarios/runs/test_resuming.py"
LATE_SEARCH = "test_a_search_takes_effect_with_the_date_of_asking_also_when_its_words_are_late"
LITERATURE = "society/literature/test_literature.py"
NOVELTY = "metrics/novelty/test_novelty.py"
TEAMS = "metrics/teams/test_teams.py"
BUILD = "society/ecosystem/test_build.py"
SCHEMA = "scenarios/config/test_schema.py"

# One row reads as four lines, whatever a formatter thinks of that.
# fmt: off
MISTAKES = (
    # The measures
    mistake("HD and CD swapped", "HD is measured among contemporary papers, CD among past ones.",
        ("metrics/novelty/novelty.py::novelty_scores",
         "hd, cd, ci = old.distance(), new.distance()",
         "hd, cd, ci = new.distance(), old.distance()"),
        by=f"{NOVELTY}::test_a_hand_worked_example"),
    mistake("squared distance", "HD and CD average squared distances, as faiss returns them.",
        ("metrics/novelty/nearest_papers.py::VectorSpace._closest",
         "chosen if self.squared else np.sqrt(chosen)", "chosen"),
        by=f"{NOVELTY}::test_distances_are_not_squared_unless_asked_for"),
    mistake("squared distance in a search", "References carry squared distances.",
        ("society/literature/vector_index.py::exact_distances",
         "np.sqrt(np.square(gaps).sum(axis=1))",
         "np.square(gaps).sum(axis=1)"),
        by="society/literature/test_vector_index.py::test_true_distances_not_squares"),
    mistake("unknown citations are zero", "CI counts a neighbour without a count as uncited.",
        ("metrics/novelty/novelty.py::_NoveltyDatabase.impact", "else np.asarray(given, float)",
         "else np.nan_to_num(np.asarray(given, float))"),
        by=f"{NOVELTY}::test_missing_citations_are_left_out_and_counted"),
    mistake("wrong year for distances", "Distances are divided by the nearest neighbour's year.",
        ("metrics/novelty/novelty.py::_NoveltyDatabase.distance",
         "means = np.take_along_axis(means, self.year_of[hits], axis=1)",
         "means = np.take_along_axis(means, self.year_of[hits[:, :1]] + 0 * hits, axis=1)"),
        by=f"{NOVELTY}::test_agrees_with_an_independent_computation"),
    mistake("own paper spoils freshness", "Ties count that are dated at or after the founding.",
        ("metrics/teams/teams.py::teams",
         "if first_tie.get(pair, np.inf) < date", "if pair in first_tie"),
        by=f"{TEAMS}::test_ties_on_the_day_of_founding_do_not_count"),
    mistake("leavers in the team", "Composition counts those who left before the end.",
        ("metrics/teams/teams.py::members_at_end", "if stayed is not False:", "if True:"),
        by=f"{TEAMS}::test_those_who_left_are_not_counted"),
    mistake("guests in the cost", "Answers of consulted outsiders enter the inference cost.",
        ("metrics/cost.py",
         'COUNTED = ("utter", "vote")', 'COUNTED = ("utter", "vote", "guest")'),
        by="metrics/cost/test_call_counts.py::test_other_acts_never_enter"),
    mistake("re-asks are questions", "The rungs count every asking, and not every question once.",
        ("metrics/cost.py::calls_by_rung",
         "if act not in REPEATED_ACTS:", "if True:"),
        by="metrics/cost/test_calls_by_rung.py"
           "::test_re_asks_and_trimmed_askings_are_the_way_and_no_question"),
    mistake("unknown defaults are none", "A team counts as without defaults where nobody knows.",
        ("metrics/teams/teams.py::outcomes_without_defaults",
         "if defaulted is not False", "if defaulted"),
        by="metrics/teams/test_outcomes_without_defaults.py"
           "::test_where_it_is_not_known_what_was_defaulted_no_team_is_without"),

    # Selection
    mistake("+e dropped", "Nobody without a joint paper is ever asked.",
        ("protocols/policies/coauthorship.py::Coauthorship._uniform_mass",
         "return self.explore * n", "return 0.0"),
        by=f"{POLICIES}::test_draws_follow_the_definition"
           f" {POLICIES}::test_weights_are_the_definition"),
    mistake("refusal not replaced", "Only as many people are asked as there are seats.",
        ("protocols/collaborator_selection.py::select_collaborators",
         "while team.size < n and search.sent < search.most:",
         "while team.size < n and search.sent < n - 1:"),
        by=f"{PEOPLE}::test_a_refusal_is_replaced_by_the_next_draw"),
    mistake("no taken for yes", "Who declines joins all the same.",
        ("protocols/collaborator_selection.py::invite",
         "accepted = answer.read().accepted",
         "accepted = answer.read() is not None"),
        by=f"{PEOPLE}::test_a_refusal_is_replaced_by_the_next_draw"),
    mistake("unreadable is a yes", "An invitation without a readable answer is accepted.",
        ("protocols/forms.py::Choice", 'instead: ClassVar = {"action": "decline"',
         'instead: ClassVar = {"action": "join"'),
        by=f"{ACTS}::test_an_invitation_that_stays_unreadable_is_no_acceptance"),
    mistake("limit of teams ignored", "Scientists work in one team more than they may.",
        ("society/teams/world.py::World.at_limit",
         "return people.load(row) >= self.founding.max_teams",
         "return people.load(row) > self.founding.max_teams"),
        by=f"{ENDING}::test_the_limit_of_teams_holds_for_founding_and_joining"),

    # Who sees what
    mistake("last summary leaks", "The topic prompt holds the last turn's summary and replies.",
        ("protocols/discussion.py::Discussion.next_turn", """\
        if over:
            return None
        if self._summary is not None:
            self.summaries = (*self.summaries, self._summary)
""", """\
        if self._summary is not None:
            self.summaries = (*self.summaries, self._summary)
        if over:
            return None
"""),
        by=PROMPTS),
    mistake("replies of the turn before", "Idea turns see last turn's replies beside its summary.",
        ("protocols/virsci/ideas.py::generate_ideas", 'heard = turn.said if dialogue',
         'heard = (*discussion.last_turn, *turn.said) if dialogue'),
        by=PROMPTS),
    mistake("dialogue in assessment", "Voters read all that was said in the idea stage.",
        ("protocols/virsci/novelty.py::_submit_ballot", "ideas=listed,",
         "ideas=listed, said=ideas,"),
        ("protocols/virsci/prompts/ballot.txt", "{{ position | place }}",
         "{% for idea in said %}{{ idea.idea.words() }}{% endfor %}\n{{ position | place }}"),
        by=PROMPTS),
    mistake("guest unheard", "What a consulted outsider said does not join the turn's replies.",
        ("protocols/virsci/topic.py::hold_discussion",
         'turn.said += (Utterance(speaker, remark), *guest)',
         'turn.said += (Utterance(speaker, remark), *guest[1:])'),
        by=PROMPTS),
    mistake("guest joins the team", "Who was consulted becomes an author of the paper.",
        ("society/teams/lifecycle.py::publish",
         "    now, population = world.env.now, world.population\n",
         "    now, population = world.env.now, world.population\n"
         "    guests = [c.scientist for a in team.answers for c in a.calls if c.act == 'guest']\n"
         "    authors = list(dict.fromkeys((*authors, *filter(None, guests))))\n"),
        by=f"{ACTS}::test_a_guest_is_neither_member_nor_author"),
    mistake("memory of the leader", "Speakers recall what their leader has done elsewhere.",
        ("society/teams/lab.py::Lab._pending_call",
         "world.population.scientist_named(asked).memory",
         "world.population.scientist_named(team.leader).memory"),
        by=MEMORY),
    mistake("profiles of day 0", "Prompts introduce people as they were when the run began.",
        ("society/teams/library.py::Library.people",
         "_kept(self._world, place, asked, names)), place[1])",
         "_kept(self._world, place, asked, names)), 0.0)"),
        by=f"{ACTS}::test_people_are_introduced_as_of_the_date_of_asking"),

    # Decisions
    mistake("half is a majority", "A topic stands although no majority agrees.",
        ("protocols/virsci/topic.py::discuss_topic", "2 * sum(votes) > len(votes)",
         "2 * sum(votes) >= len(votes)"),
        by=f"{PEOPLE}::test_consensus_is_a_majority"),
    mistake("leavers stay", "Who wants to leave works on.",
        ("protocols/virsci/topic.py::discuss_topic", "lab.people.leave(member)", "pass"),
        by=f"{PEOPLE}::test_who_leaves_is_gone_from_all_that_follows"),
    mistake("same speaker twice", "In random order the same person may speak twice running.",
        ("protocols/discussion.py::speaking_order", "for member in members if member != last]",
         "for member in members]"),
        by=f"{COUNTS}::test_random_order_is_n_utterances_and_never_the_same_twice_running"),
    mistake("ties keep the earlier", "Of equally confident ideas the earlier one stays.",
        ("protocols/ideas.py::shortlist",
         "(-confidence(ideas[index], weights), -index)",
         "(-confidence(ideas[index], weights), index)"),
        by=f"{IDEAS}::test_three_ideas_stay_the_later_one_on_a_tie"),
    mistake("last ballots only", "Only the ballots of the last turn are counted.",
        ("protocols/virsci/novelty.py::assess_novelty",
         'if rules.votes == "last_turn" else', "if True else"),
        by=f"{IDEAS}::test_ballots_of_all_turns_are_counted_together"),
    mistake("guest heard", "A guest who joins is heard as well.",
        ("protocols/virsci/released_code.py::ReleasedDiscussion._heard",
         "self._joining += replies\n        return ()",
         "self._joining += replies\n        return replies"),
        by=f"{RELEASED}::test_guests_join_for_good_and_nobody_sees_what_they_answer"),
    mistake("one strike only", "A revised abstract passes however near to the past it is.",
        ("protocols/virsci/abstract.py::write_abstract",
         "if highest < rules.threshold:", "if team.strikes or highest < rules.threshold:"),
        by=f"{REVIEW}::test_two_strikes_and_the_team_generates_a_new_idea"),
    mistake("threshold not reached at it", "Overlap exactly at the threshold passes.",
        ("protocols/virsci/abstract.py::write_abstract", "highest < rules.threshold",
         "highest <= rules.threshold"),
        by=f"{REVIEW}::test_one_strike_is_one_more_stage_of_k_turns"),
    mistake("references unused are cited", "A paper cites all that its idea was shown.",
        ("protocols/ideas.py::make_candidate",
         "for key in dict.fromkeys(idea.uses) if key in papers)",
         "for key in papers)"),
        by=f"{IDEAS}::test_the_papers_an_idea_says_it_uses_are_cited"),
    mistake("default not marked", "A reply that stayed unreadable counts as the model's words.",
        ("society/kernel/answer.py::ask_model", "call.defaulted, call.rung = True,",
         "call.defaulted, call.rung = False,"),
        by=f"{ANSWERS}::test_two_re_asks_at_most_and_then_the_flagged_default"),

    # Dates
    mistake("read before it is due", "Words decide before the date on which they take effect.",
        ("society/kernel/dispatcher.py::Dispatcher.read",
         "if self._now() < answer.due:", "if False:"),
        by=f"{ANSWERS}::test_reading_before_the_due_date_raises"),
    mistake("protocol reads early", "Consensus and staying are read in the meeting itself.",
        ("protocols/virsci/topic.py::discuss_topic", """\
        yield from lab.prepare()
        yield from lab.notice()
        # Votes""", "        # Votes"),
        by=f"{PEOPLE}::test_who_leaves_is_gone_from_all_that_follows"),
    mistake("future citation counted", "Citations are counted without regard to their date.",
        ("society/literature/literature.py::Literature.citations",
         "bisect_left(self._cited.get(paper_id, ()), before)",
         "len(self._cited.get(paper_id, ()))"),
        by=f"{LITERATURE}::test_citations_are_dated_events_counted_strictly_before"),
    mistake("today's ties counted", "A joint paper counts on the day it is published.",
        ("society/population/network.py::CoauthorNetwork._recent_partners",
         "count = bisect_left(dates, date)",
         "count = bisect_right(dates, date)"),
        by="society/population/test_network.py"
           "::test_a_line_of_joint_papers_has_each_coauthor_as_often_as_they_wrote"),
    mistake("today's papers found", "A search finds what is published on its own date.",
        ("society/literature/literature.py::Literature.visible",
         "return early + bisect_left(self._dates, date)",
         "return early + bisect_left(self._dates, date + 2.0**-20)"),
        by=f"{LITERATURE}::test_a_published_paper_is_found_from_the_next_instant_on"
           f" {WORLD}::test_a_paper_is_seen_by_others_strictly_after_its_date"),
    mistake("later papers found", "A search finds what was published until its words arrived.",
        ("society/teams/library.py::Library.search", "lambda: search(text, count, visible)",
         "lambda: search(text, count, len(self._world.literature))"),
        by=f"{WORLD}::{LATE_SEARCH}"),
    mistake("later papers of a person", "A guest is shown a paper that it has not published yet.",
        ("society/teams/library.py::Library.papers_by",
         "search(name, text, count, visible)",
         "search(name, text, count, len(self._world.literature))"),
        by=f"{LIBRARY}::test_what_is_looked_up_is_that_of_the_date_of_asking"),
    mistake("visible before its delay", "Others find a paper on the day it is finished.",
        ("society/teams/lifecycle.py::review_and_publish",
         "yield world.env.timeout(team.times.publication_delay)",
         "yield world.env.timeout(0)"),
        by=f"{WORLD}::test_a_paper_is_seen_by_others_strictly_after_its_date"),
    mistake("boundary belongs to both", "An event on the last day happens within the run.",
        ("society/model.py::Society.advance", "(coming := peek()) < date",
         "(coming := peek()) <= date"),
        by=f"{ENDING}::test_an_event_on_a_boundary_belongs_to_the_next_period"),

    # People and their time
    mistake("meeting without the last", "A meeting begins when the first of its members is there.",
        ("society/teams/membership.py::Meeting.__enter__", "everybody = env.all_of(waiting)",
         "everybody = env.any_of(waiting)"),
        by=f"{MEETINGS}::test_who_waits_for_several_people_names_the_last"),
    mistake("homework not queued", "Several pieces of homework are done at once.",
        ("society/teams/membership.py::at_desk",
         "        if attention.limited:\n            yield desk",
         "        if False:\n            yield desk"),
        by=f"{MEETINGS}::test_homework_queues_at_the_desk_behind_that_of_other_teams"),
    mistake("dissolved but still busy", "Members of a dissolved team stay in it for ever.",
        ("society/teams/lifecycle.py::run_team", "    for member in list(team.members):\n",
         "    for member in list(team.members) if reason is None else ():\n"),
        by=f"{ENDING}::test_dissolving_frees_room_and_desk_and_membership"),
    mistake("dissolved in its room", "A team dissolved in a meeting keeps everybody there.",
        ("society/teams/membership.py::Meeting.__exit__",
         "        self._requests.__exit__(kind, *end)\n",
         "        if kind is None:\n            self._requests.__exit__(kind, *end)\n"),
        by=f"{ENDING}::test_dissolving_frees_room_and_desk_and_membership"),

    mistake("published after all", "A team dissolved at the last moment publishes its paper.",
        ("society/teams/lifecycle.py::run_team", "if reason is None and manuscript is not None:",
         "if manuscript is not None:"),
        by=f"{ENDING}::test_a_dissolved_team_publishes_nothing_even_if_it_hands_something_in"),

    # Chance
    mistake("a stream for two", "All members do homework of the same length.",
        ("society/teams/membership.py::work_at_desk",
         '"homework", team.id, stage, visit, turn, scientist)',
         '"homework", team.id, stage, visit, turn)'),
        by=f"{ACTS}::test_no_two_acts_of_a_team_share_a_stream"),
    mistake("order of a set", "Keywords of a paper follow the hash seed of the process.",
        ("society/teams/lifecycle.py::_keywords", "return tuple(dict.fromkeys(named))[:6]",
         "return tuple(set(named))[:6]"),
        by="test_determinism.py::test_another_process_finds_the_same"),

    # What a run starts from
    mistake("future in the profiles", "Papers of the boundary year count as the past.",
        ("society/ecosystem/build.py::RawCorpus.known",
         "return self.years < self.boundary",
         "return self.years <= self.boundary"),
        by=f"{BUILD}::test_citations_of_the_past_are_counted_from_papers_before_the_boundary"),
    mistake("future co-authors", "Ties of contemporary papers are known at the boundary.",
        ("society/ecosystem/build.py::RawCorpus.people",
         "np.repeat(self.known, sizes)",
         "np.repeat(self.known | True, sizes)"),
        ("society/ecosystem/build.py::RawCorpus.people",
         "np.where(self.known, sizes, 0)",
         "sizes"),
        by=f"{BUILD}::test_planted_future_papers_change_nothing_of_the_past"),
    mistake("future in the embedding", "The embedding is fitted on contemporary papers too.",
        ("society/ecosystem/build.py::_build",
         "fit_lsa(texts, options.seed,",
         "fit_lsa(texts + paper_texts(contemporary), options.seed,"),
        by=f"{BUILD}::test_planted_future_papers_change_nothing_of_the_past"),
    mistake("first reviews averaged", "Reflection changes nothing: the first review counts.",
        ("scenarios/review/review.py::last_readable",
         "for one in reversed(opinions) if one.review",
         "for one in opinions if one.review"),
        by="scenarios/review/test_review.py::test_a_reflection_is_shown_the_review_before_it_and_the_last_"
           "one_counts"),
    mistake("names on the sheet", "Masked names in the texts reach the raters.",
        ("scenarios/review/sheets.py::blind",
         r'text = re.sub(r"\bScientist\s?\d+\b", NOBODY, text, flags=re.IGNORECASE)',
         "text = str(text)"),
        by="scenarios/review/test_sheets.py::test_names_are_taken_out_of_titles_and_abstracts"),
    mistake("--set ignored", "What is set on the command line changes nothing.",
        ("scenarios/config/schema.py::scenario_document",
         "(from_settings(settings), from_arguments(keys))",
         "(from_arguments(keys),)"),
        by=f"{SCHEMA}::test_python_arguments_and_set_are_the_same"),
    mistake("unknown key accepted", "A misspelt key is passed over in silence.",
        ("scenarios/config/reader.py::Reader.read_part",
         "self.diagnostics.add((*path, key), unknown_key(key, key_names, elsewhere))", "continue"),
        by=f"{SCHEMA}::test_everything_wrong_is_told_at_once_with_line_and_column"),

    # Resuming
    mistake("strangers' journals", "Another scenario resumes a run's journal.",
        ("agents/gateway/gateway.py::Gateway._complete_inline",
         "        if self.strict:\n", "        if False:\n"),
        by=f"{RESUMING}::test_another_seed_is_refused_with_its_first_call"),
    mistake("calls forgotten", "A call that nobody asks for any more is passed over.",
        ("agents/gateway/gateway.py::Gateway.finish", "if call is not None:", "if False:"),
        by=f"{RESUMING}::test_a_call_that_is_not_asked_for_any_more_is_named"),
    mistake("other words, same answer", "A changed prompt is answered from the journal.",
        ("agents/journal/journal.py::Journal.lookup_call",
         "if row[2] != request.hash:", "if False:"),
        by=f"{JOURNAL}::test_a_changed_request_is_named_by_date_then_id"),
    mistake("the last answer wins", "A call that was made twice changes its words.",
        ("agents/journal/database.py", "DO NOTHING", "DO UPDATE SET text = excluded.text"),
        by=f"{JOURNAL}::test_the_first_committed_answer_is_the_words_for_ever"),
    mistake("half a day", "A run that was stopped shows what happened on its last day.",
        ("society/results/run_log.py::RunLog.roll_back", "del self.events[self._events :]", "pass"),
        by=f"{RESUMING}::test_the_partial_run_shows_the_completed_days_and_no_digest"),
    mistake("used before it is kept", "A kill loses words that have been acted on.",
        ("agents/journal/journal.py::Journal.record_outcome",
         "await self._writer.commit(\n            partial(self._statements.update_attempt",
         "self._writer.enqueue(\n            partial(self._statements.update_attempt"),
        by=f"{JOURNAL}::test_a_call_is_kept_and_found"),

    # Life
    mistake("settings of today", "A team's paper waits as an intervention says that came later.",
        ("society/teams/lifecycle.py::review_and_publish",
         "team.times.publication_delay", "world.times.publication_delay"),
        by="society/test_interventions.py::test_teams_keep_the_times_they_were_founded_with"),
    mistake("a past paid twice", "A fork asks anew for a call of the past that it should know.",
        ("agents/gateway/gateway.py::Gateway.complete",
         "request.asked < self.journal.fork_date", "request.asked < 0.0"),
        by="scenarios/runs/test_fork.py::test_a_call_of_the_past_that_was_never_made_stops_the_fork"),

    # Statistics of a study
    mistake("a lost comparison helps the others", "Holm forgets what could not be computed.",
        ("metrics/inference/comparisons.py::holm", "np.arange(len(given), 0, -1)",
         "np.arange(np.isfinite(given).sum(), np.isfinite(given).sum() - len(given), -1)"),
        by="metrics/inference/test_comparisons.py"
        "::test_a_comparison_that_was_lost_still_counts_as_planned"),
    mistake("pairs of strangers", "Replicates are paired by their order, not by their seed.",
        ("scenarios/study/study.py::pairs",
         "first.loc[both].to_numpy(np.float64), second.loc[both].to_numpy(np.float64)",
         "first.to_numpy(np.float64), second.to_numpy(np.float64)"),
        by="scenarios/study/test_study_page.py::test_pairs_are_replicates_that_both_arms_have"),

    # What a study survives
    mistake("two owners", "A lease whose number was used up meanwhile counts as held.",
        ("scenarios/runs/lease.py::_taken",
         "if max(after) != latest + 1:", "if not after:"),
        by="scenarios/runs/test_lease.py::test_a_number_that_was_used_up_meanwhile_is_no_lease"),
    mistake("bad luck is poison", "A run that came further each time is put into quarantine.",
        ("scenarios/study/lock.py::RunResult.deaths",
         "abs(at - last[0]) <= FURTHER", "at <= last[0]"),
        by="scenarios/study/test_lock.py"
        "::test_a_run_that_came_further_each_time_is_unlucky_and_no_poison"),
    mistake("parts rounded up", "The runs of a study may together spend more than its budget.",
        ("scenarios/study/run_one.py::share_of",
         "None if n is None else n // runs",
         "None if n is None else -(-n // runs)"),
        by="scenarios/study/test_lock.py"
        "::test_the_parts_of_a_budget_are_equal_and_together_within_it"),

    # What a study promises
    mistake("arms of strangers", "Replicates of a paired study have other seeds in every arm.",
        ("scenarios/study/design.py::Design.seeds", "() if self.file.paired else (arm,)", "(arm,)"),
        by="scenarios/study/test_design.py::test_seeds_are_paired_across_arms_unless_told_otherwise"),
    mistake("a lock without arms", "An arm's own keys may change after the lock.",
        ("scenarios/study/lock.py::differences",
         'key_differences(before[name]["set"], after[name]["set"])',
         'key_differences(before[name]["set"], before[name]["set"])'),
        by="scenarios/study/test_running.py"
        "::test_a_changed_study_is_refused_with_the_difference_named"),
    mistake(
        "same-day papers know each other",
        "Two papers of one date make a repeat of the pair that wrote both.",
        ("metrics/impact.py::coauthor_links",
         '(met < both["date"])', '(met <= both["date"])'),
        by="metrics/networks/test_assembly.py::test_papers_of_one_day_know_nothing_of_each_other",
    ),
    mistake(
        "disruption by what came before",
        "Papers older than the one measured count among those that build on it.",
        ("metrics/impact.py::_within", "return (apart > 0)", "return (apart != 0)"),
        by="metrics/impact/test_disruption.py::test_papers_before_it_and_of_its_day_do_not_count",
    ),
    mistake(
        "papers of one year that know each other",
        "A newcomer's second paper of one year is that of an incumbent.",
        (
            "metrics/validation/assembly_measures.py::_seen_before",
            "return earliest[number] < periods",
            "return earliest[number] <= periods",
        ),
        by="metrics/validation/test_assembly_measures.py::"
        "test_papers_of_one_period_know_nothing_of_each_other",
    ),
    mistake(
        "own papers with the authors of others",
        "Of the real papers of the society's scientists, everybody's part is counted.",
        (
            "metrics/validation/dated_papers.py::papers_of",
            "if name in scientists))",
            "if name in scientists or True))",
        ),
        by="metrics/validation/test_comparison.py::"
        "test_all_has_every_author_and_own_only_the_societys",
    ),
    mistake(
        "the removed still counted",
        "The network without the removed is that with them.",
        ("metrics/networks/removals.py::snapshots", "before | frozenset(removed))", "before)"),
        by="metrics/networks/test_removals.py::test_the_recent_network_before_and_without_by_hand",
    ),
    mistake(
        "compared with too much time",
        "A run is compared with all real papers after the boundary, however short it is.",
        (
            "metrics/validation/comparison.py::_compare_window",
            "later = papers_between(community.later, 0, years)",
            "later = papers_between(community.later, 0, 99)",
        ),
        by="scenarios/analysis/test_compare_with_corpus.py::test_windows_are_cut_at_the_length_of_the_run",
    ),
    mistake(
        "a default changed by the way",
        "The page of the model gives another reply window than the model has.",
        ("society/kernel/durations.py::Times",
         "reply_window: Days = 14.0", "reply_window: Days = 12.0"),
        by="scenarios/runs/test_identity.py::test_defaults_of_the_identity_are_those_of_its_number",
    ),
    mistake("friends judge friends", "Co-authors of the authors are asked to review.",
        ("protocols/peer_review/protocol.py::PeerReview.ineligible_rows",
         'self.conflicts == "excluded"', 'self.conflicts != "excluded"'),
        by="protocols/peer_review/test_editor.py::test_nobody_judges_a_coauthor_unless_it_is_allowed"),
    mistake("seen through the blind", "Reviewers are told the authors' names all the same.",
        ("protocols/peer_review/protocol.py::Editor._shown_authors",
         'self._rules.blind == "double"', 'self._rules.blind == "none"'),
        by="protocols/peer_review/test_editor.py::test_names_are_withheld_as_stated"),
    mistake("a review that jumps the queue", "A review waits for no other work at the desk.",
        ("society/teams/membership.py::at_desk",
         "        if attention.limited:\n            yield desk.enter",
         "        if attention.limited and begin is None:\n            yield desk.enter"),
        by="protocols/peer_review/test_editor.py::test_other_work_at_the_desk_comes_first"),
    mistake("tomorrow's interests", "A profile of the past has interests that came later.",
        ("society/population/interest_drift.py::InterestHistory.before",
         "position = bisect_left(held, date, key=itemgetter(0))",
         "position = len(held)"),
        by="society/population/test_interest_history.py::test_interests_are_told_as_of_a_date"),
    mistake("topics of day 0", "Diversity takes the main topics of day 0.",
        ("metrics/teams/teams.py::teams",
         "topics.as_of(who, date if formed is None else formed)", "topics.as_of(who, 0.0)"),
        by="metrics/test_population_drift.py"
        "::test_diversity_is_that_of_the_date_on_which_the_team_was_complete"),
    mistake("a change for later", "What nobody waits for is committed only when the run ends.",
        ("agents/journal/database.py::GroupCommitWriter.enqueue",
         "if len(self._queue) >= GROUP:", "if False:"),
        by="agents/journal/test_writer.py"
        "::test_what_nobody_waits_for_is_committed_in_groups"),
)
# fmt: on
