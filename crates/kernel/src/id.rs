//! Typed numbers of things, and vectors that only they index.
//!
//! `id!` declares the type of a number that names something, and `IdVec<Id, T>` is indexed by it
//! alone. A crate for that would bring more than these lines.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The number of a thing in the vectors that hold something about each: see [`id!`](crate::id).
pub trait Id: Copy {
    /// The thing at a place.
    fn at(index: usize) -> Self;

    /// The place of the thing.
    fn index(self) -> usize;
}

/// Declares a typed number: a struct around a `u32` that is an [`Id`].
#[macro_export]
macro_rules! id {
    ($(#[$meta:meta])* $visibility:vis $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub u32);

        impl $crate::Id for $name {
            #[inline]
            fn at(index: usize) -> Self {
                Self(index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// A vector with an element for each id. It is a slice for everything but indexing, which takes an
/// id, so that the number of a flow never finds a node.
pub struct IdVec<I, T> {
    all: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// A vector without elements.
    pub const fn new() -> Self {
        Self { all: Vec::new(), ids: PhantomData }
    }

    /// A vector with `len` elements, made from their ids.
    pub fn from_fn(len: usize, make: impl FnMut(I) -> T) -> Self {
        (0..len).map(I::at).map(make).collect()
    }

    /// A vector with the same value for `len` ids.
    pub fn filled(len: usize, value: T) -> Self
    where
        T: Clone,
    {
        vec![value; len].into()
    }

    /// Appends an element and returns its id.
    pub fn push(&mut self, element: T) -> I {
        self.all.push(element);
        I::at(self.all.len() - 1)
    }

    /// The element of an id, if there is one.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.all.get(id.index())
    }

    /// The element of an id, to change it, if there is one.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.all.get_mut(id.index())
    }

    /// The element of an id; the vector grows up to it.
    #[inline]
    pub fn grown(&mut self, id: I) -> &mut T
    where
        T: Default,
    {
        if self.all.len() <= id.index() {
            self.grow(id);
        }
        &mut self.all[id.index()]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, id: I)
    where
        T: Default,
    {
        self.all.resize_with(id.index() + 1, T::default);
    }

    /// The id of the first element for which this is true.
    #[inline]
    pub fn find(&self, is_it: impl FnMut(&T) -> bool) -> Option<I> {
        self.all.iter().position(is_it).map(I::at)
    }

    /// The ids of all elements, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.all.len()).map(I::at)
    }

    /// All elements with their ids, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.all.iter().enumerate().map(|(index, element)| (I::at(index), element))
    }

    /// All elements with their ids, in order, to change them.
    pub fn entries_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        self.all.iter_mut().enumerate().map(|(index, element)| (I::at(index), element))
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.all[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.all[id.index()]
    }
}

impl<I, T> Deref for IdVec<I, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.all
    }
}

impl<I, T> DerefMut for IdVec<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(all: Vec<T>) -> Self {
        Self { all, ids: PhantomData }
    }
}

impl<I, T, const N: usize> From<[T; N]> for IdVec<I, T> {
    fn from(all: [T; N]) -> Self {
        Vec::from(all).into()
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(elements: A) -> Self {
        elements.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter_mut()
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        self.all.clone().into()
    }
}

impl<I, T: PartialEq> PartialEq for IdVec<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    id! {
        /// A door.
        DoorId
    }

    #[test]
    fn ids_find_their_elements() {
        let mut doors = IdVec::new();
        let (first, second) = (doors.push("oak"), doors.push("steel"));
        assert_eq!((first, second), (DoorId(0), DoorId(1)));
        doors[first] = "glass";
        assert_eq!((doors[first], doors[second]), ("glass", "steel"));
        assert_eq!(doors.get(DoorId(2)), None);
        assert_eq!(doors.find(|door| door.len() == 5), Some(first));
        assert_eq!(doors.ids().rev().collect::<Vec<_>>(), [second, first]);
        assert_eq!(doors.entries().next_back(), Some((second, &"steel")));
    }

    #[test]
    fn it_is_made_from_ids_and_read_as_a_slice() {
        let tens = IdVec::from_fn(3, |DoorId(number)| 10 * number);
        assert_eq!(tens.to_vec(), [0, 10, 20]);
        assert_eq!(tens.iter().sum::<u32>(), 30);
        let mut marks = IdVec::<DoorId, _>::filled(2, 'x');
        *marks.grown(DoorId(3)) = 'o';
        assert_eq!(marks, ['x', 'x', '\0', 'o'].into());
    }
}
