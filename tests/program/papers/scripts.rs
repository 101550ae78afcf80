//! PDFs of text programs in many scripts: what LibreOffice writes (subsets of fonts with codes of their own and ToUnicode maps,
//! packed streams), composite fonts with Identity-H, ligatures, soft hyphens, and lines from right to left.

use std::io::Write;

use super::{Place, pdf_of, stream};

/// How a font calls its glyphs.
#[derive(Clone, Copy, PartialEq)]
enum Codes {
    /// One byte, in the order of first use: a TrueType subset as LibreOffice writes it.
    Subset,
    /// Two bytes: Type0 with Identity-H.
    Identity,
}

/// Lines of glyphs, each of one or more characters; `packed`: streams are deflated.
fn glyph_pdf(lines: &[Vec<&str>], codes: Codes, packed: bool) -> Vec<u8> {
    let mut glyphs: Vec<&str> = Vec::new();
    let mut content = String::from("0.1 w\nq 0 0.028 595.275 841.861 re\nW* n\nq 0 0 0 rg\n");
    for (number, line) in lines.iter().enumerate() {
        content.push_str(&format!("BT\n56.8 {} Td /F1 12 Tf[", 773.989 - 13.8 * number as f64));
        for (place, glyph) in line.iter().enumerate() {
            let code = glyphs.iter().position(|known| known == glyph).unwrap_or(glyphs.len());
            if code == glyphs.len() {
                glyphs.push(glyph);
            }
            // Kerning of a hair after every third glyph, as justified text has it.
            let kerning = if place % 3 == 2 { "-1" } else { "" };
            content.push_str(&match codes {
                Codes::Subset => format!("<{:02X}>{kerning}", code + 1),
                Codes::Identity => format!("<{:04X}>{kerning}", code + 1),
            });
        }
        content.push_str("]TJ\nET\n");
    }
    content.push_str("Q\nQ ");
    let digits = if codes == Codes::Subset { 2 } else { 4 };
    let range = if codes == Codes::Subset { "<01> <FF>" } else { "<0000> <FFFF>" };
    let mut map = format!(
        "/CIDInit/ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapType 2 def\n1 begincodespacerange\n{range}\n\
         endcodespacerange\n"
    );
    for (block, some) in glyphs.chunks(100).enumerate() {
        map.push_str(&format!("{} beginbfchar\n", some.len()));
        for (place, glyph) in some.iter().enumerate() {
            let units: String = glyph.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
            map.push_str(&format!("<{:0digits$X}> <{units}>\n", 100 * block + place + 1));
        }
        map.push_str("endbfchar\n");
    }
    map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend");
    let data = |dict: &str, text: &str| {
        if !packed {
            return stream(dict, text.as_bytes());
        }
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        deflated.write_all(text.as_bytes()).expect("memory");
        stream(&format!("{dict}/Filter/FlateDecode"), &deflated.finish().expect("memory"))
    };
    let descriptor = b"<</Type/FontDescriptor/FontName/BAAAAA+LiberationSerif/Flags 4/FontBBox[-176 -303 1005 981]\
        /ItalicAngle 0/Ascent 891/Descent -216/CapHeight 981/StemV 80>>";
    let widths = "600 ".repeat(glyphs.len());
    let font = match codes {
        Codes::Subset => format!(
            "<</Type/Font/Subtype/TrueType/BaseFont/BAAAAA+LiberationSerif/FirstChar 1/LastChar {}/Widths[{widths}]\
             /FontDescriptor 6 0 R/ToUnicode 7 0 R>>",
            glyphs.len()
        ),
        Codes::Identity => "<</Type/Font/Subtype/Type0/BaseFont/BAAAAA+NotoSans/Encoding/Identity-H\
             /DescendantFonts[8 0 R]/ToUnicode 7 0 R>>"
            .to_string(),
    };
    let descendant = "<</Type/Font/Subtype/CIDFontType2/BaseFont/BAAAAA+NotoSans/CIDSystemInfo<</Registry(Adobe)\
         /Ordering(Identity)/Supplement 0>>/FontDescriptor 6 0 R/DW 600/CIDToGIDMap/Identity>>";
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R/Lang(en-US)>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 595 841]/Resources<</Font<</F1 5 0 R>>/ProcSet[/PDF/Text]>>>>"
            .to_vec(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Group<</S/Transparency/CS/DeviceRGB/I true>>>>".to_vec(),
        data("", &content),
        font.into_bytes(),
        descriptor.to_vec(),
        data("", &map),
        descendant.as_bytes().to_vec(),
    ];
    pdf_of(&objects, "/Info<</Creator<FEFF005700720069007400650072>/Producer(LibreOffice 24.2)>>")
}

/// A line glyph by glyph, with these clusters as one glyph each.
fn glyphs<'t>(line: &'t str, ligatures: &[&str]) -> Vec<&'t str> {
    let mut glyphs = Vec::new();
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let found = ligatures.iter().find(|ligature| rest.starts_with(**ligature)).map(|ligature| ligature.len());
        let (glyph, after) = rest.split_at(found.unwrap_or(letter.len_utf8()));
        glyphs.push(glyph);
        rest = after;
    }
    glyphs
}

/// All text of the only document of these lines.
fn text_of(lines: &[Vec<&str>], codes: Codes, packed: bool) -> String {
    let place = Place::new();
    place.write("paper.pdf", glyph_pdf(lines, codes, packed));
    let stats = place.add();
    assert_eq!((stats.documents, stats.failed.len(), stats.partial.len()), (1, 0, 0), "{stats:?}");
    let document = place.all().remove(0);
    let texts = document.sections.iter().flat_map(|section| [section.heading.clone(), section.text.clone()]);
    std::iter::once(document.title.clone()).chain(texts).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_text_of_an_office_program_is_read() {
    let lines = [
        "Counting Sheep by Office Means",
        "",
        "Abstract",
        "We count sheep efficiently on the offline FlockCount cor-",
        "pus and find it diffi\u{AD}",
        "cult: the effect on 1,024 flocks is 3.5 %.",
    ];
    let ligatures = ["ffi", "ff", "fi", "fl"];
    let set: Vec<Vec<&str>> = lines.iter().map(|line| glyphs(line, &ligatures)).collect();
    for codes in [Codes::Subset, Codes::Identity] {
        for packed in [false, true] {
            let text = text_of(&set, codes, packed);
            assert!(text.starts_with("Counting Sheep by Office Means"), "{text}");
            for part in [
                "efficiently on the offline FlockCount corpus",
                "find it difficult: the effect on 1,024 flocks is 3.5 %.",
            ] {
                assert!(text.contains(part), "{part} is not in {text}");
            }
        }
    }
}

#[test]
fn a_ligature_with_a_character_of_its_own_is_letters() {
    let set = [glyphs("The oﬃce ﬁnds ﬂocks eﬀectively.", &[])];
    assert!(text_of(&set, Codes::Identity, true).contains("The office finds flocks effectively."));
}

#[test]
fn many_scripts_are_read() {
    for lines in [
        ["Μέτρηση προβάτων σε εικόνες", "Χρησιμοποιούμε το σύνολο δεδομένων FlockCount."],
        ["Подсчёт овец на снимках", "Мы используем набор данных FlockCount и ещё один."],
        ["基于图像的羊群计数", "我们使用 FlockCount 数据集进行评估。"],
        ["画像による羊の計数", "データセット FlockCount を用いて評価する。"],
        ["영상에서 양을 세는 방법", "우리는 FlockCount 데이터셋을 사용한다."],
        ["Đếm cừu trong ảnh", "Chúng tôi dùng bộ dữ liệu FlockCount."],
    ] {
        let set: Vec<Vec<&str>> = lines.iter().map(|line| glyphs(line, &[])).collect();
        for codes in [Codes::Identity, Codes::Subset] {
            let text = text_of(&set, codes, true);
            lines.iter().for_each(|line| assert!(text.contains(line), "{line} is not in {text}"));
        }
    }
}

/// `line` as it stands on the page from left to right: turned round, words and numbers of other scripts as they are.
fn by_place<'t>(line: &'t str, ligatures: &[&str]) -> Vec<&'t str> {
    let mut placed: Vec<&str> = Vec::new();
    for word in line.split_inclusive(' ').rev() {
        let (word, space) = word.strip_suffix(' ').map_or((word, ""), |word| (word, " "));
        placed.extend((!space.is_empty()).then_some(space));
        let mut own = glyphs(word, ligatures);
        if !word.is_ascii() {
            own.reverse();
        }
        placed.extend(own);
    }
    placed
}

#[test]
fn lines_from_right_to_left_are_read_as_they_are_read() {
    for (lines, ligatures) in [
        (["عد الأغنام في الصور", "نستخدم مجموعة بيانات FlockCount للتقييم على 1024 صورة"], &["لأ", "لا"][..]),
        (["ספירת כבשים בתמונות", "אנו משתמשים במאגר FlockCount ובעוד 1024 תמונות"], &[][..]),
    ] {
        let set: Vec<Vec<&str>> = lines.iter().map(|line| by_place(line, ligatures)).collect();
        let text = text_of(&set, Codes::Identity, true);
        lines.iter().for_each(|line| assert!(text.contains(line), "{line} is not in {text}"));
    }
    // Letters by their form in the word, as some programs map them.
    let set = [by_place("ﻣﺠﻤﻮﻋﺔ ﺑﻴﺎﻧﺎﺕ ﻻ ﺗﻨﺘﻬﻲ", &[])];
    assert!(text_of(&set, Codes::Identity, true).contains("مجموعة بيانات لا تنتهي"));
}
