//! The table of messages, and texts recognised by the template that made them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Parts of parts that are looked at.
const DEPTH: usize = 5;
/// What stands between sentences of an answer, and in Chinese.
const BETWEEN_SENTENCES: (&str, &str) = ("; ", "；");
/// What stands between parts of a sentence, and in Chinese.
const BETWEEN_PARTS: (&str, &str) = (", ", "，");
const BETWEEN_LAST_PARTS: (&str, &str) = (" and ", "和 ");

/// The line of the table after which the sentences of answers come, and the one after which parts of sentences come.
/// Messages, which come before both, are looked up as they stand; these are matched as templates.
pub const SENTENCES: &str = "#\tsentences\n";
pub const PARTS: &str = "#\tparts\n";

pub static CHINESE: LazyLock<Messages> = LazyLock::new(|| Messages::read(include_str!("chinese.tsv")));

/// A table of messages.
pub struct Messages {
    names: HashMap<&'static str, &'static str>,
    sentences: Vec<Template>,
    parts: Vec<Template>,
}

/// A text with something filled in.
struct Template {
    /// What stands around it.
    around: Vec<&'static str>,
    form: &'static str,
    /// Whether what is filled in is never several parts.
    is_part: bool,
}

impl Messages {
    /// Lines of English, a tab, and the translation: messages, then sentences of answers, then their parts.
    fn read(lines: &'static str) -> Self {
        let (_, others) = lines.split_once(SENTENCES).unwrap_or((lines, ""));
        let (sentences, parts) = others.split_once(PARTS).unwrap_or((others, ""));
        let templates = |lines: &'static str, is_part: bool| {
            let of =
                |(english, form): (&'static str, _)| Template { around: english.split("{}").collect(), form, is_part };
            let mut templates: Vec<Template> = rows(lines).into_iter().map(of).collect();
            // The more there is around what is filled in, the less else it can be.
            templates.sort_by_key(|template| std::cmp::Reverse(template.around.concat().len()));
            templates
        };
        Self {
            names: rows(lines).into_iter().collect(),
            sentences: templates(sentences, false),
            parts: templates(parts, true),
        }
    }

    /// The translation of a message as it stands in the code.
    pub fn exact(&self, english: &str) -> Option<&'static str> {
        self.names.get(english).copied()
    }

    pub fn counted(&self, number: u64, thing: &str) -> String {
        match self.exact(&format!("# {thing}")) {
            Some(form) => form.replacen('#', &number.to_string(), 1),
            None => lakeward_core::text::counted(number, thing),
        }
    }

    /// A sentence of an answer, or several one after the other; none where the first is not known.
    pub fn translated(&self, text: &str) -> Option<String> {
        // What words were taken for stands behind what is done.
        if let Some((done, taken)) = text.strip_suffix(')').and_then(|text| text.split_once(" (`"))
            && let Some(done) = self.translated(done)
        {
            let taken = format!("`{taken}");
            return Some(format!("{done}（{}）", self.translated(&taken).unwrap_or(taken)));
        }
        let one = |text: &str| self.one_of(&self.sentences, text, DEPTH);
        one(text).or_else(|| self.several(text, BETWEEN_SENTENCES, &one))
    }

    /// A part of a sentence, or the text as it is.
    pub fn part_of(&self, text: &str) -> String {
        self.part(text, DEPTH).unwrap_or_else(|| text.to_string())
    }

    fn one_of(&self, templates: &[Template], text: &str, depth: usize) -> Option<String> {
        templates.iter().find_map(|template| {
            let parts = template.parts_of(text)?;
            let mut is_known = true;
            let filled = fill_form(template.form, &mut |place, hole| {
                let part = parts.get(place).copied().unwrap_or_default();
                let message = match hole {
                    Hole::Text => None,
                    Hole::Number => is_number(part).then(|| part.to_string()),
                    Hole::Name => self.exact(part).map(str::to_string),
                    Hole::Part | Hole::Known => depth.checked_sub(1).and_then(|depth| self.part(part, depth)),
                };
                is_known &= matches!(hole, Hole::Text | Hole::Part) || message.is_some();
                message.unwrap_or_else(|| part.to_string())
            });
            is_known.then_some(filled)
        })
    }

    /// What is filled in where a part or a sentence is.
    fn part(&self, text: &str, depth: usize) -> Option<String> {
        let one = |text: &str| {
            let sentence = self.one_of(&self.sentences, text, depth);
            sentence.or_else(|| self.one_of(&self.parts, text, depth))
        };
        let several = |between| self.several(text, between, &one);
        let listed = || [BETWEEN_SENTENCES, BETWEEN_PARTS].into_iter().find_map(several);
        several(BETWEEN_LAST_PARTS).or_else(|| one(text)).or_else(listed)
    }

    /// Texts one after the other, of which the first is known; what is not known stays as it is.
    fn several(&self, text: &str, between: (&str, &str), one: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let (at, first) = text.match_indices(between.0).find_map(|(at, _)| Some((at, one(&text[..at])?)))?;
        let rest = &text[at + between.0.len()..];
        // One that is not known may be followed by others.
        let skipped = || {
            let (unknown, others) = rest.split_once(between.0)?;
            let others = one(others).or_else(|| self.several(others, between, one))?;
            Some(format!("{unknown}{}{others}", between.1))
        };
        let rest =
            one(rest).or_else(|| self.several(rest, between, one)).or_else(skipped).unwrap_or_else(|| rest.into());
        Some(format!("{first}{}{rest}", between.1))
    }
}

impl Template {
    /// What is filled in, where it made all of `text`. That is never several sentences, and never ends before what closes it.
    fn parts_of<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, others) = self.around.split_first()?;
        let mut rest = text.strip_prefix(first)?;
        let Some((last, middle)) = others.split_last() else { return rest.is_empty().then(Vec::new) };
        let mut parts = Vec::with_capacity(others.len());
        for text in middle {
            let (part, behind) = rest.split_once(text)?;
            parts.push(part);
            rest = behind;
        }
        parts.push(rest.strip_suffix(last)?);
        let is_one = |(part, behind): (&&str, &&str)| {
            let is_several = part.contains(BETWEEN_SENTENCES.0)
                || (self.is_part && part.contains(BETWEEN_LAST_PARTS.0))
                || (behind.starts_with(')') && part.contains("), "));
            !part.is_empty() && !is_several
        };
        parts.iter().zip(others).all(is_one).then_some(parts)
    }
}

/// The rows of a table without what is for its readers.
pub fn rows(lines: &str) -> Vec<(&str, &str)> {
    lines.lines().filter(|line| !line.starts_with("#\t")).filter_map(|line| line.split_once('\t')).collect()
}

/// `form` with its `{}`, or `{2}` where the order is another, filled in.
pub fn filled(form: &str, part: &mut dyn FnMut(usize) -> String) -> String {
    fill_form(form, &mut |place, _| part(place))
}

/// What is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    Text,
    /// `{*}`: a part, or a text as it is.
    Part,
    /// `{!}`: a part; else the template made another text.
    Known,
    /// `{=}`: a message; else the template made another text.
    Name,
    /// `{#}`: a number; else the template made another text.
    Number,
}

fn is_number(text: &str) -> bool {
    text.chars().all(|sign| sign.is_ascii_digit() || sign == '.')
}

/// The same, where `part` is told what is filled in.
fn fill_form(form: &str, part: &mut dyn FnMut(usize, Hole) -> String) -> String {
    let (mut text, mut rest, mut next) = (String::new(), form, 0);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((inside, after)) = behind.split_once('}') else { break };
        let number = inside.trim_end_matches(['*', '!', '=', '#']);
        let hole = match &inside[number.len()..] {
            "*" => Hole::Part,
            "!" => Hole::Known,
            "=" => Hole::Name,
            "#" => Hole::Number,
            _ => Hole::Text,
        };
        let place = number.parse::<usize>().map_or(next, |number| number.saturating_sub(1));
        next = place + 1;
        text.push_str(before);
        text.push_str(&part(place, hole));
        rest = after;
    }
    text.push_str(rest);
    text
}
