//! The first part of a filter: calls decided by their number alone. Those decided by their arguments fall through to
//! the rest.
//!
//! On installation, the kernel tries a filter on each of its system calls. So the numbers are searched by bisection,
//! and most calls are decided here: a linear search would take longer than all other walls together.

use std::collections::BTreeMap;

use seccompiler::sock_filter;

use crate::walls::filter::instructions::{ABSENT, ALLOW, JUMP, JUMP_IF_AT_LEAST, JUMP_IF_EQUAL, LOAD, RETURN, TELL};

/// Offsets of a call's number and interface in the kernel's data.
const NUMBER: u32 = 0;
const INTERFACE: u32 = 4;

/// First call of the x32 interface on x86-64. No rule knows the numbers from here on, so all of them are absent.
const X32: u32 = 0x4000_0000;

/// Decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// The keeper is told, and answers for the kernel.
    Tell,
    /// Reported as not implemented.
    Absent,
    /// Decided by the rest, which looks at the arguments.
    Rest,
}

/// The calls from one number up to the next segment, with the same verdict.
#[derive(Debug, Clone, Copy)]
struct Segment {
    first: u32,
    verdict: Verdict,
}

/// Decides the calls with a verdict; all others, and all of x32, are absent. Calls by a foreign interface fall through.
pub(super) fn program(verdicts: &BTreeMap<u32, Verdict>) -> Vec<sock_filter> {
    let search = search(&segments(verdicts));
    let mut program = vec![
        instruction(LOAD, 0, 0, INTERFACE),
        instruction(JUMP_IF_EQUAL, 1, 0, own_interface()),
        instruction(JUMP, 0, 0, search.len() as u32 + 3),
        instruction(LOAD, 0, 0, NUMBER),
        instruction(JUMP_IF_AT_LEAST, 0, 1, X32),
        instruction(RETURN, 0, 0, ABSENT),
    ];
    let length = search.len();
    program.extend(search.into_iter().enumerate().map(|(at, step)| match step {
        Step::Fixed(instruction) => instruction,
        Step::Rest => instruction(JUMP, 0, 0, (length - 1 - at) as u32),
    }));
    program
}

/// The kernel's number for the interface of this program's own calls. On architectures not listed here, everything
/// falls through.
fn own_interface() -> u32 {
    match std::env::consts::ARCH {
        "x86_64" => 0xc000_003e,
        "aarch64" => 0xc000_00b7,
        "riscv64" => 0xc000_00f3,
        _ => 0,
    }
}

/// All numbers in order, without gaps.
fn segments(verdicts: &BTreeMap<u32, Verdict>) -> Vec<Segment> {
    let mut segments = vec![Segment { first: 0, verdict: Verdict::Absent }];
    let mut begin = |first: u32, verdict: Verdict| match segments.last_mut() {
        Some(last) if last.verdict == verdict => {}
        Some(last) if last.first == first => last.verdict = verdict,
        _ => segments.push(Segment { first, verdict }),
    };
    for (&number, &verdict) in verdicts {
        begin(number, verdict);
        begin(number + 1, verdicts.get(&(number + 1)).copied().unwrap_or(Verdict::Absent));
    }
    segments
}

/// A step of the search.
enum Step {
    Fixed(sock_filter),
    /// Jumps behind the last step.
    Rest,
}

fn search(segments: &[Segment]) -> Vec<Step> {
    if let [Segment { verdict, .. }] = segments {
        let answer = |answer| vec![Step::Fixed(instruction(RETURN, 0, 0, answer))];
        return match verdict {
            Verdict::Allow => answer(ALLOW),
            Verdict::Tell => answer(TELL),
            Verdict::Absent => answer(ABSENT),
            Verdict::Rest => vec![Step::Rest],
        };
    }
    let (lower, upper) = segments.split_at(segments.len() / 2);
    let first = upper.first().map_or(0, |segment| segment.first);
    let lower = search(lower);
    let mut steps = match u8::try_from(lower.len()) {
        Ok(skipped) => vec![instruction(JUMP_IF_AT_LEAST, skipped, 0, first)],
        // Too far for a jump with a condition.
        Err(_) => vec![instruction(JUMP_IF_AT_LEAST, 0, 1, first), instruction(JUMP, 0, 0, lower.len() as u32)],
    }
    .into_iter()
    .map(Step::Fixed)
    .collect::<Vec<_>>();
    steps.extend(lower);
    steps.extend(search(upper));
    steps
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program's answer to a call of an interface; `None` if the call falls through.
    fn answer(program: &[sock_filter], interface: u32, number: u32) -> Option<u32> {
        let (mut at, mut loaded) = (0, 0);
        while let Some(instruction) = program.get(at) {
            at += 1;
            let jump = |holds: bool| usize::from(if holds { instruction.jt } else { instruction.jf });
            match instruction.code {
                LOAD => loaded = if instruction.k == INTERFACE { interface } else { number },
                JUMP => at += instruction.k as usize,
                JUMP_IF_EQUAL => at += jump(loaded == instruction.k),
                JUMP_IF_AT_LEAST => at += jump(loaded >= instruction.k),
                _ => return Some(instruction.k),
            }
        }
        assert_eq!(at, program.len(), "what falls through reaches the first of the rest");
        None
    }

    #[test]
    fn each_call_gets_its_verdict_and_every_other_call_is_absent() {
        const ALL: [Verdict; 4] = [Verdict::Allow, Verdict::Tell, Verdict::Absent, Verdict::Rest];
        let own = own_interface();
        for count in [0_u32, 1, 2, 3, 7, 80, 400, 1000] {
            let verdicts: BTreeMap<u32, Verdict> =
                (0..count).map(|number| (number * 7 % 1201, ALL[(number % 5 % 4) as usize])).collect();
            let program = program(&verdicts);
            for number in 0..1300 {
                let expected = match verdicts.get(&number).unwrap_or(&Verdict::Absent) {
                    Verdict::Allow => Some(ALLOW),
                    Verdict::Tell => Some(TELL),
                    Verdict::Absent => Some(ABSENT),
                    Verdict::Rest => None,
                };
                assert_eq!(answer(&program, own, number), expected, "{number} of {count}");
                assert_eq!(answer(&program, own ^ 1, number), None, "of another interface");
            }
            for absent in [X32, X32 + 41, u32::MAX] {
                assert_eq!(answer(&program, own, absent), Some(ABSENT));
            }
        }
    }
}
