//! Gets the image of a run, if the run turns out to lack it.

use super::Host;
use super::run::{Happened, Run, Watch};
use crate::images::ensure::{Choice, Ensured, Wanted};
use crate::names::ImageRef;
use crate::outcome::classify::Ending;
use crate::outcome::failure::Failure;
use crate::policy::PullPolicy;

impl Run<'_> {
    /// Asking the engine for the image before each run would cost every run what only the few
    /// need that lack it. So it is asked for when the engine has said that it is missing, or when
    /// the policy wants a fresh one.
    pub(super) fn attempt(&mut self, host: &Host, watch: &Watch) -> Result<Happened, Failure> {
        let wanted = self.plan.image().clone();
        let pull = self.sandbox.policy.policy().pull;
        match self.sandbox.images.known(&wanted) {
            Some(ensured) => self.move_into(&ensured, &wanted),
            None if pull == PullPolicy::Always => self.fetch(host, &wanted, watch)?,
            None => {}
        }
        let happened = self.spawn(host, watch)?;
        if pull == PullPolicy::Never || !lacks_its_image(&happened) {
            return Ok(happened);
        }
        self.fetch(host, &wanted, watch)?;
        self.spawn(host, watch)
    }

    fn fetch(&mut self, host: &Host, image: &ImageRef, watch: &Watch) -> Result<(), Failure> {
        let language = self.plan.language();
        let wanted = Wanted {
            language,
            image,
            choice: Choice::of(language, image),
            pull: self.sandbox.policy.policy().pull,
            progress: watch.progress,
            stopper: &watch.stopper,
        };
        let ensured = self.sandbox.images.fetch(&host.engine, wanted);
        let ensured = ensured.map_err(|error| error.failure())?;
        self.move_into(&ensured, image);
        Ok(())
    }

    fn move_into(&mut self, ensured: &Ensured, wanted: &ImageRef) {
        self.plan = self.plan.clone().with_image(ensured.image.clone());
        self.notice = ensured.notice(wanted);
    }
}

fn lacks_its_image(happened: &Happened) -> bool {
    matches!(happened.ending, Ending::Failed(Failure::NoImage(_)))
}
