"""From files to a report and a gold standard, as the app does it."""

import gzip
import io
import json
import re
import zipfile
from collections import Counter
from dataclasses import replace

import pytest

import beyondchance as bc
from beyondchance.app import sessions
from beyondchance.app.work import Worker, read_files, ways, write_gold, write_report
from beyondchance.cli.main import main
from beyondchance.io.writing import WRITTEN
from beyondchance.messages import Use
from deciding import decided_for, file_of, marks
from refusals import assert_tells, refused
from serving import Browser
from tasks import fails, sleeps

MAJORITY = {"to": "table", "rest": "majority", "ties": None}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The files of the example, one for each of three people."""
    folder = tmp_path_factory.mktemp("example")
    bc.example()
    assert main(["demo", "--files", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def corpus(example):
    return bc.read(*sorted(example.iterdir()))


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What a task said it does; in a folder of its own, which tasks may leave."""
    monkeypatch.chdir(tmp_path)
    return []


def spans_of(corpus, *who):
    """Who marked what in which text, in plain Python."""
    columns = ("text", "annotator", "start", "end", "label")
    rows = zip(*(getattr(corpus, f"span_{name}").tolist() for name in columns), strict=True)
    spans = (
        (corpus.annotators[by], (text, *place, corpus.labels[x])) for text, by, *place, x in rows
    )
    return [(by, span) for by, span in spans if by in who]


def own_gold(corpus, decisions):
    """What more than half marked, but for stretches that were decided."""
    votes = Counter(span for _, span in set(spans_of(corpus, *corpus.annotators)))
    document = [corpus.documents[i] for i in corpus.text_document.tolist()]
    team = {name: len(corpus.annotators_of(name)) for name in corpus.documents}
    found = {span for span, n in votes.items() if 2 * n > team[document[span[0]]]}
    for x in decisions:
        text = document.index(x["document"]) + x["text"]
        kept = {y for y in found if y[0] != text or y[2] <= x["start"] or x["end"] <= y[1]}
        found = kept | {(text, *span) for span in x["spans"]}
    return found


def gold_in(path):
    """What a file has of the gold standard."""
    read = bc.read(path)
    return {span for _, span in spans_of(read, *read.annotators)}


class TestReading:
    def test_it_is_what_the_command_line_reads(self, example, corpus, told):
        found = read_files(told.append, example, {})
        everybody = corpus.annotators
        assert spans_of(found.corpus, *everybody) == spans_of(corpus, *everybody)
        assert told == ["reading"]
        assert [name for name, *_ in found.people] == ["ada", "ben", "cleo"]
        for name, documents, spans in found.people:
            own = marks(corpus, name)
            assert (documents, spans) == (len(own), sum(map(len, own.values())))
        assert any("read as conll" in text for text in found.notes)

    def test_what_was_mended_is_told(self, tmp_path, told):
        rows = ["0,ada,0,1,X,5", "0,ada,0,1,X,5", "0,ben,0,1,X,5"]
        head = "document,annotator,start,end,label,length"
        (tmp_path / "team.csv").write_text("\n".join([head, *rows]))
        found = read_files(told.append, tmp_path, {})
        assert any(text.startswith("Mended: ") for text in found.notes)

    def test_messages_name_files_without_the_folder(self, tmp_path, told):
        (tmp_path / "team").mkdir()
        (tmp_path / "team" / "a.json").write_text('[{"id": 1, ')
        with refused(bc.FormatError, "team/a.json:1: …"):
            read_files(told.append, tmp_path, {})

    def test_archives_that_unfold_to_too_much(self, tmp_path, told):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.conll", b"\n" * 10**7)
        for name, content in (
            ("a.zip", packed.getvalue()),
            ("a.gz", gzip.compress(b"a B-X\n" + b"\n" * 10**7)),
        ):
            place = tmp_path / name
            place.mkdir()
            (place / f"x{name[1:]}").write_bytes(content)
            with refused(bc.FormatError, "x… unpacks … expected at most …"):
                read_files(told.append, place, {})

    def test_options_that_sentences_name_can_be_chosen(self):
        named = (
            *("see ", Use("repair", "discard"), " or ", Use("repair", "discard")),
            *(Use("gold", placeholder="NAME"), Use("unit", is_name=True), Use("measure", "exact")),
            # A path is for people who have one.
            *(Use("documents", "/etc/passwd"), Use("format", "conll")),
        )
        assert ways([named]) == (Use("repair", "discard"), Use("format", "conll"))
        assert ways(["nothing"]) == ()


class TestReport:
    def made(self, corpus, told, tmp_path, **options):
        asked = {"names": {}, "gold": None, "decisions": [], "address": "/x/decisions"} | options
        place = tmp_path / "report.html"
        found = write_report(told.append, corpus, place=place, **asked)
        return *found, place.read_text("utf-8")

    def test_it_is_the_page_of_the_command_line(self, example, told, tmp_path):
        assert main(["report", str(example), "--quiet", "-o", str(tmp_path / "own.html")]) == 0
        found = read_files(told.append, example.parent / example.name, {})
        corpus = bc.read(example)
        _, decided, page = self.made(corpus, told, tmp_path)
        own = (tmp_path / "own.html").read_text("utf-8")
        plain, n = re.subn(' data-save-to="/x/decisions" data-next="[^"]+"', "", page)
        assert n == 1
        assert plain.replace("connect-src 'self'; ", "", 1) == own
        assert found.corpus.annotators == corpus.annotators
        assert_tells(decided, "0 of … places … consensus …")

    def test_names_and_a_gold_standard(self, corpus, told, tmp_path):
        names = {"ada": "Ada L.", "ben": "ben", "cleo": "cleo"}
        about, decided, page = self.made(corpus, told, tmp_path, names=names, gold="Ada L.")
        assert (about.annotators, about.gold) == (("Ada L.", "ben", "cleo"), "Ada L.")
        assert decided == ""
        assert "leaderboard" in page
        with refused(bc.DataError, "… two annotators … 'ben'; …"):
            self.made(corpus, told, tmp_path, names={"ada": "ben"})

    @pytest.mark.parametrize("last", ["2024-02-16", "2024-02-05"])
    def test_agreement_by_week_where_there_are_several(self, corpus, told, tmp_path, last):
        dates = ("2024-02-05",) * (len(corpus.documents) - 1) + (last,)
        dated = replace(corpus, fields={"date": dates})
        *_, page = self.made(dated, told, tmp_path)
        assert ("by week" in page) == (last == "2024-02-16")


class TestGold:
    def written(self, corpus, decisions, told, place, **options):
        place.mkdir(exist_ok=True)
        asked = MAJORITY | options
        return write_gold(told.append, corpus, decisions, place=place, **asked)

    def test_it_is_what_was_decided_and_the_majority(self, corpus, told, tmp_path):
        all_for_ada = decided_for(corpus, "ada")
        some = all_for_ada[:1] + all_for_ada[3:7] + decided_for(corpus, "cleo")[8:9]
        for decisions in ([], some, all_for_ada):
            file = [file_of(corpus, decisions)] if decisions else []
            place = tmp_path / str(len(decisions))
            path, told_ = self.written(corpus, file, told, place, to="conll")
            assert path.name == "gold.conll"
            assert_tells(told_, f"{len(decisions)} of {len(all_for_ada)} places …")
            assert gold_in(path) == own_gold(corpus, decisions)
        assert gold_in(path) == {span for _, span in spans_of(corpus, "ada")}

    @pytest.mark.parametrize("to", WRITTEN)
    def test_every_format_can_be_read_again(self, to, corpus, told, tmp_path):
        decisions = [file_of(corpus, decided_for(corpus, "ada"))]
        path, _ = self.written(corpus, decisions, told, tmp_path / "gold", to=to)
        assert path.suffix
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                archive.extractall(tmp_path / "unpacked")
            path = tmp_path / "unpacked" / "gold"
        read = bc.read(path)
        assert len(read.span_start) == sum(map(len, marks(corpus, "ada").values()))
        assert sorted(read.labels[i] for i in read.span_label) == sorted(
            label for spans in marks(corpus, "ada").values() for *_, label in spans
        )

    def test_rules_are_those_of_adjudicate(self, corpus, told, tmp_path):
        with refused(bc.DataError, "8 of 76 … ties …", use="ties"):
            self.written(corpus, [], told, tmp_path, rest="consensus")
        with refused(bc.DataError, "… not decided …"):
            self.written(corpus, [], told, tmp_path, rest="refuse")
        sizes = []
        for ties in ("keep", "drop"):
            place = tmp_path / ties
            path, _ = self.written(corpus, [], told, place, rest="consensus", ties=ties)
            sizes.append(len(bc.read(path).span_start))
        assert sizes == [76, 68]
        with refused(bc.OptionError, "… 'x' …"):
            self.written(corpus, [], told, tmp_path / "x", to="x")

    def test_a_name_that_is_taken(self, corpus, told, tmp_path):
        named = corpus.rename_annotators({"ada": "gold"})
        path, _ = self.written(named, [], told, tmp_path / "x", to="conll")
        assert path.name == "gold 2.conll"


@pytest.mark.slow
class TestWorker:
    def test_what_goes_wrong_is_a_sentence(self):
        with refused(bc.DataError, "a defect of beyondchance … (KeyError …"):
            Worker(fails, "defect").result()
        with refused(bc.DataError, "there is not enough memory …"):
            Worker(fails, "memory").result()

    def test_it_ends_when_it_is_told(self):
        worker = Worker(sleeps)
        worker.end()
        with refused(bc.DataError, "the work was ended …"):
            worker.result()


@pytest.mark.slow
class TestSession:
    def test_from_files_to_gold(self, browser, example, corpus, tmp_path):
        browser.give({path.name: path.read_bytes() for path in sorted(example.iterdir())})
        state = browser.work(do="read")
        assert [name for name, *_ in state["people"]] == ["ada", "ben", "cleo"]
        assert (state["gold"], state["report"], state["format"]) == (None, False, "conll")
        state = browser.work(do="report", names=["Ada", "", "cleo"], gold=None)
        assert state["error"] is None
        assert state["decides"]
        answer = browser.ask("GET", f"{browser.path}report")
        page = answer.content.decode()
        assert f'data-save-to="{browser.path}decisions"' in page
        # It may send to the address of its own decisions only.
        address = f"http://127.0.0.1:{browser.port}{browser.path}decisions"
        assert f"connect-src {address};" in answer.headers["content-security-policy"]
        named = corpus.rename_annotators({"ada": "Ada"})
        decisions = decided_for(named, "Ada")[:4]
        file = {"name": "decisions.json", "type": "application/json"}
        text = json.dumps(file_of(named, decisions))
        status, found = browser.send("POST", "decisions", {**file, "text": text})
        assert status == 200
        assert_tells(found["message"], "Saved. 4 of … places …")
        assert browser.send("GET", "decisions")[1] == json.loads(text)
        # What is none changes nothing.
        wrong = json.dumps(file_of(named, [decisions[0] | {"document": "x"}]))
        for bad, told in ((wrong, "… 'x' …"), ("{}", "… no decisions …"), ("", "… JSON …")):
            status, found = browser.send("POST", "decisions", {**file, "text": bad})
            assert status == 400
            assert_tells(found["message"], told)
        state = browser.work(do="gold", to="conll", rest="majority", ties=None)
        assert_tells(state["decided"], "4 of …")
        assert state["written"] == "gold.conll"
        answer = browser.ask("GET", f"{browser.path}gold")
        assert 'filename="gold.conll"' in answer.headers["content-disposition"]
        (tmp_path / "gold.conll").write_bytes(answer.content)
        assert gold_in(tmp_path / "gold.conll") == own_gold(corpus, decisions)

    def test_another_way_of_reading_is_a_click(self, browser):
        head = "document,annotator,start,end,label,length"
        rows = [head, "0,ada,0,1,X,5", "0,ada,3,3,X,5", "0,ben,0,1,X,5"]
        browser.give({"team.csv": "\n".join(rows).encode()})
        state = browser.work(do="read")
        assert_tells(state["error"], "team.csv:3: … empty …")
        (way,) = [i for i, x in enumerate(state["ways"]) if "'skip'" in x["text"]]
        state = browser.work(do="read", way=way)
        assert state["error"] is None
        assert state["people"] == [["ada", 1, 1], ["ben", 1, 1]]
        (way,) = [i for i, x in enumerate(state["ways"]) if x["on"]]
        assert browser.work(do="read", way=way)["error"]
        for way in (-1, 99, "0", None):
            assert browser.work(do="read", way=way)["error"]

    def test_what_the_report_advises_is_a_click_too(self, browser):
        for number, name in enumerate(("ada", "ben")):
            row = {"id": number, "text": "Zoe met Bo", "label": [[0, 3, "X"]]}
            browser.give({f"{name}.jsonl": json.dumps(row).encode()})
        assert "match" not in str(browser.work(do="read")["ways"])
        state = browser.work(do="report", names=[], gold=None)
        assert_tells(state["error"], "no document was annotated by two …")
        (way,) = [i for i, x in enumerate(state["ways"]) if x["text"] == "the match 'text'"]
        assert browser.work(do="read", way=way)["error"] is None
        assert browser.work(do="report", names=[], gold=None)["report"]

    def test_two_tabs(self, server, browser, example):
        other = Browser(server.port)
        assert other.path != browser.path
        files = {path.name: path.read_bytes() for path in sorted(example.iterdir())}
        browser.give(files)
        other.give({"a.json": b"{"})
        for tab in (browser, other):
            assert tab.send("POST", "work", {"do": "read"})[0] == 200
        # One work at a time in each.
        status, found = browser.send("POST", "work", {"do": "read"})
        assert status == 400
        assert_tells(found["message"], "… work to wait for …")
        assert browser.send("PUT", "files/new", b"x")[0] == 400
        assert len(browser.wait()["people"]) == 3
        assert_tells(other.wait()["error"], "a.json … JSON …")
        other.send("POST", "anew", {})
        assert len(browser.wait()["people"]) == 3

    def test_work_can_be_stopped(self, browser, example, monkeypatch):
        read = sessions.read_files
        monkeypatch.setattr(sessions, "read_files", sleeps)
        browser.give({path.name: path.read_bytes() for path in sorted(example.iterdir())})
        assert browser.send("POST", "work", {"do": "read"})[1]["busy"]
        assert browser.wait_for("sleeping")
        assert browser.send("POST", "stop", {})[0] == 200
        assert_tells(browser.wait()["error"], "the work was ended …")
        monkeypatch.setattr(sessions, "read_files", read)
        assert len(browser.work(do="read")["people"]) == 3

    def test_hostile_texts_and_names_are_texts(self, browser):
        evil = "</script><script>alert(1)</script>"
        tokens = "".join(f"{evil}\t{tag}\nx\tO\n\n" for tag in ("B-PER", "O"))
        browser.give({f"{name}.conll": tokens.encode() for name in ("ada", "ben")})
        browser.work(do="read")
        state = browser.work(do="report", names=[evil, "'\"><img src=x>"], gold=None)
        assert state["error"] is None
        page = browser.ask("GET", f"{browser.path}report").content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page
        scripts = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
        assert len(scripts) == 3
