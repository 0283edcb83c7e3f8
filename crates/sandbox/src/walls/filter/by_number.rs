//! The first part of a filter: calls decided by their number alone. Those decided by their arguments fall through to
//! the rest.
//!
//! On installation, the kernel tries a filter on each of its system calls. So the numbers are searched by bisection,
//! and most calls are allowed here: a linear search would take longer than all other walls together.

use libc::c_long;
use seccompiler::sock_filter;

const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Returns an error number instead of making the call.
const ERROR: u32 = 0x0005_0000;
const ALLOW: u32 = 0x7fff_0000;

/// Offsets of a call's number and interface in the kernel's data.
const NUMBER: u32 = 0;
const INTERFACE: u32 = 4;

/// First call of the x32 interface on x86-64. No rule knows the numbers from here on, so all of them are refused as
/// absent.
const X32: u32 = 0x4000_0000;

/// Their arguments cannot be inspected, so they are reported as absent. The C library manages without the first, and
/// programs that use the second cope with kernels that lack it.
const ABSENT: [u32; 2] = [libc::SYS_clone3 as u32, libc::SYS_openat2 as u32];

/// Up to so many numbers are compared one after the other.
const FEW: usize = 3;

/// A step of the search. Its three outcomes follow the last step: refuse, allow, and the rest.
enum Step {
    /// Skips `skipped` steps if the number is at least this.
    AtLeast {
        number: u32,
        skipped: u8,
    },
    Refuse {
        number: u32,
    },
    FallThrough {
        number: u32,
    },
    Allow,
}

/// Refuses `refused`, lets `by_arguments` fall through, and allows everything else. Reports absent calls and all of x32
/// as not implemented. Calls by a foreign interface fall through.
pub(super) fn program(refused: &[c_long], by_arguments: &[c_long]) -> Vec<sock_filter> {
    let steps = search(&known(refused, by_arguments));
    let to_the_rest = ABSENT.len() + steps.len() + 6;
    let mut program = vec![
        instruction(LOAD, 0, 0, INTERFACE),
        instruction(JUMP_IF_EQUAL, 1, 0, own_interface()),
        instruction(JUMP, 0, 0, to_the_rest as u32),
        instruction(LOAD, 0, 0, NUMBER),
        instruction(JUMP_IF_AT_LEAST, ABSENT.len() as u8 + 1, 0, X32),
    ];
    program.extend(ABSENT.iter().enumerate().map(|(at, absent)| {
        let behind = ABSENT.len() - at;
        instruction(JUMP_IF_EQUAL, behind as u8, 0, *absent)
    }));
    program.push(instruction(JUMP, 0, 0, 1));
    program.push(instruction(RETURN, 0, 0, ERROR | libc::ENOSYS.cast_unsigned()));
    program.extend(steps.iter().enumerate().map(|(at, step)| {
        let behind = steps.len() - 1 - at;
        match *step {
            Step::AtLeast { number, skipped } => instruction(JUMP_IF_AT_LEAST, skipped, 0, number),
            Step::Refuse { number } => instruction(JUMP_IF_EQUAL, behind as u8, 0, number),
            Step::FallThrough { number } => instruction(JUMP_IF_EQUAL, behind as u8 + 2, 0, number),
            Step::Allow => instruction(JUMP, 0, 0, behind as u32 + 1),
        }
    }));
    program.push(instruction(RETURN, 0, 0, ERROR | libc::EPERM.cast_unsigned()));
    program.push(instruction(RETURN, 0, 0, ALLOW));
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

/// All numbers that are not simply allowed, sorted, and whether each is refused.
fn known(refused: &[c_long], by_arguments: &[c_long]) -> Vec<(u32, bool)> {
    let number = |number: &c_long| u32::try_from(*number).ok();
    let refused = refused.iter().filter_map(number).map(|number| (number, true));
    let mut known: Vec<(u32, bool)> =
        refused.chain(by_arguments.iter().filter_map(number).map(|number| (number, false))).collect();
    known.sort_unstable();
    known
}

fn search(known: &[(u32, bool)]) -> Vec<Step> {
    if known.len() <= FEW {
        let step = |&(number, is_refused): &(u32, bool)| {
            if is_refused { Step::Refuse { number } } else { Step::FallThrough { number } }
        };
        return known.iter().map(step).chain([Step::Allow]).collect();
    }
    let (lower, upper) = known.split_at(known.len() / 2);
    let mut steps = search(lower);
    steps.insert(0, Step::AtLeast { number: upper[0].0, skipped: steps.len() as u8 });
    steps.extend(search(upper));
    steps
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program's verdict on a call of an interface; `None` if the call falls through.
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
    fn exactly_the_refused_calls_are_refused_and_those_with_rules_fall_through() {
        const REFUSED: u32 = ERROR | libc::EPERM as u32;
        const NO_SUCH: u32 = ERROR | libc::ENOSYS as u32;
        let own = own_interface();
        for count in 0..80 {
            let refused: Vec<c_long> = (0..count).map(|number| number * 7 % 601).collect();
            let by_arguments: Vec<c_long> = (0..count / 8).map(|number| number * 61 % 601 + 1000).collect();
            let program = program(&refused, &by_arguments);
            for number in (0..1700).filter(|number| ![libc::SYS_clone3, libc::SYS_openat2].contains(number)) {
                let expected = match number {
                    number if refused.contains(&number) => Some(REFUSED),
                    number if by_arguments.contains(&number) => None,
                    _ => Some(ALLOW),
                };
                let number = number.try_into().unwrap();
                assert_eq!(answer(&program, own, number), expected, "{number} of {count}");
                assert_eq!(answer(&program, own ^ 1, number), None, "of another interface");
            }
            for absent in ABSENT.into_iter().chain([X32, X32 + 41, u32::MAX]) {
                assert_eq!(answer(&program, own, absent), Some(NO_SUCH));
            }
        }
    }
}
