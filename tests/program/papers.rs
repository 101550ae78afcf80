//! Documents in: every format and what is wrong with it, what a second run does, and what a killed one leaves.

mod scripts;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_tasks::papers::add::add;
use lakeward_tasks::papers::{AddOptions, AddStats, Document, PdfReader, SectionKind, Store};

use crate::place::{Folder, lakeward};

/// A folder of documents and an index beside it.
struct Place {
    folder: Folder,
}

impl Place {
    fn new() -> Self {
        Self { folder: Folder::of(&[]) }
    }

    fn documents(&self) -> PathBuf {
        self.folder.at("documents")
    }

    fn index(&self) -> PathBuf {
        self.folder.at("index")
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        self.folder.write(&format!("documents/{name}"), bytes)
    }

    fn add(&self) -> AddStats {
        self.add_with(false)
    }

    fn add_with(&self, again: bool) -> AddStats {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_lakeward"));
        let options = AddOptions { again, pdf: PdfReader::Process { program, limit: Duration::from_secs(60) } };
        add(&self.index(), &[self.documents()], &options, &Silent).expect("a run")
    }

    fn store(&self) -> Store {
        Store::open(&self.index()).expect("a store")
    }

    fn all(&self) -> Vec<Document> {
        self.store().documents().collect::<Result<_, _>>().expect("documents")
    }
}

/// A PDF of these objects, of which the first is the catalogue.
fn pdf_of(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(bytes.len());
        writeln!(bytes, "{number} 0 obj").expect("memory");
        bytes.extend_from_slice(object);
        bytes.extend_from_slice(b"\nendobj\n");
    }
    let xref = bytes.len();
    writeln!(bytes, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1).expect("memory");
    places.iter().for_each(|place| writeln!(bytes, "{place:010} 00000 n ").expect("memory"));
    write!(bytes, "trailer\n<</Size {}/Root 1 0 R{trailer}>>\nstartxref\n{xref}\n%%EOF", objects.len() + 1)
        .expect("memory");
    bytes
}

fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<<{dict}/Length {}>>stream\n", data.len()).into_bytes();
    object.extend_from_slice(data);
    object.extend_from_slice(b"\nendstream");
    object
}

/// Pages of lines in Helvetica, from the top.
fn text_pdf(pages: &[Vec<String>], trailer: &str) -> Vec<u8> {
    let contents = pages.iter().map(|lines| {
        let mut content = String::from("BT /F 10 Tf 14 TL 50 780 Td\n");
        lines.iter().for_each(|line| content.push_str(&format!("({}) Tj T*\n", line.replace(['(', ')', '\\'], "?"))));
        content.push_str("ET");
        stream("", content.as_bytes())
    });
    pages_pdf(contents.collect(), trailer)
}

fn pages_pdf(contents: Vec<Vec<u8>>, trailer: &str) -> Vec<u8> {
    let count = contents.len();
    let kids: String = (0..count).map(|page| format!("{} 0 R ", 5 + 2 * page)).collect();
    let image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8", &[7]);
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{kids}]/Count {count}>>").into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        image,
    ];
    for (page, content) in contents.into_iter().enumerate() {
        let head = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>";
        objects.push(format!("{head}/Contents {} 0 R>>", 6 + 2 * page).into_bytes());
        objects.push(content);
    }
    pdf_of(&objects, trailer)
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

#[test]
fn every_format_gives_sections_of_plain_text() {
    let place = Place::new();
    place.write(
        "deep/paper.txt",
        "A Title of Things\n\nAbstract\nWe seg-\nment.\n\n1 Introduction\n\nLong ago.\n\nReferences\n\n[1] A.",
    );
    place.write("notes.md", "# Notes on [CIFAR](http://x)\n\nWords.\n\n## Data\n\nWe use **MNIST**.\n");
    place.write("two.jsonl", "{\"id\":\"p1\",\"title\":\"One\",\"abstract\":\"We.\",\"year\":2014}\n\n{\"title\":\"Two\",\"text\":\"You.\"}\n");
    place.write(
        "hand.pdf",
        text_pdf(
            &[lines(&["A Page by Hand", "Abstract", "We count ef-", "ficient words."]), lines(&["More \u{97} of it."])],
            "",
        ),
    );
    let stats = place.add();
    assert_eq!((stats.files, stats.read, stats.documents, stats.stored), (4, 4, 5, 5), "{stats:?}");
    assert!(stats.failed.is_empty() && stats.partial.is_empty(), "{stats:?}");
    let found = place.all();
    let ids: Vec<&str> = found.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["paper", "hand", "notes", "p1", "two:3"]);
    let titles: Vec<&str> = found.iter().map(|document| document.title.as_str()).collect();
    assert_eq!((titles[0], titles[2], titles[3], titles[4]), ("A Title of Things", "Notes on CIFAR", "One", "Two"));
    assert_eq!(found[0].abstract_text(), "We segment.");
    assert_eq!(found[0].references, "[1] A.");
    assert_eq!(found[2].sections[1].kind, SectionKind::Data);
    assert_eq!(found[3].year, Some(2014));
    assert_eq!(found[4].source.line, Some(3));
    let text: String = found[1].sections.iter().map(|section| section.text.as_str()).collect();
    assert!(text.contains("efficient words") && text.contains("More"), "{:?}", found[1]);
    assert_eq!(place.store().fingerprints().len(), 5);
    assert_eq!(place.store().document("p1").expect("a document"), found[3]);
}

#[test]
fn a_set_article_is_read_in_its_order() {
    let place = Place::new();
    place.write("two_columns.pdf", include_bytes!("data/papers/two_columns.pdf"));
    assert_eq!(place.add().documents, 1);
    let document = place.all().remove(0);
    assert_eq!(document.title, "Efficient Segmentation of Coastal Waters from Few Labelled Scenes");
    let headings: Vec<&str> = document.sections.iter().map(|section| section.heading.as_str()).collect();
    let expected = ["Abstract", "Introduction", "Collections", "Conclusion"];
    assert_eq!(headings.iter().copied().filter(|heading| expected.contains(heading)).collect::<Vec<_>>(), expected);
    assert!(document.abstract_text().starts_with("We present an efficient method for the segmentation of coastal waters. It is trained on the Shoreline-12 collection"));
    let introduction =
        document.sections.iter().find(|section| section.kind == SectionKind::Introduction).expect("a section");
    let sentences = introduction.sentences();
    assert_eq!(
        sentences[0],
        "Convolutional networks have recently been applied to many problems of remote sensing (Lee et al., 2014; cf. Fig. 1)."
    );
    assert!(
        sentences.iter().any(|sentence| sentence.contains("differentiable objective function, which is optimised")),
        "{sentences:?}"
    );
    assert!(document.references.starts_with("Lee, A. and Doe, B. 2014."), "{}", document.references);
}

#[test]
fn broken_pdfs_are_reported_and_stop_nothing() {
    let place = Place::new();
    let whole = text_pdf(&[lines(&["Some words that are there."])], "");
    place.write("a_good.pdf", &whole);
    place.write("b_empty_file.pdf", "");
    place.write("c_no.pdf", "hello");
    place.write("d_cut.pdf", &whole[..60]);
    place.write("e_blank.pdf", text_pdf(&[vec![], vec![]], ""));
    place.write("f_scan.pdf", pages_pdf(vec![stream("", b"q 600 0 0 800 0 0 cm /I Do Q"); 3], ""));
    let locked = "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O(01234567890123456789012345678901)/U(01234567890123456789012345678901)>>/ID[(a)(a)]";
    place.write("g_locked.pdf", text_pdf(&[lines(&["Secret."])], locked));
    place.write(
        "h_no_pages.pdf",
        pdf_of(&[b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), b"<</Type/Pages/Kids[]/Count 0>>".to_vec()], ""),
    );
    // Forms that show each other, and themselves.
    let loops =
        stream("/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</A 5 0 R>>>>", b"/A Do /A Do /A Do");
    let page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</A 5 0 R>>>>/Contents 4 0 R>>";
    place.write(
        "i_loop.pdf",
        pdf_of(
            &[
                b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
                b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
                page.to_vec(),
                stream("", b"/A Do"),
                loops,
            ],
            "",
        ),
    );
    place.write("j_deep.pdf", pages_pdf(vec![stream("", "[".repeat(2_000_000).as_bytes())], ""));
    let stats = place.add();
    assert_eq!((stats.read, stats.documents, stats.failed.len()), (10, 1, 9), "{stats:?}");
    let reasons = [
        "empty file",
        "not a PDF",
        "damaged",
        "no text on 2 pages",
        "only images",
        "encrypted",
        "",
        "no text",
        "no text",
    ];
    for (fault, reason) in stats.failed.iter().zip(reasons) {
        assert!(fault.reason.contains(reason), "{fault:?}");
    }
    // In a thread, as other programs have it.
    let options = AddOptions { again: true, pdf: PdfReader::Thread { limit: Duration::from_secs(60) } };
    let paths: Vec<PathBuf> =
        ["a_good.pdf", "f_scan.pdf", "c_no.pdf"].iter().map(|name| place.documents().join(name)).collect();
    let stats = add(&place.index(), &paths, &options, &Silent).expect("a run");
    assert_eq!((stats.documents, stats.failed.len()), (1, 2), "{stats:?}");
}

#[test]
fn three_hundred_pages_and_no_time_at_all() {
    let place = Place::new();
    let page = |number: usize| {
        let mut texts = vec![format!("A Running Head of Pages {number}")];
        texts.extend((0..40).map(|line| format!("page {number} says in line {line} what no other page does")));
        texts.push(format!("{number}"));
        texts
    };
    let path = place.write("thesis.pdf", text_pdf(&(1..=300).map(page).collect::<Vec<_>>(), ""));
    assert_eq!(place.add().documents, 1);
    let document = place.all().remove(0);
    let text: String = document.sections.iter().map(|section| section.text.as_str()).collect();
    assert!(text.contains("page 300 says in line 30") && text.contains("page 1 says in line 10"));
    assert!(!text.contains("Running Head"), "the head stayed");
    let options = AddOptions {
        again: true,
        pdf: PdfReader::Process { program: PathBuf::from(env!("CARGO_BIN_EXE_lakeward")), limit: Duration::ZERO },
    };
    let stats = add(&place.index(), &[path], &options, &Silent).expect("a run");
    assert!(stats.failed[0].reason.contains("not read within 0 s"), "{stats:?}");
}

#[test]
fn a_bomb_needs_more_memory_than_it_gets() {
    let place = Place::new();
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let blank = vec![b' '; 1 << 20];
    (0..3000).for_each(|_| packer.write_all(&blank).expect("memory"));
    let packed = packer.finish().expect("memory");
    place.write("bomb.pdf", pages_pdf(vec![stream("/Filter/FlateDecode", &packed)], ""));
    let started = Instant::now();
    let stats = place.add();
    assert!(cfg!(not(unix)) || stats.failed[0].reason.contains("more than 2 GB of memory"), "{stats:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn hostile_text_is_bounded_and_clean() {
    let place = Place::new();
    place.write("bidi.txt", "Title \u{202e}here\u{1b}[31m\n\nText with \u{0}control\u{7} and \u{200b}none.\n");
    place.write("many.txt", "a line of words\n".repeat(1_000_000));
    place.write("long.txt", vec![b'x'; 17 << 20]);
    place.write(
        "binary.txt",
        (0..100_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect::<Vec<u8>>(),
    );
    place.write("latin.txt", b"Caf\xe9 culture\n\nLes donn\xe9es sont libres et tr\xe8s utiles.\n");
    let long =
        format!("{{\"id\":\"long\",\"text\":\"{}\"}}\n{{\"id\":\"short\",\"text\":\"fine\"}}\n", "y ".repeat(9 << 20));
    place.write("lines.jsonl", format!("{long}not json\n{{\"text\":{}1{}}}\n", "[".repeat(5000), "]".repeat(5000)));
    let stats = place.add();
    let reason = |name: &str| {
        let all = stats.failed.iter().chain(&stats.partial);
        all.filter(|fault| fault.path.ends_with(name)).map(|fault| fault.reason.clone()).collect::<String>()
    };
    assert!(reason("long.txt").contains("longer than 16 MB"), "{stats:?}");
    assert!(reason("binary.txt").contains("not text"), "{stats:?}");
    let partial = reason("lines.jsonl");
    assert!(
        ["line 1: longer than 16 MB", "line 3: no JSON", "line 4"].iter().all(|part| partial.contains(part)),
        "{partial}"
    );
    assert_eq!((stats.failed.len(), stats.partial.len()), (2, 1), "{stats:?}");
    let found = place.all();
    let bidi = found.iter().find(|document| document.id == "bidi").expect("a document");
    assert_eq!(
        (bidi.title.as_str(), bidi.sections[0].text.as_str()),
        ("Title here [31m", "Text with control and none.")
    );
    assert!(
        found.iter().any(|document| document.id == "short")
            && found.iter().any(|document| document.title == "Café culture")
    );
    assert!(found.iter().any(|document| document.id == "many"));
}

#[test]
fn a_second_run_reads_what_is_new_changed_or_failed() {
    let place = Place::new();
    let old = std::time::SystemTime::now() - Duration::from_secs(3600);
    let settle =
        |path: &Path| fs::File::options().append(true).open(path).expect("a file").set_modified(old).expect("a time");
    settle(&place.write("a.txt", "First Title\n\nText of one.\n"));
    settle(&place.write("b/a.txt", "First Title\n\nText of one.\n"));
    settle(&place.write("c/a.txt", "Another Title\n\nText of another.\n"));
    settle(&place.write("d.pdf", "broken"));
    let stats = place.add();
    assert_eq!((stats.read, stats.stored, stats.duplicates, stats.failed.len()), (4, 2, 1, 1), "{stats:?}");
    let ids: Vec<String> = place.all().into_iter().map(|document| document.id).collect();
    assert!(ids[0] == "a" && ids[1].starts_with("a~"), "{ids:?}");
    let before = fs::read(place.index().join("papers/papers.jsonl")).expect("a list");
    let stats = place.add();
    assert_eq!((stats.read, stats.unchanged, stats.failed.len()), (1, 3, 1), "{stats:?}");
    let strip = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .lines()
            .filter(|line| !line.contains("d.pdf"))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(strip(&before), strip(&fs::read(place.index().join("papers/papers.jsonl")).expect("a list")));
    // Mended, changed, new, touched.
    place.write("d.pdf", text_pdf(&[lines(&["Mended words are here."])], ""));
    place.write("a.txt", "First Title\n\nText of one, changed.\n");
    place.write("e.txt", "New\n\nText of five.\n");
    place.write("c/a.txt", "Another Title\n\nText of another.\n");
    let stats = place.add();
    assert_eq!((stats.read, stats.unchanged, stats.stored), (4, 1, 5), "{stats:?}");
    assert_eq!(fs::read_dir(place.index().join("papers/texts")).expect("a folder").count(), 5);
    // Removed ones stay away until they are asked for again.
    let removed = Store::remove(&place.index(), &["e".into()]).expect("a removal");
    assert_eq!(removed[0].title, "New");
    assert_eq!((place.add().stored, place.add_with(true).stored), (4, 5));
    let error = Store::remove(&place.index(), &["f".into(), "e".into()]).expect_err("an unknown id");
    assert!(matches!(error, Error::UnknownPaper { .. }));
    assert_eq!(place.store().len(), 5);
    // A damaged text is told, and mended by adding it again.
    let text =
        fs::read_dir(place.index().join("papers/texts")).expect("a folder").flatten().next().expect("a text").path();
    let bytes = fs::read(&text).expect("a text");
    fs::write(&text, String::from_utf8(bytes).expect("text").replace("Text", "Tent").replace("words", "swords"))
        .expect("a file");
    let damaged =
        place.store().documents().filter(|document| matches!(document, Err(Error::DamagedFile { .. }))).count();
    assert_eq!(damaged, 1);
    place.add_with(true);
    assert_eq!(place.all().len(), 5);
}

#[test]
fn a_killed_run_loses_nothing_that_it_finished() {
    const FILES: usize = 120;
    const KILLS: usize = 25;
    let place = Place::new();
    for number in 0..FILES {
        let body = format!("Title number {number}\n\n{}", format!("Sentence {number} of many words. ").repeat(300));
        if number % 3 == 0 {
            place.write(&format!("{number}.pdf"), text_pdf(&[body.lines().map(String::from).collect()], ""));
        } else {
            place.write(&format!("{number}.txt"), body);
        }
    }
    let mut known = 0;
    for kill in 0..KILLS {
        if kill % 8 == 7 {
            fs::remove_dir_all(place.index()).expect("a folder");
            known = 0;
        }
        let mut child = lakeward(["papers", "add", "--quiet"]);
        child.arg(place.documents()).env("LAKEWARD_LAKE", place.documents()).env("LAKEWARD_INDEX", place.index());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
        std::thread::sleep(Duration::from_millis(20 + 29 * (kill as u64 * 7 % 11)));
        child.kill().expect("a signal");
        child.wait().expect("an end");
        let store = Store::open(&place.index()).expect("a store after a kill");
        let now = store.len();
        assert!(now >= known, "{now} documents after {known}");
        known = now;
        assert!(store.documents().all(|document| document.is_ok()));
    }
    let stats = place.add();
    assert_eq!((stats.files, stats.stored, stats.failed.len()), (FILES as u64, FILES as u64, 0), "{stats:?}");
    assert_eq!(fs::read_dir(place.index().join("papers/texts")).expect("a folder").count(), FILES);
    assert_eq!(fs::read_dir(place.index().join("papers")).expect("a folder").count(), 3, "only list, lock and texts");
}

#[test]
fn one_writer_at_a_time() {
    let place = Place::new();
    place.write("one.txt", "Title\n\nText.\n");
    place.add();
    let lock = fs::File::options().write(true).open(place.index().join("papers/write.lock")).expect("a lock");
    lock.lock().expect("the lock");
    let options = AddOptions { again: false, pdf: PdfReader::Thread { limit: Duration::from_secs(1) } };
    let outcome = add(&place.index(), &[place.documents()], &options, &Silent);
    assert!(matches!(outcome, Err(Error::Locked { .. })), "{outcome:?}");
    assert_eq!(place.store().len(), 1);
}
