//! Complaints about hooks, each kept once with its count.

/// Most different complaints kept.
const MOST: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Complaints {
    /// Complaints with their counts.
    kept: Vec<(String, usize)>,
    more: usize,
}

impl Complaints {
    pub(super) fn add(&mut self, complaint: String) {
        if let Some((_, times)) = self.kept.iter_mut().find(|(kept, _)| *kept == complaint) {
            *times += 1;
        } else if self.kept.len() < MOST {
            self.kept.push((complaint, 1));
        } else {
            self.more += 1;
        }
    }

    pub(super) fn extend(&mut self, complaints: impl IntoIterator<Item = String>) {
        complaints.into_iter().for_each(|complaint| self.add(complaint));
    }

    /// Takes all complaints, to be printed.
    pub(super) fn take(&mut self) -> Vec<String> {
        let Self { kept, more } = std::mem::take(self);
        let told = kept.into_iter().map(|(complaint, times)| match times {
            1 => complaint,
            times => format!("{complaint} ({times} times)"),
        });
        told.chain((more > 0).then(|| format!("{more} more complaints about hooks are left out"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_complaint_is_reported_once_and_only_a_few_are() {
        let mut complaints = Complaints::default();
        complaints.extend((0..15).map(|number| format!("c{number}")));
        complaints.extend(["c0".to_owned(), "c0".to_owned()]);
        let told = complaints.take();
        assert_eq!((told.len(), &*told[0], &*told[1]), (11, "c0 (3 times)", "c1"));
        assert_eq!(told[10], "5 more complaints about hooks are left out");
        assert!(complaints.take().is_empty());
    }
}
