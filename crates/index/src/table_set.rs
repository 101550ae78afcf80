//! Sets of tables of one snapshot, with one bit per table.

use std::ops::Range;

use super::open::TableRef;

/// Tables of the opened segments; sets made by the index never contain removed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSet {
    /// Position of each segment's first table, and the end of the last segment.
    starts: Vec<usize>,
    bits: Vec<u64>,
}

impl TableSet {
    /// The empty set for segments with these numbers of tables.
    pub fn empty(tables: impl IntoIterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        let mut end: usize = 0;
        for count in tables {
            // Each segment begins with a new word of bits.
            end += count.next_multiple_of(64);
            starts.push(end);
        }
        Self { starts, bits: vec![0; end / 64] }
    }

    /// The position of a table in arrays of [`capacity`](Self::capacity) elements; `None` for a table of another snapshot.
    #[inline]
    pub fn place(&self, table: TableRef) -> Option<usize> {
        let start = *self.starts.get(table.segment as usize)?;
        let end = *self.starts.get(table.segment as usize + 1)?;
        Some(start + table.table as usize).filter(|place| *place < end)
    }

    /// The table at position `place`.
    #[inline]
    pub fn at(&self, place: usize) -> TableRef {
        let segment = self.starts.partition_point(|start| *start <= place).saturating_sub(1);
        TableRef { segment: segment as u32, table: (place - self.starts[segment]) as u32 }
    }

    /// One more than the greatest possible position.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.bits.len() * 64
    }

    /// The positions of the tables of one segment, and some behind them that no table has; none for a segment of another snapshot.
    pub fn places_of(&self, segment: u32) -> Range<usize> {
        let words = self.words_of(segment);
        words.start * 64..words.end * 64
    }

    /// Adds a table; a table of another snapshot is ignored.
    #[inline]
    pub fn insert(&mut self, table: TableRef) {
        if let Some(place) = self.place(table) {
            self.bits[place / 64] |= 1 << (place % 64);
        }
    }

    /// Adds tables of one segment; numbers that do not exist in it are ignored.
    pub fn insert_numbers(&mut self, segment: u32, tables: &[u32]) {
        let bits = self.words_of(segment);
        let bits = &mut self.bits[bits];
        for table in tables {
            if let Some(word) = bits.get_mut(*table as usize / 64) {
                *word |= 1 << (table % 64);
            }
        }
    }

    /// Adds the tables of one segment that have what is asked for by `values`, one for each table from the first on.
    #[inline]
    pub fn insert_where<T>(&mut self, segment: u32, values: &[T], has: impl Fn(&T) -> bool) {
        let words = self.words_of(segment);
        for (word, values) in self.bits[words].iter_mut().zip(values.chunks(64)) {
            for (bit, value) in values.iter().enumerate() {
                *word |= u64::from(has(value)) << bit;
            }
        }
    }

    /// The numbers of its tables of one segment, ascending.
    pub fn numbers(&self, segment: u32) -> impl Iterator<Item = u32> + '_ {
        ones(&self.bits[self.words_of(segment)]).map(|place| place as u32)
    }

    /// Number of its tables in one segment.
    pub fn len_in(&self, segment: u32) -> usize {
        self.bits[self.words_of(segment)].iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The bits of a segment; an empty range for one of another snapshot.
    fn words_of(&self, segment: u32) -> Range<usize> {
        match self.starts.get(segment as usize..=segment as usize + 1) {
            Some([start, end]) => start / 64..end / 64,
            _ => 0..0,
        }
    }

    /// Removes a table.
    #[inline]
    pub fn remove(&mut self, table: TableRef) {
        if let Some(place) = self.place(table) {
            self.bits[place / 64] &= !(1 << (place % 64));
        }
    }

    /// Removes the table at position `place`.
    #[inline]
    pub fn remove_place(&mut self, place: usize) {
        if let Some(word) = self.bits.get_mut(place / 64) {
            *word &= !(1 << (place % 64));
        }
    }

    /// Whether a table is in it.
    #[inline]
    pub fn contains(&self, table: TableRef) -> bool {
        self.place(table).is_some_and(|place| self.contains_place(place))
    }

    /// Whether the table at position `place` is in it.
    #[inline]
    pub fn contains_place(&self, place: usize) -> bool {
        self.bits.get(place / 64).is_some_and(|word| word & 1 << (place % 64) != 0)
    }

    /// Number of tables in it.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no table is in it.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// Removes all tables.
    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// Keeps only tables that are also in `other`, a set of the same snapshot.
    pub fn intersect(&mut self, other: &TableSet) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word &= other);
    }

    /// Removes all tables of `other`, a set of the same snapshot.
    pub fn subtract(&mut self, other: &TableSet) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word &= !other);
    }

    /// Adds all tables of `other`, a set of the same snapshot.
    pub fn unite(&mut self, other: &TableSet) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word |= other);
    }

    /// Moves the tables that `other` has, or those that it has not, to a third set of the same snapshot.
    pub fn move_where(&mut self, other: &TableSet, has: bool, to: &mut TableSet) {
        for ((word, other), to) in self.bits.iter_mut().zip(&other.bits).zip(&mut to.bits) {
            let moved = *word & if has { *other } else { !*other };
            *word &= !moved;
            *to |= moved;
        }
    }

    /// The positions of its tables, ascending.
    #[inline]
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        ones(&self.bits)
    }

    /// The positions of its tables among `places`, which begin and end at multiples of 64, ascending.
    #[inline]
    pub fn places_within(&self, places: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        ones(self.bits_within(&places)).map(move |place| places.start + place)
    }

    /// Number of its tables among `places`, which begin and end at multiples of 64.
    pub fn len_within(&self, places: Range<usize>) -> usize {
        self.bits_within(&places).iter().map(|word| word.count_ones() as usize).sum()
    }

    fn bits_within(&self, places: &Range<usize>) -> &[u64] {
        let words = places.start / 64..(places.end / 64).min(self.bits.len());
        self.bits.get(words).unwrap_or_default()
    }

    /// Its tables, by segment and number.
    pub fn tables(&self) -> impl Iterator<Item = TableRef> + '_ {
        self.places().map(|place| self.at(place))
    }
}

#[inline]
fn ones(bits: &[u64]) -> Ones<'_> {
    let (word, rest) = bits.split_first().map_or((0, bits), |(word, rest)| (*word, rest));
    Ones { word, start: 0, rest: rest.iter() }
}

/// The positions of the bits that are 1. A loop of its own: what `flat_map` passes to itself is not inlined in every build, and this is gone through
/// ten million times.
struct Ones<'a> {
    /// Bits that are left of the word at hand, whose first one is at `start`.
    word: u64,
    start: usize,
    rest: std::slice::Iter<'a, u64>,
}

impl Iterator for Ones<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.rest.next()?;
            self.start += 64;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.start + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_what_it_was_given() {
        let mut set = TableSet::empty([70, 0, 3]);
        let table = |segment, table| TableRef { segment, table };
        for given in [table(0, 0), table(0, 69), table(2, 2), table(1, 0), table(7, 1), table(2, 64)] {
            set.insert(given);
        }
        assert_eq!(set.tables().collect::<Vec<_>>(), [table(0, 0), table(0, 69), table(2, 2)]);
        assert!(set.contains(table(2, 2)) && !set.contains(table(2, 1)) && set.len() == 3);
        let mut other = set.clone();
        other.remove(table(0, 0));
        set.intersect(&other);
        assert_eq!((set.len(), set.capacity()), (2, 192));
        let (mut rest, mut moved) = (set.clone(), TableSet::empty([70, 0, 3]));
        let first = other.clone();
        rest.move_where(&first, false, &mut moved);
        assert_eq!((rest.len(), moved.len()), (2, 0));
        rest.move_where(&first, true, &mut moved);
        assert_eq!((rest.len(), &moved), (0, &set));
        assert!(TableSet::empty([]).is_empty());
        set.insert_numbers(0, &[3, 64, 69, 500]);
        set.insert_numbers(9, &[1]);
        assert_eq!(set.numbers(0).collect::<Vec<_>>(), [3, 64, 69]);
        assert_eq!([0, 1, 2, 9].map(|segment| set.len_in(segment)), [3, 0, 1, 0]);
        set.insert_where(0, &(0..70).collect::<Vec<_>>(), |table| table % 23 == 0);
        assert_eq!(set.numbers(0).collect::<Vec<_>>(), [0, 3, 23, 46, 64, 69]);
        assert_eq!([0, 1, 2, 9].map(|segment| set.places_of(segment)), [0..128, 128..128, 128..192, 0..0]);
        assert_eq!(set.places_within(64..1024).collect::<Vec<_>>(), [64, 69, 130]);
        assert_eq!(
            (set.places_within(1024..2048).count(), set.len_within(64..1024), set.len_within(64..128)),
            (0, 3, 2)
        );
    }
}
