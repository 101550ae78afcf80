//! What stops, is gone, damaged or hostile.

use super::*;

#[test]
fn an_explosion_is_stopped_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |header: &str| (0..2000).fold(header.to_string(), |text, row| text + &format!("same,{row}\n"));
    let left = written(&folder, "left.csv", &text("k,a\n"));
    let right = written(&folder, "right.csv", &text("k,b\n"));
    let context = sample();
    let plan = join(left.clone(), right.clone(), &[("k", "k")]);
    let previewed = preview(&context, &plan);
    let reason = previewed.stopped.expect("stopped");
    assert!(reason.contains("4000000 rows of 2000") && reason.contains("group `"), "{reason}");
    assert!(previewed.sample.is_empty());
    let out = folder.path().join("out.parquet");
    let error = run_plan(&context, &plan, &PreviewLimits::default(), &out).expect_err("stopped");
    assert!(matches!(&error, Error::Usage(text) if **text == *reason), "{error}");
    assert!(!out.exists());
    let limits = PreviewLimits { max_rows: 1_000, max_fan_out: 1e9, ..PreviewLimits::default() };
    let all = Plan::of(left);
    assert!(plan_preview(&context, &all, &limits).expect("a preview").stopped.is_some());
    assert!(matches!(run_plan(&context, &all, &limits, &out), Err(Error::Usage(_))));
    assert!(!out.exists());
    assert!(plan_preview(&context, &plan, &limits).expect("a preview").stopped.is_some());
    // One row with many partners is none.
    let one = written(&folder, "one.csv", "k,c\nsame,1\n");
    assert_eq!(preview(&context, &join(one, right, &[("k", "k")])).stopped, None);
}

#[test]
fn a_join_larger_than_memory_completes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |seed: u64| {
        (0..100_000u64).fold("k,text\n".to_string(), |text, row| {
            let key = (row * 7919 + seed) % 100_000;
            text + &format!("{key},{}\n", format!("{key:x}-{row:x}-").repeat(50))
        })
    };
    let left = written(&folder, "left.csv", &text(1));
    let right = written(&folder, "right.csv", &text(2));
    let plan = join(left, right, &[("k", "k")]);
    let roomy = sample();
    let expected = run_rows(&roomy, &plan, folder.path(), 1);
    let tight = sample_limited(Limits { memory_bytes: 56 << 20, spill_bytes: 4 << 30 });
    let rows = run_rows(&tight, &plan, folder.path(), 2);
    assert_eq!(rows.len(), 100_000);
    assert!(rows == expected);
    // The same memory is too little where nothing can go to disk.
    let without_disk = sample_limited(Limits { memory_bytes: 56 << 20, spill_bytes: 0 });
    let out = folder.path().join("never.parquet");
    let error = run_plan(&without_disk, &plan, &PreviewLimits::default(), &out).expect_err("too little");
    assert!(error.to_string().contains("memory") || error.to_string().contains("disk"), "{error}");
    assert!(!out.exists());
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let context = sample().stopping_when(move || asked.load(Ordering::Relaxed));
    let airports = || table("transport/airports_world");
    let plan = join(airports(), airports(), &[("iso_country", "iso_country")]);
    let limits = PreviewLimits { max_fan_out: 1e9, max_rows: u64::MAX, ..PreviewLimits::default() };
    let rows = plan_preview(&context, &plan, &limits).expect("a preview").rows_out;
    assert!(rows > 100_000, "{rows}");
    let out = folder.path().join("out.parquet");
    let setter = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        }
    });
    let started = std::time::Instant::now();
    let error = run_plan(&context, &plan, &limits, &out).expect_err("interrupted");
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    setter.join().expect("a thread");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    assert!(matches!(plan_preview(&context, &plan, &limits), Err(Error::Interrupted)));
    stop.store(false, Ordering::Relaxed);
    assert_eq!(answer(&context, "SELECT count(*) FROM us.states").len(), 1);
}

#[test]
fn a_step_that_is_gone_or_damaged_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let context = sample();
    let states = filter(table("us/states"), Vec::new());
    run_rows(&context, &states, folder.path(), 3);
    let path = folder.path().join("step_3.parquet");
    let of_step = filter(Input::Step(3), vec![one_of("code", &["AL"])]);
    assert_eq!(preview(&context, &of_step).rows_out, 1);
    // Another result under the same name.
    run_rows(&context, &filter(table("us/states"), vec![one_of("code", &["AK"])]), folder.path(), 3);
    assert_eq!(preview(&context, &of_step).rows_out, 0);
    run_rows(&context, &states, folder.path(), 3);
    let error = plan_sql(&context, &Plan::of(Input::Step(4))).expect_err("no step");
    assert!(
        matches!(&error, Error::Usage(text) if text.contains("step_4") && text.contains("session.step_3")),
        "{error}"
    );
    let mut bytes = fs::read(&path).expect("a file");
    bytes[10..400].fill(0xff);
    fs::write(&path, &bytes).expect("a file");
    for damaged in [bytes.clone(), bytes[..20].to_vec(), Vec::new()] {
        fs::write(&path, damaged).expect("a file");
        let error = plan_preview(&context, &filter(Input::Step(3), Vec::new()), &PreviewLimits::default())
            .expect_err("damaged");
        assert!(matches!(&error, Error::UnreadableStep { step: 3, .. }), "{error}");
        let error = ask(&context, "SELECT * FROM session.step_3 s, us.states").expect_err("damaged");
        assert!(matches!(&error, Error::UnreadableStep { step: 3, .. }), "{error}");
    }
    fs::remove_file(&path).expect("a file");
    let error = plan_sql(&context, &of_step).expect_err("gone");
    assert!(matches!(&error, Error::UnreadableStep { step: 3, reason, .. } if reason == "it is gone"), "{error}");
    context.remove_step(3);
    let error = ask(&context, "SELECT * FROM session.step_3").expect_err("no step");
    assert!(matches!(error, Error::Usage(_) | Error::UnknownTable { .. }), "{error}");
    let error = plan_sql(&context, &filter(file(Path::new("/no/such/file.csv")), Vec::new())).expect_err("no file");
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn an_export_is_whole_and_overwrites_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "name,amount\n=1+1,5\n\"a,\"\"b\",-2\n\"two\nlines\",\n@x,7\n";
    let input = written(&folder, "in.csv", text);
    let context = sample();
    let out = folder.path().join("out.csv");
    let exported = lakeward_operate::export(&context, &input, &out, false).expect("an export");
    assert_eq!(exported.rows, 4);
    assert_eq!(fs::read_to_string(&out).expect("a file"), text);
    assert!(matches!(lakeward_operate::export(&context, &input, &out, false), Err(Error::Usage(_))));
    lakeward_operate::export(&context, &table("us/states"), &out, true).expect("an export");
    assert!(fs::read_to_string(&out).expect("a file").starts_with("code,name,fips\n"));
    let parquet = folder.path().join("out.PARQUET");
    lakeward_operate::export(&context, &table("us/states"), &parquet, false).expect("an export");
    assert_eq!(preview(&context, &filter(file(&parquet), Vec::new())).rows_out, 51);
    for name in ["out.xlsx", "out", "out.csv.gz"] {
        let error = lakeward_operate::export(&context, &input, &folder.path().join(name), false).expect_err(name);
        assert!(matches!(&error, Error::Usage(text) if text.contains(".parquet")), "{error}");
    }
    let error =
        lakeward_operate::export(&context, &input, &folder.path().join("no/such/x.csv"), false).expect_err("no folder");
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

#[test]
fn hostile_names_and_cells_are_data() {
    let lake = tempfile::tempdir().expect("a folder");
    let hostile = "\"; DROP TABLE x; --";
    fs::write(
        lake.path().join(format!("{hostile}.csv")),
        "\"a\"\"b\",a.b,\"x\ny\",a.b,'q',$(rm -rf)\n1,'; DROP,3,4,5,6\n2,\"\"\"; --\",3,4,5,6\n",
    )
    .expect("a file");
    fs::write(lake.path().join("l.csv"), "a.b,r\n'; DROP,1\n").expect("a file");
    fs::write(lake.path().join("r.csv"), "k,v\n1,2\n").expect("a file");
    fs::write(lake.path().join("empty.csv"), "a,b\n").expect("a file");
    fs::write(lake.path().join("no keys.csv"), "k,v\n,1\nn/a,2\n").expect("a file");
    let wide: Vec<String> = (0..500).map(|column| format!("column \"{column}\"")).collect();
    let header: Vec<String> = wide.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let cells: Vec<String> = (0..500).map(|column| column.to_string()).collect();
    fs::write(lake.path().join("wide.csv"), format!("{}\n{}\n", header.join(","), cells.join(","))).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
        fs::write(lake.path().join(name), "k,v\n1,2\n").expect("a file");
    }
    let index = index_of(lake.path());
    let context = context_of(lake.path(), index.path(), Limits::default());
    let folder = tempfile::tempdir().expect("a folder");
    let ids: Vec<String> =
        answer(&context, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'lake'")
            .into_iter()
            .flatten()
            .collect();
    assert!(ids.contains(&hostile.to_string()), "{ids:?}");
    let columns: Vec<String> =
        preview(&context, &filter(table(hostile), Vec::new())).columns.into_iter().map(|column| column.name).collect();
    for name in &columns {
        let present = filter(table(hostile), vec![present(name)]);
        assert_eq!(run_rows(&context, &present, folder.path(), 1).len(), 2, "{name}");
        let counts = vec![measure(MeasureFunction::Count, Some(name))];
        run_rows(&context, &grouped(Plan::of(table(hostile)), vec![column(name)], counts), folder.path(), 1);
        for normal in [false, true] {
            let plan = normalised(join(table("l"), table(hostile), &[("a.b", name)]), normal);
            run_rows(&context, &plan, folder.path(), 1);
        }
    }
    let matched = preview(&context, &join(table("l"), table(hostile), &[("a.b", "a.b")]));
    assert_eq!(facts(&matched).len(), 1, "one row there has no partner");
    let aligned: Vec<(String, String)> = vec![("a.b".into(), columns[0].clone()), ("r".into(), columns[2].clone())];
    let plan = united(table("l"), vec![(table(hostile), aligned)], true, Some(hostile));
    assert_eq!(run_rows(&context, &plan.clone().then(Step::Distinct(Vec::new())), folder.path(), 2).len(), 3);
    assert_eq!(run_rows(&context, &plan, folder.path(), 2).len(), 3);
    // A result with such names is a table like any other.
    let names: Vec<String> =
        preview(&context, &filter(Input::Step(2), Vec::new())).columns.into_iter().map(|column| column.name).collect();
    for name in &names {
        preview(&context, &filter(Input::Step(2), vec![contains(name, "'%_\\")]));
    }
    let self_join = preview(&context, &join(table("r"), table("l"), &[("k", "r")]));
    assert_eq!(self_join.rows_out, 1);
    for (left, right) in [("empty", "r"), ("r", "empty"), ("empty", "empty")] {
        let key = |id: &str| if id == "r" { "k" } else { "a" };
        let plan = join(table(left), table(right), &[(key(left), key(right))]);
        let rows = run_rows(&context, &plan, folder.path(), 4);
        assert_eq!(rows.len(), usize::from(left == "r"));
        run_rows(&context, &Plan::of(Input::Step(4)), folder.path(), 5);
    }
    let none = preview(&context, &join(table("no keys"), table("no keys"), &[("k", "k")]));
    assert_eq!((none.rows_out, facts(&none)[0]), (2, "2 rows without a partner, without a key"));
    let wide = join(table("wide"), table("wide"), &[(&wide[3], &wide[3])]);
    let previewed = preview(&context, &wide);
    assert_eq!((previewed.columns.len(), previewed.rows_out), (999, 1));
    run_rows(&context, &wide, folder.path(), 6);
    let odd = ids.iter().find(|id| id.starts_with("caf")).expect("an id");
    assert_eq!(preview(&context, &filter(table(odd), Vec::new())).rows_out, 1);
    assert!(matches!(plan_sql(&context, &join(table("l"), table("r"), &[])), Err(Error::Usage(_))));
    assert_eq!(fs::read_dir(lake.path()).expect("a folder").count(), if cfg!(unix) { 7 } else { 6 });
}
