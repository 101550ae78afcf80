//! `lakeward index shards`, `work`, `missing` and `commit`: a build that many machines share.

use super::args::{Arguments, IndexStep, ListCommand, MissingCommand, ShardCommand, ShardsCommand};
use super::{Status, index, lake, printer, progress};
use lakeward::Place;
use lakeward_core::error::Result;
use lakeward_core::text::counted;
use lakeward_index::build::BuildOptions;
use lakeward_index::build::shards::{self, ListedShards};

/// Makes one step.
pub fn run(arguments: &Arguments, step: &IndexStep) -> Result<Status> {
    match step {
        IndexStep::Shards(command) => list(arguments, command),
        IndexStep::Work(command) => work(arguments, command),
        IndexStep::Missing(command) => missing(arguments, command),
        IndexStep::Commit(command) => commit(arguments, command),
    }
}

fn list(arguments: &Arguments, command: &ShardsCommand) -> Result<Status> {
    let place = Place { fast: command.fast, ..lake::place(arguments, command.lake.as_deref())? };
    let sample_rows = command.sample_rows.map(u64::from);
    let options = BuildOptions { sample_rows, records: command.records.clone(), ..BuildOptions::default() };
    let listed = place.list_shards(&options, command.shards)?;
    if arguments.json {
        printer::json(&listed)?;
        return Ok(Status::Done);
    }
    let ListedShards { list, shards } = listed;
    printer::line(&list);
    if !arguments.quiet {
        let files: u64 = shards.shards.iter().map(|shard| shard.files).sum();
        let parts: u64 = shards.shards.iter().map(|shard| shard.parts).sum();
        let bytes: u64 = shards.shards.iter().map(|shard| shard.bytes).sum();
        let parts = if parts == 0 { String::new() } else { format!(" and {} of giant ones", counted(parts, "part")) };
        let largest = printer::bytes(shards.largest_file);
        printer::narrate(&format!(
            "{}{parts} in {}, {} to read, the largest file {largest}; {} unchanged",
            counted(files, "table"),
            counted(u64::from(command.shards), "shard"),
            printer::bytes(bytes),
            shards.unchanged,
        ));
    }
    Ok(Status::Done)
}

/// A file that cannot be read is no failure of the shard: whoever runs it again would find the same.
fn work(arguments: &Arguments, command: &ShardCommand) -> Result<Status> {
    let (place, list) = Place::of_list(&command.list)?;
    let bar = progress::Bar::new(arguments.quiet)?;
    let row = place.work(&list, command.shard, &bar);
    bar.finish();
    let row = row?;
    if arguments.json {
        printer::json(&row)?;
    } else {
        let parts = row.parts.len() as u64;
        let parts = if parts == 0 { String::new() } else { format!(", {} of giant tables", counted(parts, "part")) };
        let (tables, skipped) = (counted(row.tables, "table"), row.skipped.len());
        let segments = counted(row.segments.len() as u64, "segment");
        printer::line(&format!("shard {}: {tables} in {segments}{parts}, {skipped} skipped", row.shard));
        for file in &row.skipped {
            printer::line(&format!("skipped: {}: {}", file.path, file.reason));
        }
    }
    Ok(Status::Done)
}

fn missing(arguments: &Arguments, command: &MissingCommand) -> Result<Status> {
    let found = shards::missing(&Place::of_list(&command.list)?.1)?;
    if arguments.json {
        printer::json(&found)?;
    } else {
        found.missing.iter().for_each(|shard| printer::line(&shard.to_string()));
    }
    Ok(Status::Done)
}

fn commit(arguments: &Arguments, command: &ListCommand) -> Result<Status> {
    let (place, list) = Place::of_list(&command.list)?;
    let bar = progress::Bar::new(arguments.quiet)?;
    let stats = place.commit(&list, command.in_part, &bar);
    bar.finish();
    let stats = stats?;
    index::report(arguments, &stats)?;
    Ok(if stats.is_partial() { Status::InPart } else { Status::Done })
}
