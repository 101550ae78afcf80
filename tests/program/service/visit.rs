//! What a visitor of the page sees after what they did: the new thing, and where something cannot be done, their own words with a way on.

use regex::Regex;
use reqwest::StatusCode;

use super::browser::{Browser, check, link};
use super::hostile_lake;
use super::server::Server;

/// A conversation about the shops of the hostile lake.
fn conversation(browser: &Browser<'_>) -> String {
    let asked = [("text", "only the rows where the city is Ghent"), ("table", "shops/sales")];
    browser.submit(&browser.open("/"), "/ask", &asked)
}

#[test]
fn whoever_did_something_is_led_to_what_came_of_it() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let asked = [("text", "only the rows where the city is Ghent"), ("table", "shops/sales")];
    let place = browser.led_to(&browser.open("/"), "/ask", &asked);
    assert!(place.ends_with("#answer-1"), "{place}");
    let page = browser.open(&place);
    assert!(page.contains("id=\"answer-1\" tabindex=\"-1\""), "{page}");
    assert!(page.contains("<h1>only the rows where the city is Ghent</h1>"), "{page}");
    let next = browser.led_to(&page, "/ask", &[("text", "tables to join with it")]);
    assert!(next.ends_with("#answer-2"), "{next}");
    let page = browser.open(&next);
    assert!(page.contains("<summary>Answer</summary>"), "{page}");

    let chosen = browser.led_to(&page, "/choose", &[]);
    assert!(chosen.ends_with("#table-1"), "{chosen}");
    let page = browser.open(&chosen);
    assert!(page.contains("✓ accepted") && page.contains("Accepted: joins and unions start from it"), "{page}");
}

#[test]
fn what_is_remembered_is_changed_beside_the_answer_that_does_not_know_of_it() {
    let server = Server::of(hostile_lake::make_sample, &[]);
    let browser = Browser::new(&server);
    let asked = [("text", "datasets about population since 2000"), ("table", "")];
    let page = browser.submit(&browser.open("/"), "/ask", &asked);
    let said = browser.led_to(&page, "/demand", &[("role", "period"), ("value", "since 2010")]);
    assert!(said.ends_with("#memory"), "{said}");
    let changed = browser.open(&said);
    assert!(changed.contains("Forget period: ") && changed.contains("This answer was given before"), "{changed}");
    let forgotten = browser.submit(&changed, "/forget", &[]);
    assert!(forgotten.contains("was removed"), "{forgotten}");
    let again = browser.open(&link(&forgotten, "/sessions/[^\"]*\\?ask=1#next"));
    assert!(again.contains("autofocus>datasets about population since 2000</textarea>"), "{again}");
    let old = browser.sent(&page, "/demand", &[("role", "period"), ("value", "since 2010")]);
    assert_eq!(old.status, StatusCode::CONFLICT);
    let nothing = browser.sent(&forgotten, "/demand", &[("role", "period"), ("value", "one fine day")]);
    assert_eq!(nothing.status, StatusCode::BAD_REQUEST);
    check(&nothing.text());
}

#[test]
fn a_result_is_numbered_and_run_once() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let page = conversation(&browser);
    let preview = browser.open(&link(&page, "/sessions/[^\"]*/preview\\?turn=1[^\"]*operation=1"));
    assert!(preview.contains("<h1>Operation 1: 6 of 60 rows</h1>"), "{preview}");
    let place = browser.led_to(&preview, "/run", &[]);
    assert!(place.ends_with("?ran=1#result-1"), "{place}");
    let page = browser.open(&place);
    assert!(page.contains("id=\"result-1\"") && page.contains("It was run: this is its result"), "{page}");
    assert!(page.contains("The first 3 of 6") && page.contains("Result 1</strong> · Filter"), "{page}");
    // After back, the same form again.
    let again = browser.led_to(&preview, "/run", &[]);
    assert!(again.ends_with("?again=1#result-1"), "{again}");
    let page = browser.open(&again);
    assert!(page.contains("run already") && !page.contains("Result 2"), "{page}");
    let undone = browser.led_to(&page, "/undo", &[]);
    assert!(undone.ends_with("?back=1#result-1"), "{undone}");
    assert!(browser.open(&undone).contains("It was taken back"));
}

#[test]
fn a_tab_that_is_behind_shows_the_operation_that_it_names() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let page = conversation(&browser);
    let first = link(&page, "/sessions/[^\"]*/preview\\?turn=1[^\"]*operation=1");
    browser.submit(&page, "/ask", &[("text", "the total sales for each city")]);
    let preview = browser.open(&first);
    assert!(preview.contains("Ghent") && preview.contains("operation 1 of answer 1"), "{preview}");
    assert!(preview.contains("The conversation has gone on since"), "{preview}");
    let gone = browser.get(&first.replace("turn=1", "turn=9"));
    assert_eq!(gone.status, StatusCode::BAD_REQUEST);
    check(&gone.text());
    assert!(gone.text().contains("not kept any more") && gone.text().contains("Back to the conversation"));
}

#[test]
fn what_was_proposed_is_previewed_in_words() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let page = conversation(&browser);
    let run = browser.led_to(&page, "/ask", &[("text", "ok, run it")]);
    assert!(run.ends_with("/preview?turn=2&operation=1"), "{run}");
    let preview = browser.open(&run);
    assert!(preview.contains("Run it"), "{preview}");
}

#[test]
fn commands_are_never_read_as_questions() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let answer = browser.sent(&browser.open("/"), "/ask", &[("text", "/help"), ("table", "shops/sales")]);
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    check(&answer.text());
    assert!(
        answer.text().contains("On this page") && answer.text().contains("autofocus>/help</textarea>"),
        "{}",
        answer.text()
    );
    assert!(
        answer.text().contains("value=\"shops/sales\"") && answer.text().contains("href=\"/map\">Map"),
        "{}",
        answer.text()
    );
    let page = conversation(&browser);
    for (typed, part) in [("/accept 1", "press “Accept”"), ("/memry", "`/memory`"), ("/undo", "no operation to undo")]
    {
        let answer = browser.sent(&page, "/ask", &[("text", typed)]);
        let part = part.replace("`/memory`", "<code>/memory</code>");
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{typed}");
        assert!(
            answer.text().contains(&part) && answer.text().contains(&format!("{typed}</textarea>")),
            "{}",
            answer.text()
        );
        assert!(!answer.text().contains("id=\"answer-2\""), "{typed}");
    }
    let run = browser.led_to(&page, "/ask", &[("text", "/run")]);
    assert!(run.ends_with("/preview?turn=1&operation=1"), "{run}");
    assert!(browser.led_to(&page, "/ask", &[("text", "/memory")]).ends_with("#memory"));
    let set = browser.sent(&page, "/ask", &[("text", "/memory set place Belgium")]);
    assert!(
        set.text().contains("says nothing by field") && set.text().contains("place Belgium</textarea>"),
        "{}",
        set.text()
    );
    // A path is a request.
    let asked = browser.led_to(&page, "/ask", &[("text", "/srv/data is where the sales are")]);
    assert!(asked.ends_with("#answer-2"), "{asked}");
}

#[test]
fn what_cannot_be_done_keeps_the_page_and_the_words() {
    let server = Server::start();
    let browser = Browser::new(&server);
    let wrong = browser.sent(&browser.open("/"), "/ask", &[("text", "mean sales"), ("table", "shops/sale")]);
    assert_eq!(wrong.status, StatusCode::NOT_FOUND);
    check(&wrong.text());
    assert!(wrong.text().contains("autofocus>mean sales</textarea>"), "{}", wrong.text());
    let filled = browser.open(&link(&wrong.text(), "/\\?text=[^\"]*table=shops/sales"));
    assert!(filled.contains("autofocus>mean sales</textarea>") && filled.contains("value=\"shops/sales\""), "{filled}");
    let table = browser.get("/table?id=shops/sale");
    check(&table.text());
    assert!(
        table.text().contains("href=\"/table?id=shops/sales\"") && table.text().contains("href=\"/search\">Search")
    );
    // A column that is not there: the value is kept, the nearest ones are offered.
    let page = conversation(&browser);
    let preview = browser.open(&link(&page, "/sessions/[^\"]*/preview\\?turn=1[^\"]*operation=1"));
    let pattern = Regex::new("name=\"(/[^\"]*)\" type=\"text\" value=\"city\"").expect("a pattern");
    let column = pattern.captures(&preview).unwrap_or_else(|| panic!("{preview}"))[1].to_string();
    let wrong = browser.sent(&preview, "/preview", &[(&column, "citty")]);
    assert_eq!(wrong.status, StatusCode::NOT_FOUND, "{}", wrong.text());
    check(&wrong.text());
    assert!(
        wrong.text().contains("value=\"citty\"") && wrong.text().contains("<button>city</button>"),
        "{}",
        wrong.text()
    );
    assert!(preview.contains("<option value=\"city\">"), "{preview}");
    // After a new start of the service, cookies are not known: a page says so, and leads back.
    let stranger = [("cookie", "lakeward_1=old"), ("accept", "text/html")];
    let led = server.send("GET", "/sessions/a/result?step=1", &stranger, "");
    assert_eq!(led.status, StatusCode::SEE_OTHER);
    let cookie = format!("lakeward_{}=old", server.port);
    let led = server.send("GET", "/sessions/a/result?step=1", &[("cookie", &cookie), ("accept", "text/html")], "");
    assert_eq!(led.header("location"), "/login?ended=1&next=/sessions/a/result%3Fstep%3D1");
    let login = server.send("GET", led.header("location"), &[], "").text();
    check(&login);
    assert!(login.contains("not logged in any more") && login.contains("Authorization: Bearer"), "{login}");
    let own = server.origin();
    let from = [
        ("cookie", cookie.as_str()),
        ("origin", own.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    let lost = server.send("POST", "/sessions/a/ask", &from, "text=x");
    assert_eq!(lost.status, StatusCode::UNAUTHORIZED);
    check(&lost.text());
    assert!(lost.text().contains("Nothing was done"), "{}", lost.text());
    let form = [("origin", own.as_str()), ("content-type", "application/x-www-form-urlencoded")];
    let body = format!("secret={}&next=/map%3Fkind%3Djoin", server.token);
    assert_eq!(server.send("POST", "/login", &form, body).header("location"), "/map?kind=join");
    let body = format!("secret={}&next=//evil.example", server.token);
    assert_eq!(server.send("POST", "/login", &form, body).header("location"), "/");
    // Whoever opens the printed address again is there already.
    assert_eq!(browser.get(&server.login).header("location"), "/");
}

/// A lake with one table of more places than a chart has bars, a row of totals among them.
fn many_places(folder: &std::path::Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    let rows = (0..70).map(|place| format!("Place of name {place:02},{},{place}\n", (place * 37) % 70));
    let total = "Total,2415,\n".to_string();
    let csv: String = std::iter::once("place,people,rank\n".to_string()).chain(rows).chain([total]).collect();
    std::fs::write(folder.join("places.csv"), csv).expect("a file");
}

#[test]
fn a_chart_takes_the_largest_rows_are_paged_and_a_warning_has_a_remedy() {
    let server = Server::of(many_places, &[]);
    let browser = Browser::new(&server);
    let asked = [("text", "keep the columns place and people"), ("table", "places")];
    let page = browser.submit(&browser.open("/"), "/ask", &asked);
    let preview = browser.open(&link(&page, "/sessions/[^\"]*/preview\\?turn=1[^\"]*operation=1"));
    assert!(preview.contains("keeps 2 of 3 columns"), "{preview}");
    let whole = browser.submit(&preview, "/run", &[]);
    let result = link(&whole, "/sessions/[^\"]*/result\\?step=1");
    let first = browser.open(&result);
    assert!(first.contains("The 40 largest of 71.") && first.contains("<title>Total: 2415</title>"), "{first}");
    assert!(first.contains("Place of name 17</text>") && !first.contains("Place of name 00: 0"), "{first}");
    assert!(first.contains("1 to 50 of 71"), "{first}");
    let second = browser.open(&link(&first, "/sessions/[^\"]*from=50[^\"]*"));
    assert!(second.contains("51 to 71 of 71"), "{second}");
    // Over all rows the total counts beside its parts: one step leaves it out.
    let asked = [("text", "the total people"), ("table", "places")];
    let page = browser.submit(&browser.open("/"), "/ask", &asked);
    let preview = browser.open(&link(&page, "/sessions/[^\"]*/preview\\?turn=1[^\"]*operation=1"));
    assert!(preview.contains("holds totals of others") && preview.contains("Leave out: place is Total"), "{preview}");
    let edit = Regex::new("name=\"edit\" value=\"([^\"]*)\"").expect("a pattern");
    let edit = edit.captures(&preview).expect("an edit")[1].to_string();
    let put_right = browser.sent(&preview, "/preview", &[("edit", &edit)]);
    assert_eq!(put_right.status, StatusCode::OK, "{}", put_right.text());
    assert!(!put_right.text().contains("holds totals") && put_right.text().contains("2415"), "{}", put_right.text());
}

#[test]
fn the_first_page_shows_what_can_be_asked_and_all_tables_are_listed() {
    let server = Server::of(hostile_lake::make_sample, &[]);
    let browser = Browser::new(&server);
    let home = browser.open("/");
    let example = browser.open(&link(&home, "/\\?text=[^\"]+&amp;table=[^\"]+"));
    assert!(!example.contains("autofocus></textarea>"), "{example}");
    let list = browser.open("/search");
    let all = Regex::new("All (\\d+) datasets").expect("a pattern").captures(&list).expect("a number")[1].to_string();
    assert!(list.contains("1 to 50"), "{list}");
    let mut listed = list.matches("<li><a href=\"/table?id=").count();
    let mut next = list;
    let from = Regex::new("href=\"(/search\\?from=\\d+)\">Next").expect("a pattern");
    while next.contains(">Next</a>") {
        next = browser.open(&from.captures(&next).expect("a link")[1]);
        listed += next.matches("<li><a href=\"/table?id=").count();
    }
    assert_eq!(listed.to_string(), all);
    assert!(browser.get("/map").text().contains("To see others"));
}
