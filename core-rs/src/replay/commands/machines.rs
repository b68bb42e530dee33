//! The state machines of one kind of command, by seq.
use crate::boundary::{CommandKind, CoreError};
use crate::error::{Result, codes, misuse, nondeterminism};
use crate::replay::event::{EventRef, Place, bad_event};

/// How many numbers a caller that counts by itself may leave out at once.
const MAX_SKIPPED: u32 = 100_000;

/// The seqs of one kind: each is given out once, ascending.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    last: u32,
}

impl Numbers {
    /// The last seq that was claimed.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// The seq of a new command: the next one, or the higher one that the caller asks for (0: none).
    pub fn claim(&mut self, wanted: u32) -> Result<u32> {
        let next = self.last.checked_add(1).ok_or_else(|| {
            misuse(codes::BAD_VALUE, "sequence numbers of commands are used up (32 bits): continue the workflow as new")
        })?;
        let seq = if wanted == 0 { next } else { wanted };
        if seq < next || seq - next > MAX_SKIPPED {
            return Err(misuse(codes::BAD_VALUE, format!("invalid seq {seq} of a command: the last one was {}", self.last)));
        }
        self.last = seq;
        Ok(seq)
    }
}

/// Machines by seq. A seq is claimed when the command is read; its machine is there from the end of the activation on, or stays
/// the default when the command was cut off behind a terminal one.
#[derive(Clone, Debug, Default)]
pub struct Machines<T> {
    pub numbers: Numbers,
    /// By seq - 1.
    machines: Vec<T>,
}

impl<T: Clone + Default> Machines<T> {
    /// The machine of a seq that has just been claimed.
    pub fn slot(&mut self, seq: u32) -> &mut T {
        let index = (seq as usize).saturating_sub(1);
        if self.machines.len() <= index {
            self.machines.resize(index + 1, T::default());
        }
        &mut self.machines[index]
    }

    pub fn get(&self, seq: u32) -> Option<&T> {
        self.machines.get((seq as usize).wrapping_sub(1))
    }

    /// The machine that workflow code names by its seq.
    pub fn named(&mut self, seq: u32, machine: &str, kind: CommandKind) -> Result<&mut T> {
        let index = (seq as usize).wrapping_sub(1);
        self.machines.get_mut(index).ok_or_else(|| missing(machine, seq).of_command(kind, seq))
    }

    /// The machine that an event is for. `what`: the kind, for the error.
    pub fn of_event(&mut self, seq: u32, at: EventRef, what: &str) -> Result<&mut T> {
        let index = (seq as usize).wrapping_sub(1);
        self.machines.get_mut(index).ok_or_else(|| bad_event(at, what))
    }
}

/// Workflow code names a seq that has no machine.
pub fn missing(machine: &str, seq: u32) -> Box<CoreError> {
    nondeterminism(codes::MISSING_MACHINE, format!("Missing associated machine for {machine}({seq})"))
}

#[cfg(test)]
mod tests {
    use super::Numbers;
    use crate::error::codes;

    #[test]
    fn seqs_rise_by_one_or_to_the_number_that_the_caller_counts() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.claim(0).unwrap(), 1);
        assert_eq!(numbers.claim(4).unwrap(), 4);
        assert_eq!(numbers.claim(0).unwrap(), 5);
        for wanted in [5, 1, u32::MAX] {
            assert_eq!(numbers.claim(wanted).unwrap_err().code, codes::BAD_VALUE);
        }
        assert_eq!(numbers.last(), 5);
        numbers.last = u32::MAX;
        assert_eq!(numbers.claim(0).unwrap_err().code, codes::BAD_VALUE);
    }
}
