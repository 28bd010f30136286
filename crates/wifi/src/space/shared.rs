//! Values by number, each of which remains as long as it is used.
//!
//! The lists of receivers that transmissions share (`space/range.rs`) take at most 64 MiB beside
//! those in use.

/// Values with the number of their users. Unlike those of [`std::sync::Arc`], the counters are not
/// atomic, which cost 2 % of the time of a frame.
#[derive(Debug)]
pub(super) struct Shared<T> {
    values: Vec<(T, u32)>,
    free: Vec<u32>,
}

impl<T: Default> Shared<T> {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    /// Adds a value with one user. Returns its number.
    pub(super) fn add(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = (value, 1);
            return number;
        }
        self.values.push((value, 1));
        self.values.len() as u32 - 1
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize].0
    }

    /// A value has one more user. Returns its number.
    #[inline]
    pub(super) fn share(&mut self, number: u32) -> u32 {
        self.values[number as usize].1 += 1;
        number
    }

    /// A user no longer needs a value.
    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        let (value, users) = &mut self.values[number as usize];
        *users -= 1;
        if *users == 0 {
            *value = T::default();
            self.free.push(number);
        }
    }

    /// Whether a value has several users.
    pub(super) fn is_shared(&self, number: u32) -> bool {
        self.values[number as usize].1 > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_remains_until_its_last_user_releases_it() {
        let mut values = Shared::new();
        let (first, second) = (values.add("first"), values.add("second"));
        assert_eq!(values.share(first), first);
        assert!(values.is_shared(first) && !values.is_shared(second));
        values.release(first);
        assert_eq!((*values.get(first), *values.get(second)), ("first", "second"));
        values.release(first);
        assert_eq!(values.add("third"), first, "the number is used again");
        assert_eq!((*values.get(first), *values.get(second)), ("third", "second"));
    }
}
