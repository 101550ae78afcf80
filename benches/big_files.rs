//! One big file: how fast it is indexed on one thread and on all, and in how much memory.
//! `cargo bench --bench big_files [-- MEGABYTES [FOLDER]]`
//!
//! Writes a CSV of that size (50 MB when not said) and a Parquet file of half of it, with ids, codes, names, categories, dates,
//! floats and sentences, into a temporary folder inside FOLDER, and indexes each in a process of its own: user and system
//! time and the peak of resident memory are what the operating system says of that process.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use lakeward_core::monitor::Silent;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::StaticModel;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

const MEGABYTES: u64 = 50;
/// Rows of a batch handed to the Parquet writer, and batches of a row group.
const BATCH_ROWS: u64 = 8192;
const GROUP_ROWS: usize = 128 << 10;

fn main() {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [mode, lake] = words.as_slice()
        && mode == "--index"
    {
        return index(Path::new(lake));
    }
    let megabytes = words.first().and_then(|word| word.parse().ok()).unwrap_or(MEGABYTES).max(1);
    let parent = words.get(1).map_or_else(std::env::temp_dir, Into::into);
    let folder = tempfile::tempdir_in(parent).unwrap();
    for (kind, megabytes) in [("csv", megabytes), ("parquet", megabytes / 2)] {
        let lake = folder.path().join(kind);
        fs::create_dir(&lake).unwrap();
        let path = lake.join(format!("orders.{kind}"));
        match kind {
            "csv" => write_csv(&path, megabytes * 1_000_000),
            _ => write_parquet(&path, megabytes * 1_000_000),
        }
        println!("{kind}: {:.0} MB", fs::metadata(&path).unwrap().len() as f64 / 1e6);
        for threads in [1, std::thread::available_parallelism().unwrap().get()] {
            let program = std::env::current_exe().unwrap();
            let threads = threads.to_string();
            let mut child = Command::new(program);
            let done = child.arg("--index").arg(&lake).env("RAYON_NUM_THREADS", &threads).status().unwrap();
            assert!(done.success());
        }
        fs::remove_dir_all(&lake).unwrap();
    }
}

/// Indexes a lake and prints what that took of this process.
fn index(lake: &Path) {
    let folder = tempfile::tempdir_in(lake.parent().unwrap()).unwrap();
    let start = Instant::now();
    let stats = build::build(lake, folder.path(), StaticModel::builtin(), &BuildOptions::default(), &Silent).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!((stats.tables, stats.is_partial()), (1, false));
    println!(
        "  {} thread(s): {seconds:7.2} s, {:6.1} MB/s, {} rows, {}, {}",
        rayon::current_num_threads(),
        stats.read_bytes as f64 / 1e6 / seconds,
        stats.rows,
        processor_seconds(),
        peak_memory(),
    );
}

/// User and system time of this process; Linux counts them in hundredths of a second.
fn processor_seconds() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse().ok()).collect();
    match ticks.as_slice() {
        [user, system] => format!("user {:.2} s, system {:.2} s", user / 100.0, system / 100.0),
        _ => "processor time unknown".into(),
    }
}

fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or_else(|| "peak memory unknown".into(), |kb| format!("peak memory {:.0} MiB", kb / 1024.0))
}

const HEADER: &str = "order_id,order_key,reference,customer_id,customer,email,city,country,category,status,ordered,shipped_at,\
price,quantity,discount,latitude,longitude,rating,comment,gift";
const FIRST: [&str; 16] = [
    "Anna", "Bo", "Carla", "David", "Elif", "Farid", "Grace", "Hiro", "Ines", "Jonas", "Katya", "Luis", "Mei", "Noor",
    "Olga", "Pavel",
];
const CITIES: [&str; 12] =
    ["Oslo", "São Paulo", "Nairobi", "Lyon", "Kyoto", "Tampere", "Graz", "Leeds", "Porto", "Hanoi", "Quito", "Perth"];
const COUNTRIES: [&str; 8] = ["Norway", "Brazil", "Kenya", "France", "Japan", "Finland", "Austria", "Portugal"];
const CATEGORIES: [&str; 6] = ["Garden", "Kitchen", "Books", "Toys", "Office", "Music"];
const STATUSES: [&str; 4] = ["delivered", "returned", "open", "lost"];
const WORDS: [&str; 20] = [
    "the", "parcel", "came", "late", "but", "colour", "was", "as", "shown", "and", "handle", "broke", "after", "two",
    "weeks", "would", "buy", "again", "thank", "you",
];

/// A deterministic sequence (splitmix64): the same file for the same size.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// One row of the table.
struct Order {
    id: i64,
    key: String,
    reference: String,
    customer_id: i64,
    customer: String,
    email: String,
    city: &'static str,
    country: &'static str,
    category: &'static str,
    status: &'static str,
    day: i32,
    shipped_at: String,
    price: f64,
    quantity: i64,
    discount: f64,
    latitude: f64,
    longitude: f64,
    rating: Option<i64>,
    comment: String,
    gift: &'static str,
}

impl Order {
    fn new(id: u64, numbers: &mut Numbers) -> Order {
        // Few customers order often.
        let span = 1 + numbers.below(2_000_000);
        let customer = numbers.below(span);
        let first = FIRST[customer as usize % FIRST.len()];
        let city = numbers.below(CITIES.len() as u64) as usize;
        let words = 3 + numbers.below(9);
        let comment: Vec<&str> = (0..words).map(|_| numbers.of(&WORDS)).collect();
        let day = 14_600 + numbers.below(3650) as i32;
        Order {
            id: id as i64 + 1,
            key: format!("{:016x}", numbers.next()),
            reference: format!("REF-{:02}-{id:09}", id % 90),
            customer_id: customer as i64,
            customer: format!("{first} N{}", customer / 40),
            email: format!("{}.{customer}@example.org", first.to_lowercase()),
            city: CITIES[city],
            country: COUNTRIES[city % COUNTRIES.len()],
            category: numbers.of(&CATEGORIES),
            status: numbers.of(&STATUSES),
            day,
            shipped_at: format!("{} {:02}:{:02}:00", iso(day + 1), numbers.below(24), numbers.below(60)),
            price: numbers.below(100_000) as f64 / 100.0,
            quantity: 1 + numbers.below(12) as i64,
            discount: numbers.below(40) as f64 / 100.0,
            latitude: numbers.below(180_000_000) as f64 / 1e6 - 90.0,
            longitude: numbers.below(360_000_000) as f64 / 1e6 - 180.0,
            rating: Some(numbers.below(7) as i64).filter(|rating| (1..=5).contains(rating)),
            comment: comment.join(" "),
            gift: numbers.of(&["yes", "no"]),
        }
    }
}

fn iso(day: i32) -> String {
    chrono::DateTime::from_timestamp(i64::from(day) * 86_400, 0).unwrap().format("%Y-%m-%d").to_string()
}

fn write_csv(path: &Path, bytes: u64) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut numbers = Numbers(1);
    writeln!(out, "{HEADER}").unwrap();
    let (mut written, mut line) = (0, String::new());
    for id in 0.. {
        if written >= bytes {
            break;
        }
        let order = Order::new(id, &mut numbers);
        let rating = order.rating.map(|rating| rating.to_string()).unwrap_or_default();
        line = format!(
            "{},{},{},{},{},{},{},{},{},{},{},{},{:.2},{},{:.2},{:.6},{:.6},{rating},\"{}\",{}",
            order.id,
            order.key,
            order.reference,
            order.customer_id,
            order.customer,
            order.email,
            order.city,
            order.country,
            order.category,
            order.status,
            iso(order.day),
            order.shipped_at,
            order.price,
            order.quantity,
            order.discount,
            order.latitude,
            order.longitude,
            order.comment,
            order.gift,
        );
        writeln!(out, "{line}").unwrap();
        written += line.len() as u64 + 1;
    }
    drop(line);
    out.flush().unwrap();
}

fn write_parquet(path: &Path, bytes: u64) {
    let mut numbers = Numbers(1);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build();
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut from = 0;
    while writer.as_ref().is_none_or(|writer| ((writer.bytes_written() + writer.in_progress_size()) as u64) < bytes) {
        let rows: Vec<Order> = (from..from + BATCH_ROWS).map(|id| Order::new(id, &mut numbers)).collect();
        from += BATCH_ROWS;
        let batch = batch_of(&rows);
        let properties = properties.clone();
        let open = || ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.get_or_insert_with(open).write(&batch).unwrap();
    }
    writer.unwrap().close().unwrap();
}

fn batch_of(rows: &[Order]) -> RecordBatch {
    let text = |cell: fn(&Order) -> &str| Arc::new(StringArray::from_iter_values(rows.iter().map(cell))) as ArrayRef;
    let whole = |cell: fn(&Order) -> Option<i64>| Arc::new(rows.iter().map(cell).collect::<Int64Array>()) as ArrayRef;
    let float = |cell: fn(&Order) -> f64| Arc::new(Float64Array::from_iter_values(rows.iter().map(cell))) as ArrayRef;
    let days = Arc::new(Date32Array::from_iter_values(rows.iter().map(|row| row.day))) as ArrayRef;
    let columns = [
        whole(|row| Some(row.id)),
        text(|row| &row.key),
        text(|row| &row.reference),
        whole(|row| Some(row.customer_id)),
        text(|row| &row.customer),
        text(|row| &row.email),
        text(|row| row.city),
        text(|row| row.country),
        text(|row| row.category),
        text(|row| row.status),
        days,
        text(|row| &row.shipped_at),
        float(|row| row.price),
        whole(|row| Some(row.quantity)),
        float(|row| row.discount),
        float(|row| row.latitude),
        float(|row| row.longitude),
        whole(|row| row.rating),
        text(|row| &row.comment),
        text(|row| row.gift),
    ];
    RecordBatch::try_from_iter(HEADER.split(',').zip(columns)).unwrap()
}
