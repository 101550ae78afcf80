//! Reads the records of a text one by one: counts lines, skips blank ones, reads oversize records by the slow path.

use super::decode::Text;
use super::giant::{GiantLimits, GiantRecord, read_giant};
use super::report::{ReadReport, RepairKind};
use super::sniff::is_blank_record;
use super::split::{Found, LineEnd, Span, Splitter};

/// A record longer than this is read by the slow path.
const GIANT_BYTES: usize = 8 << 20;

/// What comes next in the text.
pub(super) enum Step {
    /// A record whose cells are [`Records::spans`] of [`Records::window`], until the next step.
    Row,
    /// A record that does not fit the window.
    Giant(Box<GiantRecord>),
    End,
}

/// How often something occurred, and the line of its first occurrence.
#[derive(Default, Clone, Copy)]
pub(super) struct Count {
    count: u64,
    first_line: u64,
}

impl Count {
    #[inline]
    pub(super) fn add(&mut self, count: u64, line: u64) {
        if self.count == 0 {
            self.first_line = line;
        }
        self.count += count;
    }

    pub(super) fn note(self, kind: RepairKind, report: &mut ReadReport) {
        report.set(kind, self.count, Some(self.first_line));
    }
}

/// The records of a delimited text.
pub(super) struct Records {
    text: Text,
    splitter: Splitter,
    spans: Vec<Span>,
    limits: GiantLimits,
    /// Bytes and lines of the current record, skipped by the next step.
    pending: (usize, u64),
    line: u64,
    blank: Count,
    unclosed: Count,
    endless: Count,
    line_ends: [Count; 3],
}

impl Records {
    /// Reads from the text's current position, which is on `line` (from 1).
    pub(super) fn new(text: Text, splitter: Splitter, line: u64, limits: GiantLimits) -> Self {
        let (blank, unclosed, endless) = Default::default();
        let (spans, line_ends) = Default::default();
        Records { text, splitter, spans, limits, pending: (0, 0), line, blank, unclosed, endless, line_ends }
    }

    pub(super) fn window(&self) -> &[u8] {
        self.text.window()
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The line on which the current record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Sets how many cells a row should have.
    pub(super) fn expect_cells(&mut self, cells: usize) {
        self.splitter.expected_cells = cells;
    }

    /// The text of a span, in `scratch` where quotes had to be resolved.
    #[inline]
    pub(super) fn cell<'a>(&'a self, span: Span, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let cell = &self.text.window()[span.start..span.end];
        if !span.quoted {
            return cell;
        }
        scratch.clear();
        self.splitter.unquote(cell, scratch);
        scratch
    }

    /// Advances to the next record that is not blank.
    #[inline]
    pub(super) fn step(&mut self) -> Step {
        loop {
            self.text.consume(self.pending.0);
            self.line += self.pending.1;
            self.pending = (0, 0);
            let unclosed = self.splitter.unclosed_quotes;
            match self.splitter.record(self.text.window(), self.text.at_end(), &mut self.spans) {
                Found::Record { next, end } => {
                    self.pending = (next, self.lines_of(next));
                    if self.spans.len() == 1 && is_blank_record(&self.spans, self.text.window()) {
                        // An empty last line without a line end does not count.
                        self.blank.add(u64::from(end != LineEnd::Text), self.line);
                        continue;
                    }
                    if end == LineEnd::Text {
                        // Where a stream ends early, its last record is incomplete.
                        return if self.text.damage().is_some() { Step::End } else { self.note_quotes(unclosed) };
                    }
                    self.line_ends[end as usize].add(1, self.line);
                    return self.note_quotes(unclosed);
                }
                Found::Nothing => return Step::End,
                Found::NeedMore => {
                    self.splitter.unclosed_quotes = unclosed;
                    if self.text.window().len() >= GIANT_BYTES {
                        return self.giant();
                    }
                    self.text.fill();
                }
            }
        }
    }

    #[inline]
    fn note_quotes(&mut self, before: u64) -> Step {
        self.unclosed.add(self.splitter.unclosed_quotes - before, self.line);
        Step::Row
    }

    #[inline]
    fn lines_of(&self, next: usize) -> u64 {
        if !self.splitter.met_quote {
            return 1;
        }
        (memchr::memchr_iter(b'\n', &self.text.window()[..next]).count() as u64).max(1)
    }

    #[cold]
    fn giant(&mut self) -> Step {
        let record = read_giant(&mut self.text, &self.splitter, self.limits);
        self.pending = (0, record.lines.max(1));
        if record.unclosed {
            self.endless.add(1, self.line);
        }
        if self.text.at_end() && self.text.damage().is_some() && self.text.window().is_empty() {
            return Step::End;
        }
        Step::Giant(Box::new(record))
    }

    /// Roughly how many bytes of the file come before the current record, and how many the file has.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.text.passed_bytes(), self.text.file_bytes())
    }

    /// Why the text has no record.
    pub(super) fn reason_for_no_record(&self) -> String {
        let damage = self.text.damage().map(|why| format!("damaged compressed stream: {why}"));
        damage.unwrap_or_else(|| "no text in it".into())
    }

    /// Writes the counts so far into `report`.
    pub(super) fn note(&self, report: &mut ReadReport) {
        self.text.note(report);
        self.blank.note(RepairKind::BlankLines, report);
        self.unclosed.note(RepairKind::UnclosedQuotes, report);
        let mut line_ends = self.line_ends;
        line_ends.sort_by_key(|count| count.count);
        let mut odd = line_ends[1];
        odd.add(line_ends[0].count, line_ends[0].first_line);
        odd.note(RepairKind::MixedLineEnds, report);
        if self.endless.count > 0 && report.count(RepairKind::DamagedData) == 0 {
            let reason = "a quoted cell of many megabytes runs to the end of the file";
            report.add_damage(RepairKind::DamagedData, reason, Some(self.endless.first_line));
        }
    }
}
