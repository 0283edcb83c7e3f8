//! The first part of a filter: calls that are decided by their number alone. Whatever else falls through to the rest.
//!
//! When a filter is installed, the kernel tries it on each system call that it has. So the numbers are searched by
//! halves: one after the other, they would take longer than all other walls together.

use libc::c_long;
use seccompiler::sock_filter;

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// What a call returns instead of being made, with the number of an error.
const ERROR: u32 = 0x0005_0000;

/// From here on, on x86-64, are the calls of the x32 interface. No rule knows their numbers, so there are none of them.
const X32: u32 = 0x4000_0000;

/// So few are compared one after the other.
const FEW: usize = 3;

/// A step of the search. Both ends of it lie behind its last step: first the one that refuses, then the one that passes.
enum Step {
    /// Skips so many steps if the number is at least this.
    AtLeast {
        number: u32,
        skipped: u8,
    },
    Refuse {
        number: u32,
    },
    Pass,
}

/// Refuses these, and answers as if the kernel did not have them to `clone3` and to all of x32.
pub(super) fn program(refused: &[c_long]) -> Vec<sock_filter> {
    let mut numbers: Vec<u32> = refused.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
    numbers.sort_unstable();
    let steps = search(&numbers);
    let mut program = vec![
        instruction(LOAD, 0, 0, 0),
        instruction(JUMP_IF_AT_LEAST, 1, 0, X32),
        instruction(JUMP_IF_EQUAL, 0, 1, libc::SYS_clone3 as u32),
        instruction(RETURN, 0, 0, ERROR | libc::ENOSYS.cast_unsigned()),
    ];
    program.extend(steps.iter().enumerate().map(|(at, step)| {
        let behind = steps.len() - 1 - at;
        match *step {
            Step::AtLeast { number, skipped } => instruction(JUMP_IF_AT_LEAST, skipped, 0, number),
            Step::Refuse { number } => instruction(JUMP_IF_EQUAL, behind as u8, 0, number),
            Step::Pass => instruction(JUMP, 0, 0, behind as u32 + 1),
        }
    }));
    program.push(instruction(RETURN, 0, 0, ERROR | libc::EPERM.cast_unsigned()));
    program
}

fn search(numbers: &[u32]) -> Vec<Step> {
    if numbers.len() <= FEW {
        let refuse = numbers.iter().map(|number| Step::Refuse { number: *number });
        return refuse.chain([Step::Pass]).collect();
    }
    let (lower, upper) = numbers.split_at(numbers.len() / 2);
    let mut steps = search(lower);
    steps.insert(0, Step::AtLeast { number: upper[0], skipped: steps.len() as u8 });
    steps.extend(search(upper));
    steps
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program answers to a call; `None` if the call falls through.
    fn answer(program: &[sock_filter], number: u32) -> Option<u32> {
        let mut at = 0;
        while let Some(instruction) = program.get(at) {
            at += 1;
            let jump = |holds: bool| usize::from(if holds { instruction.jt } else { instruction.jf });
            match instruction.code {
                LOAD => {}
                JUMP => at += instruction.k as usize,
                JUMP_IF_EQUAL => at += jump(number == instruction.k),
                JUMP_IF_AT_LEAST => at += jump(number >= instruction.k),
                _ => return Some(instruction.k & 0xffff),
            }
        }
        None
    }

    #[test]
    fn exactly_what_is_refused_is_refused() {
        for count in 0..80 {
            let refused: Vec<c_long> = (0..count).map(|number| number * 7 % 601).collect();
            let program = program(&refused);
            for number in (0..600).filter(|number| *number != libc::SYS_clone3) {
                let expected = refused.contains(&number).then_some(libc::EPERM as u32);
                assert_eq!(answer(&program, number.try_into().unwrap()), expected, "{number} of {count}");
            }
            for absent in [libc::SYS_clone3 as u32, X32, X32 + 41, u32::MAX] {
                assert_eq!(answer(&program, absent), Some(libc::ENOSYS as u32));
            }
        }
    }
}
