//! The commands of the REPL.

use std::path::Path;

use super::command::{COMMANDS, Pick, Slash, SqlOf, description};
use super::{Repl, Status};
use crate::cli::args::CiteFormat;
use crate::cli::printer::{self, conversation, recommendation};
use crate::cli::{cite, profile, replay, search, sessions};
use crate::messages::{fill, in_language, say};
use lakeward::documents::{CiteDocument, Document, JoinDocument, ModelCost, TableList};
use lakeward_agent::Request;
use lakeward_agent::recommend::{Question, Recommendation};
use lakeward_agent::session::transcript;
use lakeward_core::error::{Error, Result};
use lakeward_core::listing::Listed;
use lakeward_core::message;
use lakeward_core::request::{Input, OperationKind};
use lakeward_index::LakeIndex;
use lakeward_lake::location::Location;
use lakeward_operate::{Limits, PreviewLimits};
use lakeward_search::QueryTable;
use lakeward_search::cite::Gate;

/// Tables shown after a turn or a search.
const TABLES: usize = 10;
/// No number of what is listed is greater.
const LONGEST_LIST: usize = 99;

impl Repl<'_> {
    /// Answers a request.
    pub(super) fn ask(&mut self, text: String) -> Result<Status> {
        let request = Request { text, ..Request::default() };
        let traced = self.traces.is_some();
        let (session, answer, provenance, trace) = self.on_worker(move |agent, mut session| {
            if traced {
                let trace = agent.trace(&mut session, &request)?;
                return Ok((session, trace.answer.clone(), trace.provenance.clone(), Some(trace)));
            }
            let (answer, provenance) = agent.traced_turn(&mut session, &request)?;
            Ok((session, answer.into_inner(), provenance, None))
        })?;
        let answer = self.lakeward.gate().admit(answer)?;
        self.session = session;
        self.cost = provenance.model.as_ref().map(ModelCost::of);
        let saved = self.save();
        // A question about records leaves the list as it is.
        if answer.facts.is_empty() {
            self.listed = answer.tables.iter().map(|table| table.table.clone()).collect();
        }
        if self.arguments.json {
            printer::json_line(&answer)?;
        } else {
            recommendation::screen(&answer);
        }
        saved?;
        if let (Some(folder), Some(trace)) = (&self.traces, trace) {
            let turn = self.session.next_turn() - 1;
            let file = folder.join(format!("{}-turn-{turn:04}.json", self.session.id));
            replay::write(&trace, replay::create(&file)?)?;
        }
        if let Some(cost) = &self.cost {
            self.say(&conversation::model_cost(cost));
        }
        if answer.carry_out {
            return self.run(Some(1), None);
        }
        self.say(&what_next(&answer));
        let is_answered = !answer.tables.is_empty() || !answer.facts.is_empty();
        Ok(if is_answered { Status::Done } else { Status::NothingFound })
    }

    /// Prints how to cite a dataset, else all of the list.
    fn cite(&self, pick: Option<Pick>) -> Result<Status> {
        let ids = match pick {
            Some(Pick::Named(name)) => vec![name],
            Some(pick) => match self.input(&pick)? {
                Input::Table(id) => vec![id],
                _ => return Err(Error::usage("only tables and records can be cited")),
            },
            None if self.listed.is_empty() => {
                return Err(Error::usage(message!("cite what? give an id or an identifier, or ask first")));
            }
            None => self.listed.clone(),
        };
        let document = CiteDocument::of(&self.lakeward, &ids)?;
        match self.arguments.json {
            true => printer::json_line(&document)?,
            false => cite::show(self.arguments, CiteFormat::Text, &document)?,
        }
        Ok(match (document.citations.is_empty(), document.unknown.is_empty()) {
            (true, _) => Status::NothingFound,
            (false, true) => Status::Done,
            (false, false) => Status::InPart,
        })
    }

    /// A number alone: the answer to the open question.
    pub(super) fn number(&mut self, number: usize) -> Result<Status> {
        let choices = self.latest().and_then(open_question).map(|question| question.choices.len());
        match choices {
            Some(choices) if (1..=choices).contains(&number) => self.ask(number.to_string()),
            Some(0) => Err(Error::usage("the question has no answers to choose from; answer in your own words")),
            Some(choices) => Err(Error::usage(message!("the question has the answers 1 to {}", choices))),
            // A year, a value: no list is so long.
            None if number > LONGEST_LIST => self.ask(number.to_string()),
            None => {
                let form = "no question is open for {} to answer; `/why {}`, `/accept {}` and `/use {}` mean table {}, `/run {}` runs operation {}";
                printer::line(&fill(form, &[number.to_string().as_str(); 7]));
                Ok(Status::Done)
            }
        }
    }

    pub(super) fn command(&mut self, slash: Slash) -> Result<Status> {
        match slash {
            Slash::Use(None) => self.print_working(),
            Slash::Use(Some(pick)) => self.work_on(&pick),
            Slash::Tables(text) => self.tables(text.as_deref().unwrap_or_default()),
            Slash::Join(words) => self.join(&words),
            Slash::Union(pick) => self.union(pick.as_ref()),
            Slash::Accept(pick) => self.choose(&pick, true),
            Slash::Reject(pick) => self.choose(&pick, false),
            Slash::Cite(pick) => self.cite(pick),
            Slash::Why(number) => self.why(number),
            Slash::Sql(SqlOf::Operation(number)) => self.sql_of(number),
            Slash::Sql(SqlOf::Query(query)) => self.query(&query),
            Slash::Run(number, keys) => self.run(number, keys),
            Slash::Plan(number) => self.plan(number),
            Slash::Edit(edit) => self.edit(&edit),
            Slash::Undo => self.undo(false),
            Slash::Redo => self.undo(true),
            Slash::Save(name) => self.save_as(name.as_deref()),
            Slash::Sessions => sessions::list(self.arguments, &self.store),
            Slash::Resume(id) => self.resume(&id),
            Slash::Memory(what) => self.remember(what),
            Slash::Budget => self.budget(),
            Slash::Export(file) => self.export(Path::new(&file)),
            Slash::Help(command) => help(command.as_deref()),
            Slash::Quit => Ok(Status::Done),
        }
    }

    pub(super) fn latest(&self) -> Option<&Recommendation> {
        self.session.latest()?.recommendation.as_ref()
    }

    /// Resets the numbered list to the tables of the latest answer.
    pub(super) fn list_latest(&mut self) {
        self.listed = self.session.latest().map(|turn| turn.tables.clone()).unwrap_or_default();
    }

    pub(super) fn table_names(&self) -> Result<Vec<String>> {
        let ids = self.lakeward.index().tables().map(|table| self.lakeward.index().id(table).map(str::to_string));
        let mut ids = ids.collect::<Result<Vec<_>>>()?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Columns of the working table, if known without reading a file.
    pub(super) fn working_columns(&self) -> Vec<String> {
        match self.session.working() {
            Some(Input::Table(id)) => columns_of(self.lakeward.index(), &id).unwrap_or_default(),
            Some(Input::Step(number)) => self.session.step(number).map(|step| step.columns.clone()).unwrap_or_default(),
            Some(Input::File(_)) => self.file_columns.clone(),
            None => Vec::new(),
        }
    }

    /// The input that `pick` names: a number in the latest list, `step 2`, an id or a file.
    fn input(&self, pick: &Pick) -> Result<Input> {
        let name = match pick {
            Pick::Named(name) => name,
            Pick::Number(number) => {
                let listed = number.checked_sub(1).and_then(|place| self.listed.get(place));
                return listed.map(|id| Input::Table(id.clone())).ok_or_else(|| match self.listed.len() {
                    0 => Error::usage(message!("there is no table {}: no list was shown yet", *number)),
                    count => Error::usage(message!("there is no table {}: the list has 1 to {}", *number, count)),
                });
            }
        };
        if let Some(number) = name.strip_prefix("step ").and_then(|number| number.trim().parse().ok()) {
            return match self.session.step(number) {
                Some(step) if step.undone => Err(Error::usage(message!("step {} was undone", number))),
                Some(_) => Ok(Input::Step(number)),
                None => Err(Error::usage(message!("there is no step {}", number))),
            };
        }
        match self.lakeward.index().find(name) {
            Err(Error::UnknownTable { .. }) if Location::of(Path::new(name)).is_table() => {
                let path = std::path::absolute(name).map_err(|error| Error::io("read", Path::new(name), error))?;
                Ok(Input::File(path.to_string_lossy().into_owned()))
            }
            outcome => outcome.map(|_| Input::Table(name.clone())),
        }
    }

    /// The table that `pick` names, else the working table.
    pub(super) fn input_or_working(&self, pick: Option<&Pick>) -> Result<Input> {
        let missing =
            || Error::usage(message!("there is no working table; name a table, or set one with `/use TABLE`"));
        pick.map_or_else(|| self.session.working().ok_or_else(missing), |pick| self.input(pick))
    }

    fn open(&mut self, input: Input) -> Result<QueryTable> {
        self.on_worker(move |agent, session| agent.open_input(&session, &input))
    }

    pub(super) fn print_working(&self) -> Result<Status> {
        let working = self.session.working().map_or(message!("none"), |input| transcript::input_name(&input));
        printer::safe_line(&fill("working table: {}", &[&in_language(&working)]));
        Ok(Status::Done)
    }

    fn work_on(&mut self, pick: &Pick) -> Result<Status> {
        let input = self.input(pick)?;
        let table = self.open(input.clone())?;
        let columns = table.entry.profile.columns.iter().map(|column| column.name.clone());
        self.file_columns = columns.collect();
        self.session.use_table(input);
        self.save()?;
        self.print_working()?;
        let rows = table.entry.profile.rows.to_string();
        self.say(&fill("{} rows; columns: {}", &[&rows, &self.file_columns.join(", ")]));
        Ok(Status::Done)
    }

    fn tables(&mut self, text: &str) -> Result<Status> {
        let list = TableList::containing(self.lakeward.index(), text)?;
        self.listed = list.tables.iter().map(|line| line.table.clone()).collect();
        profile::show(self.arguments, &list)
    }

    /// `/join`, `/join COLUMN`, `/join TABLE`, `/join TABLE COLUMN`.
    fn join(&mut self, words: &[String]) -> Result<Status> {
        let named = |word: &String| word.parse().map_or_else(|_| Pick::Named(word.clone()), Pick::Number);
        let (input, column) = match words {
            [] => (self.input_or_working(None)?, None),
            [word] => match (self.input(&named(word)), self.session.working()) {
                (Ok(input), _) => (input, None),
                // Not a table, so it is a column of the working table.
                (Err(_), Some(working)) => (working, Some(word)),
                (Err(error), None) => return Err(error),
            },
            [table, column, ..] => (self.input(&named(table))?, Some(column)),
        };
        let name = transcript::input_name(&input);
        let query = self.open(input)?;
        let columns = query.columns_named(column.map(std::slice::from_ref).unwrap_or_default())?;
        let started = std::time::Instant::now();
        let found = self.lakeward.join(&query, &columns, TABLES)?;
        let document = Document::new(name.into(), found.answers, started);
        self.listed = document.answers.iter().map(|answer| answer.table.clone()).collect();
        let status = search::status_of(&document.answers);
        if self.arguments.json {
            printer::json_line(&JoinDocument { found: document, composite_keys: Vec::new(), notes: found.notes })?;
            return Ok(status);
        }
        self.answers(&document);
        found.notes.iter().for_each(|note| printer::note(note));
        Ok(status)
    }

    fn union(&mut self, pick: Option<&Pick>) -> Result<Status> {
        let input = self.input_or_working(pick)?;
        let name = transcript::input_name(&input);
        let query = self.open(input)?;
        let started = std::time::Instant::now();
        let answers = self.lakeward.union(&query, TABLES)?;
        let document = Document::new(name.into(), answers, started);
        self.listed = document.answers.iter().map(|answer| answer.table.clone()).collect();
        let status = search::status_of(&document.answers);
        if self.arguments.json {
            printer::json_line(&document)?;
        } else {
            self.answers(&document);
        }
        Ok(status)
    }

    fn answers<A: Listed>(&self, document: &Document<A>) {
        printer::listing::answers(&document.answers, None::<&fn(&A) -> Vec<String>>);
        if !self.arguments.quiet {
            let next = say("`/accept N` accepts one, `/use N` makes it the working table");
            printer::after_answers(document.answers.len(), document.elapsed_ms, next);
        }
    }

    fn choose(&mut self, pick: &Pick, accepted: bool) -> Result<Status> {
        let Input::Table(table) = self.input(pick)? else {
            return Err(Error::usage("only tables of the lake can be accepted or rejected; `/use` takes others too"));
        };
        if accepted {
            self.session.accept(&table);
        } else {
            self.session.reject(&table);
        }
        self.save()?;
        printer::safe_line(&fill(if accepted { "accepted: {}" } else { "rejected: {}" }, &[&table]));
        if accepted && self.lakeward.agent().working(&self.session)? == Some(Input::Table(table)) {
            self.say(say("it is now the working table: `/join` and `/union` search from it"));
        }
        Ok(Status::Done)
    }

    fn why(&self, number: Option<usize>) -> Result<Status> {
        let Some(answer) = self.latest() else {
            return Err(Error::usage(message!("there is nothing to explain yet; ask for something first")));
        };
        // It may come from a session file, which is not trusted.
        let answer = &Gate::new(self.lakeward.index()).admit(answer.clone())?.into_inner();
        let Some(number) = number else {
            if self.arguments.json {
                printer::json_line(answer)?;
            } else {
                conversation::why_answer(answer);
            }
            return Ok(Status::Done);
        };
        let table = match self.input(&Pick::Number(number))? {
            Input::Table(id) => answer.tables.iter().find(|table| table.table == id).ok_or_else(|| {
                Error::usage(format!("`{id}` is not in the latest answer; `/why` explains its tables"))
            })?,
            _ => return Err(Error::Internal("a list contains a table that is not in the lake".into())),
        };
        if self.arguments.json {
            printer::json_line(table)?;
        } else {
            recommendation::why_table(number, table);
        }
        Ok(Status::Done)
    }

    fn save_as(&mut self, name: Option<&str>) -> Result<Status> {
        if let Some(name) = name {
            // Result files are shared: the copy refers to the same ones.
            let created = self.store.create(Some(name), &self.session.lake)?;
            let mut copy = self.session.clone();
            (copy.id, copy.revision) = (created.id, created.revision);
            self.store.save(&mut copy)?;
            self.session = copy;
        } else {
            self.save()?;
        }
        printer::line(&fill("session {} saved", &[&self.session.id]));
        Ok(Status::Done)
    }

    fn resume(&mut self, id: &str) -> Result<Status> {
        let session = self.store.open(id)?;
        if self.session.is_untouched() && self.session.id != session.id {
            // As on exit: an empty session is discarded.
            let _ = self.store.discard_untouched(&self.session);
        }
        self.session = session;
        self.context = None;
        self.list_latest();
        self.greet();
        Ok(Status::Done)
    }

    fn model_budget(&self) -> String {
        let Some(limits) = &self.limits else {
            return say("models: no language model is configured; nothing is sent and nothing is spent").into();
        };
        let spent = self.cost.as_ref().map(|cost| format!("; the latest turn: {}", conversation::model_cost(cost)));
        format!(
            "models: a turn may make {} calls, use {} tokens and wait {:.0} s{}{}",
            limits.calls,
            limits.tokens,
            limits.time.as_secs_f64(),
            limits.money.map(|money| format!(", spend {money}")).unwrap_or_default(),
            spent.unwrap_or_default()
        )
    }

    fn budget(&self) -> Result<Status> {
        let (limits, preview) = (Limits::default(), PreviewLimits::default());
        for line in [
            self.model_budget(),
            say("time: turns and operations have no time limit; Ctrl-C ends one and keeps the session").to_string(),
            fill(
                "memory: queries and operations use at most {}, then temporary files of at most {}",
                &[&printer::bytes(limits.memory_bytes as u64), &printer::bytes(limits.spill_bytes)],
            ),
            fill(
                "rows: an operation that would return more than {} rows, or a join with more than {} per row, is refused",
                &[&preview.max_rows.to_string(), &format!("{:.0}", preview.max_fan_out)],
            ),
        ] {
            printer::line(&line);
        }
        Ok(Status::Done)
    }
}

/// The question of `answer`, if asking it is the first operation.
pub(super) fn open_question(answer: &Recommendation) -> Option<&Question> {
    answer.operations.first().filter(|first| first.kind == OperationKind::Clarify)?.question.as_ref()
}

fn columns_of(index: &LakeIndex, id: &str) -> Result<Vec<String>> {
    let dataset = index.dataset(index.find(id)?)?;
    Ok(dataset.columns().iter().map(|column| column.name.clone()).collect())
}

/// Suggests what to type after an answer.
fn what_next(answer: &Recommendation) -> String {
    if let Some(question) = open_question(answer) {
        return match question.choices.len() {
            0 => say("answer in your own words").to_string(),
            choices => fill("type 1 to {} to answer, or ask in other words", &[&choices.to_string()]),
        };
    }
    let runnable = answer.worth_showing().position(|ranked| ranked.runnable.is_some());
    let mut parts: Vec<String> =
        runnable.map(|place| fill("`/run {}` runs it", &[&(place + 1).to_string()])).into_iter().collect();
    if !answer.tables.is_empty() {
        parts.push(say("`/why 1` explains table 1, `/accept 1` accepts it, `/reject 1` rejects it").into());
    }
    parts.push(if parts.is_empty() { say("ask another question") } else { say("or ask another question") }.into());
    parts.join(say("; "))
}

fn help(command: Option<&str>) -> Result<Status> {
    if let Some(name) = command {
        let Some(described) = description(name) else {
            return Err(Error::usage(message!("there is no command `{}`; `/help` lists them", name)));
        };
        printer::line(format!("{} {}", described.name, described.arguments).trim_end());
        printer::line(&format!("  {}", say(described.does)));
        return Ok(Status::Done);
    }
    conversation::commands(COMMANDS.iter().map(|command| (command.name, command.arguments, command.does)));
    printer::line(say(
        "anything else is a request in your own words; a number answers a question; `\\` at the end joins lines",
    ));
    Ok(Status::Done)
}
