//! Walks every path of the life cycle in every world that the engine, the client and the program
//! can make of it, until no state is new.
//!
//! The world is what really is; the life cycle only hears of it. What is taken for granted:
//! a client ends with 0 only after its program has; an engine that says "killed" has killed; what
//! has not appeared when the bound for it is over never will; and a client that says that it
//! could not ask, or was refused, made nothing. Everything else may happen in any order: engines
//! that hang, refuse, forget, or act without saying so; clients that are killed or lose sight of
//! their container; programs that end at any moment and imitate any words.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::engine::record::Record;
use crate::outcome::Verdict;
use crate::outcome::classify::{Evidence, classify};
use crate::runner::cleanup::{Removal, judge};

/// What there is of the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// It may appear at any moment.
    Coming,
    /// It will never be.
    Never,
    Created,
    Running,
    /// Its program is over.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct World {
    container: Container,
    client: Option<ClientEnd>,
    /// The first stop that the life cycle was told of.
    told: Option<StopCause>,
}

/// Where a path is. `Step::CleanUp` is several attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    step: Step,
    world: World,
}

/// How a place is reached from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Plain,
    /// Only while there is time left, which runs out.
    TakesTime,
}

const CAUSES: [StopCause; 3] = [StopCause::Signal(15), StopCause::Caller, StopCause::OutputClosed];

impl World {
    /// What the world may have become by itself meanwhile.
    fn later(self) -> Vec<Self> {
        use Container::{Coming, Created, Never, Over, Running};
        let containers: &[Container] = match self.container {
            Coming => &[Coming, Never, Created, Running, Over],
            Created => &[Created, Running, Over],
            Running => &[Running, Over],
            Never => &[Never],
            Over => &[Over],
        };
        containers.iter().map(|&container| Self { container, ..self }).collect()
    }

    fn with(self, container: Container) -> Self {
        Self { container, ..self }
    }

    fn may_live(self) -> bool {
        match self.container {
            Container::Coming | Container::Created | Container::Running => true,
            Container::Never | Container::Over => false,
        }
    }

    /// How the client may have ended by now.
    fn client_ends(self) -> Vec<(ClientEnd, Self)> {
        // Killed by a stranger, or out of the engine's sight.
        let mut ends = vec![ClientEnd::Lost, ClientEnd::Exited(1), ClientEnd::Exited(125)];
        if self.container == Container::Over {
            ends.extend([0, 3, 126, 127, KILLED].map(ClientEnd::Exited));
        }
        ends.into_iter().map(|end| (end, Self { client: Some(end), ..self })).collect()
    }

    fn records(self) -> Vec<RecordEvidence> {
        let begun = Record { created: Some(1), ..Record::default() };
        let ran = Record { started: Some(2), ..begun };
        let over = |code| Record { died: Some(code), died_at: Some(3), ..ran };
        let mut known = match self.container {
            Container::Coming | Container::Never => vec![],
            Container::Created => vec![begun],
            Container::Running => vec![ran, Record { created: None, ..ran }],
            // It was removed before it was started, or it ran.
            Container::Over => vec![
                Record { destroyed: true, ..begun },
                Record { destroyed: true, ..Record::default() },
                over(0),
                over(3),
                over(KILLED),
                Record { oom: true, ..over(KILLED) },
                Record { destroyed: true, ..over(0) },
            ],
        };
        // An engine forgets.
        known.push(Record::default());
        let known = known.into_iter().map(RecordEvidence::Known);
        known.chain([RecordEvidence::Unavailable]).collect()
    }

    fn words(self) -> Vec<Words> {
        let mut words = vec![Words::Program, Words::Held];
        let imitated = self.container == Container::Over || self.client == Some(ClientEnd::Lost);
        if imitated || self.container == Container::Never {
            words.extend([Words::Refused, Words::NeverAsked]);
        }
        words
    }

    fn kill_answers(self) -> Vec<(Option<KillAnswer>, Self)> {
        let refused = || Some(KillAnswer::Refused(String::new()));
        let mut answers = vec![(refused(), self), (None, self)];
        if self.container == Container::Running {
            let killed = self.with(Container::Over);
            answers.extend([(Some(KillAnswer::Killed), killed), (None, killed)]);
        }
        answers
    }

    fn remove_answers(self) -> Vec<(Option<RemoveAnswer>, Self)> {
        let refused = Some(RemoveAnswer::Refused(String::new()));
        let mut answers = vec![(refused, self), (None, self)];
        let gone = self.with(Container::Over);
        match self.container {
            Container::Coming | Container::Never => {
                answers.push((Some(RemoveAnswer::Absent), self));
            }
            Container::Created | Container::Running => answers.extend([
                (Some(RemoveAnswer::Removed), gone),
                (Some(RemoveAnswer::InProgress), self),
                (None, gone),
            ]),
            Container::Over => answers.extend([
                (Some(RemoveAnswer::Removed), self),
                (Some(RemoveAnswer::InProgress), self),
                (Some(RemoveAnswer::Absent), self),
            ]),
        }
        answers
    }
}

/// Every place that can come next.
fn next(place: &Place) -> Vec<(Edge, Place)> {
    let worlds = place.world.later();
    worlds.into_iter().flat_map(|world| after(place.step.clone(), world)).collect()
}

fn after(step: Step, world: World) -> Vec<(Edge, Place)> {
    let plain = |step, world| (Edge::Plain, Place { step, world });
    match step {
        Step::Watch(watch) => {
            let ends = world.client_ends().into_iter();
            let exits = ends.map(|(end, world)| (Wake::Exited(end), world));
            let stops =
                CAUSES.map(|cause| (Wake::Stop(cause), World { told: Some(cause), ..world }));
            let wakes = exits.chain(stops).chain([(Wake::Time, world)]);
            wakes.map(|(wake, world)| plain(watch.clone().woken(wake), world)).collect()
        }
        Step::AskStart => world
            .records()
            .into_iter()
            .flat_map(|record| {
                let later = Step::after_question(record.clone(), Due::Later);
                let now = Step::after_question(record, Due::Now);
                [(Edge::TakesTime, Place { step: later, world }), plain(now, world)]
            })
            .collect(),
        Step::Kill(kill) => {
            let answers = world.kill_answers().into_iter();
            answers.map(|(it, world)| plain(kill.clone().answered(it.as_ref()), world)).collect()
        }
        Step::Pause(pause) => wait(world, |end| pause.clone().over(end)),
        Step::AwaitEnd(end) => wait(world, |client| end.clone().over(client)),
        Step::Remove(remove) => both_times(world.remove_answers(), |answer, world, time| {
            let step = remove.clone().answered(answer, time);
            Place { step, world }
        }),
        Step::Abandon(abandon) => {
            let client = world.client.or(Some(ClientEnd::Lost));
            vec![plain(abandon.over(), World { client, ..world })]
        }
        Step::Listen(listen) => {
            let words = world.words().into_iter();
            words.map(|words| plain(listen.clone().heard(words), world)).collect()
        }
        Step::AskRecord(ask) => {
            let records = world.records().into_iter();
            records.map(|record| plain(ask.clone().told(record), world)).collect()
        }
        Step::CleanUp(clean) => both_times(world.remove_answers(), |answer, world, time| {
            // What has not appeared by then never will.
            let late = time == Time::Up && world.container == Container::Coming;
            let world = if late { world.with(Container::Never) } else { world };
            match judge(answer, clean.race, time) {
                Removal::Over(fate) => Place { step: clean.clone().over(fate), world },
                Removal::Again(race) => {
                    Place { step: Step::CleanUp(CleanUp { race, ..clean.clone() }), world }
                }
            }
        }),
        Step::Done(_) => Vec::new(),
    }
}

/// A wait for the client's end.
fn wait(world: World, over: impl Fn(Option<ClientEnd>) -> Step) -> Vec<(Edge, Place)> {
    let ends = world.client_ends().into_iter().map(|(end, world)| (Some(end), world));
    let all = ends.chain([(None, world)]);
    all.map(|(end, world)| (Edge::Plain, Place { step: over(end), world })).collect()
}

fn both_times(
    answers: Vec<(Option<RemoveAnswer>, World)>,
    place: impl Fn(Option<&RemoveAnswer>, World, Time) -> Place,
) -> Vec<(Edge, Place)> {
    let times = [(Edge::TakesTime, Time::Left), (Edge::Plain, Time::Up)];
    let each = answers.into_iter().flat_map(|(answer, world)| {
        times.map(|(edge, time)| (edge, place(answer.as_ref(), world, time)))
    });
    each.collect()
}

/// Every place that can be reached, with the places after it.
fn all_places() -> HashMap<String, (Place, Vec<(Edge, String)>)> {
    let world = World { container: Container::Coming, client: None, told: None };
    let mut waiting = vec![Place { step: Step::begin(), world }];
    let mut places = HashMap::new();
    while let Some(place) = waiting.pop() {
        let key = format!("{place:?}");
        if places.contains_key(&key) {
            continue;
        }
        let after = next(&place);
        let edges = after.iter().map(|(edge, place)| (*edge, format!("{place:?}"))).collect();
        waiting.extend(after.into_iter().map(|(_, place)| place));
        places.insert(key, (place, edges));
    }
    places
}

/// Every end, with the world in which it was reached.
fn all_ends() -> Vec<(Known, World)> {
    let places = all_places().into_values().map(|(place, _)| place);
    let ends = places.filter_map(|place| match place.step {
        Step::Done(known) => Some((known, place.world)),
        Step::Watch(_)
        | Step::AskStart
        | Step::Kill(_)
        | Step::Pause(_)
        | Step::Remove(_)
        | Step::AwaitEnd(_)
        | Step::Abandon(_)
        | Step::Listen(_)
        | Step::AskRecord(_)
        | Step::CleanUp(_) => None,
    });
    ends.collect()
}

fn verdict(known: &Known) -> Verdict {
    let evidence = Evidence {
        client: known.client,
        stopping: known.stopping,
        record: known.record.clone(),
        engine_words: "",
        interpreter: "python",
    };
    classify(&evidence).verdict()
}

#[test]
fn the_walk_reaches_every_kind_of_step_and_end() {
    let places = all_places();
    let kinds: HashSet<&str> =
        places.keys().map(|key| key.split(['(', ',', ' ']).nth(3).unwrap_or("")).collect();
    let steps = [
        "Watch",
        "AskStart",
        "Kill",
        "Pause",
        "Remove",
        "AwaitEnd",
        "Abandon",
        "Listen",
        "AskRecord",
        "CleanUp",
        "Done",
    ];
    assert_eq!(kinds, HashSet::from(steps));
    let verdicts: HashSet<Verdict> = all_ends().iter().map(|(known, _)| verdict(known)).collect();
    for verdict in [
        Verdict::Success,
        Verdict::Error,
        Verdict::Timeout,
        Verdict::OutOfMemory,
        Verdict::Cancelled,
        Verdict::SandboxError,
    ] {
        assert!(verdicts.contains(&verdict), "{verdict:?}");
    }
    assert!(places.len() > 500, "{}", places.len());
}

#[test]
fn no_container_that_may_live_is_said_to_be_gone() {
    for (known, world) in all_ends() {
        assert!(known.fate == Fate::Unconfirmed || !world.may_live(), "{world:?}\n{known:?}");
    }
}

#[test]
fn every_path_ends_and_nothing_follows_an_end() {
    let places = all_places();
    for (place, after) in places.values() {
        let done = matches!(place.step, Step::Done(_));
        assert_eq!(done, after.is_empty(), "{place:?}");
    }
    // Without the ways that time closes no way leads back: so every path is finite.
    let mut open: HashMap<&str, usize> = HashMap::new();
    let plain = |key: &str| places[key].1.iter().filter(|(edge, _)| *edge == Edge::Plain);
    for key in places.keys() {
        for (_, to) in plain(key) {
            *open.entry(to).or_default() += 1;
        }
    }
    let mut free: Vec<&str> =
        places.keys().map(String::as_str).filter(|key| !open.contains_key(key)).collect();
    let mut passed = 0;
    while let Some(key) = free.pop() {
        passed += 1;
        for (_, to) in plain(key) {
            let ways = open.get_mut(to.as_str()).unwrap();
            *ways -= 1;
            if *ways == 0 {
                free.push(to);
            }
        }
    }
    assert_eq!(passed, places.len(), "some places lead back to themselves");
}

#[test]
fn a_stop_that_was_heard_is_never_reported_as_the_programs_own_end() {
    for (known, world) in all_ends() {
        if let Some(cause) = world.told {
            assert_eq!(verdict(&known), Verdict::Cancelled, "{cause:?} {known:?}");
        } else {
            assert_ne!(verdict(&known), Verdict::Cancelled, "{known:?}");
        }
    }
}

#[test]
fn a_timeout_is_only_told_of_a_program_that_das_killed() {
    for (known, world) in all_ends() {
        if verdict(&known) == Verdict::Timeout {
            assert_eq!(known.stopping, Stopping::Killed(StopCause::Deadline), "{known:?}");
            assert!(!world.may_live(), "{world:?} {known:?}");
        }
    }
}

#[test]
fn a_success_is_only_told_of_a_program_that_is_over() {
    for (known, world) in all_ends() {
        if verdict(&known) == Verdict::Success {
            assert_eq!(world.container, Container::Over, "{known:?}");
        }
    }
}
