//! Which jobs a set of walls needs, and in which order they begin.

use std::collections::{BTreeSet, VecDeque};

use crate::walls::Wall;
use crate::walls::evidence::Run;

/// Work for one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// One container.
    Run(Run),
    /// One that leaves things behind, and then one that looks for them.
    Lifetime,
    /// One container beside another.
    Peers,
}

/// The longest ones first, so that nothing waits for them at the end.
const ORDER: [Job; 8] = [
    Job::Run(Run::Time),
    Job::Peers,
    Job::Lifetime,
    Job::Run(Run::Facts),
    Job::Run(Run::Cpu),
    Job::Run(Run::Memory),
    Job::Run(Run::Pids),
    Job::Run(Run::Output),
];

/// The jobs for these walls.
pub(super) fn jobs(walls: &[Wall]) -> VecDeque<Job> {
    let runs: BTreeSet<Run> =
        walls.iter().flat_map(|wall| wall.row().probe.runs).copied().collect();
    let needed = |job: &Job| match job {
        Job::Run(run) => runs.contains(run),
        Job::Lifetime => runs.contains(&Run::Leave) || runs.contains(&Run::Look),
        Job::Peers => runs.contains(&Run::Peers),
    };
    ORDER.into_iter().filter(needed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls::WALLS;

    #[test]
    fn all_walls_need_every_job_and_one_wall_its_own() {
        let all: Vec<Wall> = WALLS.iter().map(|row| row.wall).collect();
        assert_eq!(jobs(&all), ORDER);
        assert_eq!(jobs(&[Wall::Network]), [Job::Run(Run::Facts)]);
        assert_eq!(jobs(&[Wall::Lifetime]), [Job::Lifetime]);
        assert_eq!(jobs(&[]), []);
    }
}
