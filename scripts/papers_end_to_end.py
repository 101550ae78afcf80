#!/usr/bin/env python3
"""From raw papers to datasets, end to end: extraction, graph and search, beside what needs neither graph nor extraction.

usage: papers_end_to_end.py PAPERS.jsonl GOLD.jsonl CORPUS.jsonl FOLDER [--program lakeward] [--every N] [--llm]

PAPERS: lines with `id`, `title` and texts; GOLD: lines with `paper`, `task`, `dataset`; CORPUS: records of the catalogue, with `id` and `title`.
FOLDER gets a lake with the catalogue, what was extracted from the papers and the graph; what is there is used again. A query is a task of a paper
with the paper's title, asked with that paper left out; its gold are the paper's datasets for the task that the catalogue has. Systems:
- graph: `lakeward task`, over what was extracted from the other papers;
- kats: the same as published (two seeds, PageRank, no rerank);
- graph-free: `lakeward search` over titles and descriptions of the catalogue;
- rag: VanillaRAG without a writer: the best ten passages of the other papers by BM25, and the catalogue's names in them, in order.
EM: the first name is a gold name (case, spaces and punctuation aside). F1: of the words of the first name and of the nearest gold name.
`--llm` reads papers and orders answers with the language model of the settings; tokens are as `papers extract` and `task` count them.
"""
import argparse, collections, json, math, pathlib, re, subprocess, sys

PASSAGE, PASSAGES, K1, B = 120, 10, 1.2, 0.75


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def flat(text):
    return re.sub(r"[^0-9a-z]", "", text.lower())


def words(text):
    return re.findall(r"[0-9a-z]+", text.lower())


def f1(one, other):
    shared = sum((collections.Counter(words(one)) & collections.Counter(words(other))).values())
    return 2 * shared / max(1, len(words(one)) + len(words(other)))


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


class Passages:
    """BM25 over runs of words of papers."""

    def __init__(self, papers):
        self.all = []
        for paper in papers:
            tokens = " ".join(text for key, text in paper.items() if key != "id" for text in strings(text)).split()
            self.all += [(paper["id"], " ".join(tokens[at : at + PASSAGE])) for at in range(0, len(tokens), PASSAGE)]
        self.counts = [collections.Counter(words(text)) for _, text in self.all]
        self.lengths = [sum(counts.values()) for counts in self.counts]
        self.mean = sum(self.lengths) / max(1, len(self.lengths))
        self.found = collections.defaultdict(list)
        for place, counts in enumerate(self.counts):
            for word in counts:
                self.found[word].append(place)

    def best(self, query, without):
        scores = collections.Counter()
        for word in set(words(query)):
            places = self.found.get(word, [])
            rarity = math.log(1 + (len(self.all) - len(places) + 0.5) / (len(places) + 0.5))
            for place in places:
                count = self.counts[place][word]
                norm = K1 * (1 - B + B * self.lengths[place] / self.mean)
                scores[place] += rarity * count / (count + norm)
        ranked = sorted(scores, key=lambda place: (-scores[place], place))
        return [self.all[place][1] for place in ranked if self.all[place][0] != without][:PASSAGES]


def named_in(passages, titles):
    """Titles in the order in which they are first said; only those with a capital beyond the first letter or a digit are names."""
    found = []
    for passage in passages:
        tokens = re.findall(r"[\w\-]+", passage)
        for at in range(len(tokens)):
            for size in (4, 3, 2, 1):
                said = " ".join(tokens[at : at + size])
                title = titles.get(flat(said))
                if title and re.search(r"[0-9]|.[A-Z]", said) and title not in found:
                    found.append(title)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("papers", "gold", "corpus", "folder"):
        parser.add_argument(name)
    parser.add_argument("--program", default="lakeward")
    parser.add_argument("--every", type=int, default=1, help="asks every N-th query only")
    parser.add_argument("--llm", action="store_true")
    asked = parser.parse_args()
    lake = pathlib.Path(asked.folder) / "lake"
    lake.mkdir(parents=True, exist_ok=True)

    def run(*arguments, model=False):
        use = [] if model and asked.llm else ["--no-llm"]
        command = [asked.program, "--lake", str(lake), "--quiet", "--json", *use, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout.strip():
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)

    if not (lake / ".lakeward" / "manifest.json").exists():
        run("index", "--records", asked.corpus)
    run("papers", "add", asked.papers)
    extracted = run("papers", "extract", model=True)
    graph = run("graph", "build")
    cost = f"{extracted['calls']} calls, {extracted['tokens']} tokens" if extracted["calls"] else "no model asked"
    print(f"{extracted['documents']} papers by {extracted['extractor']}, {cost}; graph of {graph['uses']} uses")

    papers = lines(asked.papers)
    titles = {flat(record["title"]): record["title"] for record in lines(asked.corpus)}
    of_paper = {paper["id"]: paper.get("title", "") for paper in papers}
    gold = collections.defaultdict(set)
    for line in lines(asked.gold):
        if flat(line["dataset"]) in titles and line["paper"] in of_paper:
            gold[line["paper"], line["task"]].add(titles[flat(line["dataset"])])
    queries = sorted(gold)[:: asked.every]
    passages = Passages(papers)
    scores, tokens = collections.defaultdict(list), 0
    for paper, task in queries:
        text, right = f"{task}. {of_paper[paper]}", gold[paper, task]
        told = run("task", text, "-k", "10", "--exclude", paper, model=True)
        tokens += (told.get("order") or {}).get("tokens", 0)
        answers = {
            "graph": [answer["title"] for answer in told["answers"]],
            "kats": [a["title"] for a in run("task", text, "-k", "10", "--exclude", paper, "--seeds", "2", "--no-rerank")["answers"]],
            "graph-free": [answer["title"] for answer in run("search", text, "-k", "10")["answers"]],
            "rag": named_in(passages.best(text, paper), titles),
        }
        for system, names in answers.items():
            first = names[0] if names else ""
            hits = [name in right for name in names]
            scores[system].append((hits[:1] == [True], max(f1(first, name) for name in right), any(hits[:5]), any(hits[:10])))
    print(f"{len(queries)} queries; " + (f"{tokens} tokens for ordering" if tokens else "no model asked"))
    print("| system | EM | F1 | hit@5 | hit@10 |\n|---|---:|---:|---:|---:|")
    for system, rows in scores.items():
        print(f"| {system} | " + " | ".join(f"{sum(column) / len(rows):.3f}" for column in zip(*rows)) + " |")


main()
