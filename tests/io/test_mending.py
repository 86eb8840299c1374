"""What real files contain is read, counted, said and signed; strict reading refuses it."""

from __future__ import annotations

import io
import json

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.options import Reading
from beyondchance.messages import COMMAND_LINE
from beyondchance.options import MENDED, ReadOptions, declared, refused_kinds
from each import each
from refusals import assert_tells, refused

MENDING = {name for name, item in declared(ReadOptions).items() if item.option.refuses}


def files(folder, **contents):
    """Files by name, in a folder of their own."""
    folder.mkdir(exist_ok=True)
    found = []
    for name, content in contents.items():
        path = folder / name.replace("__", ".")
        path.write_text(content)
        found.append(path)
    return found


def conll(words, tags):
    return "".join(f"{w}\t{t}\n" if w else "\n" for w, t in zip(words, tags, strict=True))


GOLD = "Ada\tB-PER\nleft\tO\n\nOslo\tB-LOC\n"


class TestRepairs:
    STRAY = "Ada\tI-PER\nleft\tO\n\nOslo\tB-LOC\n"

    def test_stray_tags_are_read_as_conlleval_does(self, tmp_path):
        corpus = bc.read(*files(tmp_path, gold__conll=GOLD, system__conll=self.STRAY))
        assert corpus.spans("1", "system") == [(0, 1, "PER")]
        assert corpus.skipped == {"tags repaired by conlleval": 1}
        assert corpus.options["repair"] == "conlleval"
        result = bc.agreement(corpus)
        assert result.corrected == 1
        assert result.skipped["tags repaired by conlleval"] == 1
        assert "|repair:conlleval|" in str(result.settings)

    def test_what_repaired_nothing_is_not_signed(self, tmp_path):
        paths = files(tmp_path, a__conll=GOLD, b__conll=GOLD)
        for options in ({}, {"strict": True}, {"repair": "none"}):
            corpus = bc.read(*paths, **options)
            assert not {*MENDING, *MENDED} & corpus.options.keys()

    @each("options", [{"strict": True}, {"repair": "none"}])
    def test_strict_reading_refuses_them(self, tmp_path, options):
        paths = files(tmp_path, gold__conll=GOLD, system__conll=self.STRAY)
        with refused(bc.TagError, "system.conll:1: … tag 'I-PER' … start"):
            bc.read(*paths, **options)

    def test_an_option_of_its_own_wins_over_strict(self, tmp_path):
        paths = files(tmp_path, gold__conll=GOLD, system__conll=self.STRAY)
        corpus = bc.read(*paths, strict=True, repair="discard")
        assert corpus.skipped == {"tags repaired by discard": 1}
        assert corpus.options["repair"] == "discard"

    def test_a_training_loop_goes_on(self):
        gold = [["O", "B-PER", "I-PER"], ["B-LOC", "O"]]
        for epoch in (
            [["O", "I-PER", "I-PER"], ["O", "O"]],
            [["O", "I-PER", "I-LOC"], ["O", "I-X"]],
        ):
            result = bc.agreement(gold, epoch)
            assert 0 <= result.observed <= 1
            assert result.skipped["tags repaired by conlleval"] >= 1


class TestTokensThatDiffer:
    def test_spelling_at_equal_counts(self, tmp_path):
        one = f"and\tO\nthen\tO\n{GOLD}"
        other = "And\tO\nthen\tO\n[UNK]\tB-PER\nLEFT\tO\n\nOslo\tB-LOC\n"
        corpus = bc.read(*files(tmp_path, a__conll=one, b__conll=other))
        assert corpus.spans("1", "b") == [(2, 3, "PER")]
        assert corpus.texts == ("and then Ada left", "Oslo")
        key = "tokens that differ in spelling, aligned by their number"
        assert corpus.skipped == {key: 3}
        assert corpus.options["mismatch"] == "align"
        with refused(bc.MismatchError, "document … '1' … strict='-mismatch'"):
            bc.read(tmp_path / "a.conll", tmp_path / "b.conll", strict=True)

    @each("unknown", ["[UNK]", "<unk>", "\ufffd"])
    def test_unknown_words_are_no_evidence(self, tmp_path, unknown):
        one = conll(["Ada", "met", "Bo", "in", "Oslo"], ["B-PER", "O", "O", "O", "O"])
        nothing = conll([unknown] * 5, ["B-PER", "O", "O", "O", "O"])
        for given in ((one, nothing), (nothing, one)):
            paths = files(tmp_path, **dict(zip(("a__conll", "b__conll"), given, strict=True)))
            with refused(bc.MismatchError, "differs"):
                bc.read(*paths)
        stops = conll(["."] * 20, ["O"] * 20)
        with refused(bc.MismatchError, "differs"):
            bc.read(*files(tmp_path, a__conll=one + stops, b__conll=nothing + stops))
        # A sentence without evidence is read if the others have enough.
        shared = "\nleft\tO\n" * 15
        corpus = bc.read(*files(tmp_path, a__conll=one + shared, b__conll=nothing + shared))
        assert corpus.skipped == {"tokens that differ in spelling, aligned by their number": 5}
        some = conll(["Ada", "met", unknown, "in", "Oslo"], ["B-PER", "O", "O", "O", "O"])
        corpus = bc.read(*files(tmp_path, a__conll=one, b__conll=some))
        assert corpus.texts == ("Ada met Bo in Oslo",)

    def test_other_texts_with_as_many_tokens_are_refused(self, tmp_path):
        other = "Bo\tB-PER\nswam\tO\n\nOslo\tB-LOC\n"
        with refused(bc.MismatchError, "differs … 'Bo swam' … instead"):
            bc.read(*files(tmp_path, a__conll=GOLD, b__conll=other))

    def test_other_tokens_of_the_same_characters(self, tmp_path):
        words = ["Mr.", "Day", "can't", "go"]
        one = conll(words, ["O", "B-PER", "O", "O"])
        other = conll(["Mr", ".", "Day", "ca", "n't", "go"], ["O", "O", "B-PER", "O", "O", "B-X"])
        corpus = bc.read(*files(tmp_path, a__conll=one, b__conll=other))
        assert corpus.text_length.tolist() == [4]
        assert corpus.spans("1", "b") == [(1, 2, "PER"), (3, 4, "X")]
        key = "documents with other tokens or white space, aligned by characters"
        assert corpus.skipped == {key: 1}

    def test_a_span_that_cuts_a_token_is_widened_and_counted(self, tmp_path):
        one = conll(["can't", "go"], ["O", "O"])
        other = conll(["ca", "n't", "go"], ["O", "B-NEG", "O"])
        corpus = bc.read(*files(tmp_path, a__conll=one, b__conll=other))
        assert corpus.spans("1", "b") == [(0, 1, "NEG")]
        assert corpus.skipped["spans widened to whole tokens"] == 1

    def test_the_tokens_of_the_gold_standard_stay(self, tmp_path):
        one = conll(["can't", "go"], ["B-NEG", "O"])
        other = conll(["ca", "n't", "go"], ["B-NEG", "I-NEG", "O"])
        one, other = files(tmp_path, a__conll=one, b__conll=other)
        assert bc.read(one, other).text_length.tolist() == [2]
        for gold in ("b", other):
            corpus = bc.read(one, other, gold=gold)
            assert corpus.text_length.tolist() == [3]
            assert corpus.annotators == ("a", "b")
            assert bc.agreement(corpus).observed == 1

    @pytest.mark.usefixtures("by_characters")
    def test_white_space_of_texts(self, tmp_path):
        spans = [[0, 3, "PER"]]
        one = json.dumps({"id": 1, "text": "Ada\r\nleft", "label": spans})
        other = json.dumps({"id": 1, "text": "Ada\nleft", "label": [[4, 8, "X"]]})
        corpus = bc.read(*files(tmp_path, a__jsonl=one, b__jsonl=other))
        assert corpus.spans("1", "b") == [(5, 9, "X")]
        assert sum(corpus.skipped.values()) == 1


class TestMarksOfDocuments:
    MARKED = "-DOCSTART-\tO\n\nAda\tB-PER\nleft\tO\n\n-DOCSTART-\tO\n\nOslo\tB-LOC\n"

    @each("first", [0, 1])
    @each("stray", ["", "\n# a comment\nBo\tO\n"])
    def test_of_one_file_hold_for_all(self, tmp_path, first, stray):
        paths = files(tmp_path, a__conll=self.MARKED + stray, b__conll=GOLD + stray)
        corpus = bc.read(*(paths if first == 0 else paths[::-1]))
        assert corpus.documents == ("1", "2")
        assert corpus.skipped == {"files divided into documents as another file marks them": 1}
        assert corpus.options["marks"] == "shared"
        assert bc.agreement(corpus).observed == 1

    def test_other_numbers_of_sentences_are_refused(self, tmp_path):
        paths = files(tmp_path, a__conll=self.MARKED, b__conll=GOLD + "\nBo\tO\n")
        message = "b.conll: … 3 … sentences … a.conll … 2"
        with refused(bc.MismatchError, message):
            bc.read(*paths)

    @each("unit", ["sentence", "document"])
    @each("options", [{"strict": True}, {"strict": "marks"}])
    @each("stray", ["", "\n# a comment\nBo\tO\n"])
    def test_strict_reading_does_not_share_them(self, tmp_path, unit, options, stray):
        paths = files(tmp_path, a__conll=self.MARKED + stray, b__conll=GOLD + stray)
        with refused(bc.MismatchError, f"{paths[1]}: … documents … {paths[0]} … strict='-marks'"):
            bc.read(*paths, unit=unit, **options)

    def test_all_problems_of_two_files_are_listed(self, tmp_path):
        def number(letter):
            return f"{letter} O\n"

        some = "".join(map(number, "vwxyz"))
        one = f"-DOCSTART- O\n\n{some}Ada B-PER\nleft O\n\nOslo B-LOC\n"
        other = f"{some}[UNK] I-PER\nleft O\n\nOslo B-LOC\n"
        paths = files(tmp_path, a__conll=one, b__conll=other)
        for unit in ("sentence", "document"):
            with pytest.raises(bc.DataError) as caught:
                bc.read(*paths, strict=True, unit=unit)
            message = caught.value.spoken(COMMAND_LINE)
            assert message.startswith("3 problems: (1) ")
            assert message.endswith("--strict=-marks,-mismatch --repair conlleval")
            mended = bc.read(*paths, strict="-marks,-mismatch", unit=unit, repair="conlleval")
            assert len(mended.span_start) == 4


class TestColumnsOfGoldAndSystem:
    OUTPUT = "Ada NNP B-NP B-PER B-PER\nleft VBD B-VP O O\n\nOslo NNP B-NP B-LOC O\n"

    def test_two_columns_that_share_labels(self, tmp_path):
        (path,) = files(tmp_path, crf__conll=self.OUTPUT)
        corpus = bc.read(path)
        assert (corpus.annotators, corpus.gold) == (("gold", "crf"), "gold")
        assert corpus.spans("2", "gold") == [(0, 1, "LOC")]
        assert corpus.options["layout"] == "conlleval"
        score = bc.rank(corpus).systems["crf"].score
        assert (score.precision, score.recall) == (1, 0.5)

    def test_strict_reading_asks_for_them(self, tmp_path):
        one, other = files(tmp_path, crf__conll=self.OUTPUT, lstm__conll=self.OUTPUT)
        with pytest.raises(bc.FormatError) as caught:
            bc.read(one, strict=True)
        said = caught.value.spoken(COMMAND_LINE)
        assert_tells(said, f"{one}: … 4 … 5 … --columns tag=4,5 … --columns tag=last")
        assert bc.read(one, strict=True, columns="tag=4,5").annotators == ("column 4", "column 5")
        with refused(bc.FormatError, "columns … 4 … 5"):
            bc.read(one, other, strict=True)
        corpus = bc.read(one, other, strict=True, columns="tag=last")
        assert corpus.annotators == ("crf", "lstm")

    def test_with_another_problem(self, tmp_path):
        content = self.OUTPUT.replace("B-PER B-PER", "B-PER I-PER").replace("LOC O", "LOC B-LOC")
        (path,) = files(tmp_path, crf__conll=content)
        with pytest.raises(bc.DataError) as caught:
            bc.read(path, strict=True)
        ending = "mend all of them with --columns tag=4,5 --repair conlleval"
        assert caught.value.spoken(COMMAND_LINE).endswith(ending)

    def test_chunks_are_no_system(self, tmp_path):
        (path,) = files(tmp_path, ner__conll="Ada NNP B-NP B-PER\nleft VBD B-VP O\n")
        corpus = bc.read(path)
        assert (corpus.annotators, corpus.gold) == (("ner",), None)

    def test_several_systems_have_one_gold_standard(self, tmp_path):
        other = self.OUTPUT.replace("B-LOC O", "B-LOC B-LOC")
        corpus = bc.read(*files(tmp_path, crf__conll=self.OUTPUT, lstm__conll=other))
        assert corpus.annotators == ("gold", "crf", "lstm")
        assert bc.rank(corpus).ranks("observed") == {"crf": 2, "lstm": 1}
        wrong = self.OUTPUT.replace("B-LOC O", "O B-LOC")
        with refused(bc.MismatchError, "standard … '2'"):
            bc.read(*files(tmp_path, crf__conll=self.OUTPUT, lstm__conll=wrong))

    def test_of_more_than_two_the_last_is_read_and_the_others_are_named(self, tmp_path):
        (path,) = files(tmp_path, team__conll="Ada B-PER B-PER O\nleft O B-PER B-PER\n")
        corpus = bc.read(path)
        assert corpus.annotators == ("team",)
        assert_tells(corpus.notes[1], "column … 2 … 3 … columns='tag=2,3,4'")

    def test_layers_are_no_system(self, tmp_path):
        (path,) = files(tmp_path, layers__conll="food B O\ngood O B\n")
        assert bc.read(path).gold is None

    def test_a_file_that_is_called_gold(self, tmp_path):
        (path,) = files(tmp_path, gold__conll=self.OUTPUT)
        assert bc.read(path).annotators == ("gold", "system")

    def test_the_files_of_a_folder_are_looked_at_together(self, tmp_path):
        lines = {"d1": "Ada B-PER B-PER", "d2": "Bo B-PER O", "d3": "Cy B-PER B-LOC"}
        files(tmp_path / "crf", **{f"{name}__conll": f"{x}\n" for name, x in lines.items()})
        corpus = bc.read(tmp_path / "crf")
        assert len(corpus.annotation_document) == 6
        assert bc.agreement(corpus, measure="exact").observed == pytest.approx(2 / 5)

    def test_a_gold_standard_of_its_own(self, tmp_path):
        gold = "Ada B-PER\nleft O\n\nOslo B-LOC\n"
        paths = files(tmp_path, gold__conll=gold, crf__conll=self.OUTPUT)
        for given in (paths, paths[::-1]):
            corpus = bc.read(*given)
            assert corpus.gold == "gold"
            assert set(corpus.annotators) == {"gold", "crf"}
        wrong = files(tmp_path, gold__conll=gold.replace("B-LOC", "O"), crf__conll=self.OUTPUT)
        with refused(bc.MismatchError, "standard … '2'"):
            bc.read(*wrong)


class TestFolders:
    def test_files_of_the_same_texts_are_annotators(self, tmp_path):
        files(tmp_path / "team", ada__conll=GOLD, ben__conll=GOLD.replace("B-LOC", "O"))
        corpus = bc.read(tmp_path / "team")
        assert corpus.annotators == ("ada", "ben")
        assert corpus.options["folder"] == "annotators"
        assert_tells(corpus.notes[0], "read … annotator")
        assert bc.read(tmp_path / "team", folder="documents").annotators == ("team",)

    def test_strict_reading_asks_which(self, tmp_path):
        team = tmp_path / "team"
        files(team, ada__conll=GOLD, ben__conll=GOLD.replace("B-LOC", "O"))
        with refused(
            bc.DataError, f"{team}: … 2 … folders … folder='annotators' … folder='documents'"
        ):
            bc.read(team, strict=True)
        assert bc.read(team, strict=True, folder="annotators").annotators == ("ada", "ben")
        assert bc.read(team, strict=True, folder="documents").annotators == ("team",)

    def test_strict_reading_lists_all_options(self, tmp_path):
        team = tmp_path / "team"
        files(team, ada__conll=GOLD, ben__conll=GOLD.replace("B-PER", "I-PER"))
        with pytest.raises(bc.DataError) as caught:
            bc.read(team, strict=True)
        ending = "mend all of them with --folder annotators --repair conlleval"
        assert caught.value.spoken(COMMAND_LINE).endswith(ending)

    def test_files_about_the_others_are_no_annotators(self, tmp_path):
        team = tmp_path / "team"
        files(team, ada__conll=GOLD, ben__conll=GOLD, README__md="# Who annotated\n")
        for options in ({}, {"folder": "annotators"}, {"strict": True, "folder": "annotators"}):
            corpus = bc.read(team, **options)
            assert corpus.annotators == ("ada", "ben")
            assert corpus.skipped == {"files of other formats ignored": 1}

    def test_one_who_annotated_more_is_an_annotator_if_asked_for(self, tmp_path):
        def lines(*names):
            rows = ({"id": name, "text": name, "label": [[0, 1, "X"]]} for name in names)
            return "".join(f"{json.dumps(row)}\n" for row in rows)

        team = tmp_path / "team"
        files(team, ada__jsonl=lines("one", "two"), ben__jsonl=lines("one"))
        corpus = bc.read(team, format="records")
        assert corpus.annotators == ("team",)
        with pytest.raises(bc.NothingSharedError) as caught:
            bc.agreement(corpus)
        said = caught.value.spoken(COMMAND_LINE)
        assert_tells(said, "one annotator … 'team' … --folder annotators")
        assert bc.agreement(team, format="records", folder="annotators").observed == 1

    def test_folders_of_the_same_texts_too(self, tmp_path):
        (tmp_path / "team").mkdir()
        for name in ("ada", "ben"):
            files(tmp_path / "team" / name, d1__conll=GOLD, d2__conll="Bo\tB-PER\n")
        corpus = bc.read(tmp_path / "team")
        assert (corpus.annotators, corpus.documents) == (("ada", "ben"), ("d1", "d2"))

    def test_files_of_different_texts_are_documents(self, tmp_path):
        files(tmp_path / "anna", d1__conll=GOLD, d2__conll="Bo\tB-PER\nleft\tO\n\nRome\tO\n")
        corpus = bc.read(tmp_path / "anna")
        assert (corpus.annotators, corpus.documents) == (("anna",), ("d1", "d2"))
        with pytest.raises(bc.MismatchError):
            bc.read(tmp_path / "anna", folder="annotators", strict="mismatch")

    def test_records_with_equal_ids(self, tmp_path):
        line = json.dumps({"id": 1, "text": "Ada left", "label": [[0, 3, "PER"]]})
        files(tmp_path / "team", ada__jsonl=line, ben__jsonl=line)
        assert bc.read(tmp_path / "team").annotators == ("ada", "ben")


class TestIdentifiers:
    def lines(self, folder, one, other):
        return files(
            folder,
            a__jsonl=json.dumps({"id": one, "text": "Ada", "label": [[0, 3, "PER"]]}),
            b__jsonl=json.dumps({"id": other, "text": "Ada", "label": []}),
        )

    def test_1_and_1_0_are_one_document(self, tmp_path):
        corpus = bc.read(*self.lines(tmp_path, "1", "1.0"))
        assert corpus.documents == ("1",)
        assert corpus.skipped == {"document ids such as 1.0 read as 1": 1}

    def test_unless_they_are_taken_to_the_letter(self, tmp_path):
        corpus = bc.read(*self.lines(tmp_path, "1", "1.0"), match="exact")
        assert corpus.documents == ("1", "1.0")

    def test_or_refused(self, tmp_path):
        message = "document '1' … annotator … '1.0'"
        with refused(bc.MismatchError, message):
            bc.read(*self.lines(tmp_path, "1", "1.0"), strict=True)

    @each("match", ["text", "order"])
    def test_names_do_not_matter_where_something_else_matches(self, match):
        """Three texts of one name are three documents, for one annotator and for two."""
        rows = [{"id": "x", "text": text, "label": []} for text in ("Ada", "Bo", "Cy")]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        streams = [io.BytesIO(content) for _ in range(2)]
        for name, stream in zip("ab", streams, strict=True):
            stream.name = f"{name}.jsonl"
        corpus = bc.read(*streams, format="doccano", match=match)
        assert corpus.documents == ("x", "a/x", "a/x/2")
        assert corpus.annotators_of("a/x/2") == ("a", "b")

    def test_different_texts_with_one_id_are_refused(self, tmp_path):
        content = "".join(
            json.dumps({"id": 1, "text": text, "label": []}) + "\n" for text in ("Ada", "Bo")
        )
        with refused(bc.FormatError, "document '1' … text … a.jsonl:1"):
            bc.read(*files(tmp_path, a__jsonl=content))


class TestSeveralProblems:
    LINES = (
        {"id": 1, "text": "Ada left", "label": [[0, 3, "PER"], [0, 3, "PER"]]},
        {"id": 1, "text": "Ada left", "label": [[0, 0, "PER"]]},
    )

    def path(self, folder):
        (path,) = files(folder, a__jsonl="".join(json.dumps(line) + "\n" for line in self.LINES))
        return path

    def test_are_said_together_with_one_remedy(self, tmp_path):
        with refused(bc.SpanError, "empty"):
            bc.read(self.path(tmp_path), strict=True, repeated="last", folder="documents")
        with pytest.raises(bc.DataError) as caught:
            bc.read(self.path(tmp_path), strict=True)
        message = caught.value.spoken(COMMAND_LINE)
        assert message.startswith("2 problems: (1) ")
        assert "; (2) " in message
        assert_tells(message, "--zero-length … skip … --repeated")

    def test_one_problem_is_said_as_it_is(self):
        reading = Reading({"strict": "duplicates"})
        reading.mend("duplicates", "spans", lambda: bc.SpanError("span is twice"))
        with refused(bc.SpanError, "twice"):
            reading.check()

    def test_no_problem_is_no_error(self):
        reading = Reading({})
        reading.mend("duplicates", "spans", lambda: bc.SpanError("span is twice"), 3)
        reading.check()
        assert (reading.skipped, reading.signed) == ({"spans": 3}, {"duplicates": "skip"})


@each("name", sorted(MENDING))
def test_every_option_that_mends_has_a_value_that_refuses_and_one_that_mends(name):
    item = declared(ReadOptions)[name]
    assert item.option.refuses in item.choices
    assert item.mends in item.choices
    assert item.mends != item.option.refuses
    assert Reading({"strict": True}).options[name] == item.option.refuses


ALL = {"answers", "mismatch", "marks", "duplicates", "stored_words", "inexact_quotes"}


class TestNamesOfWhatIsRefused:
    @each(
        ("strict", "refused"),
        [
            (False, set()),
            (True, ALL),
            ("all", ALL),
            ("duplicates", {"duplicates"}),
            (["duplicates", "stored-words"], {"duplicates", "stored_words"}),
            ("-marks, -mismatch", ALL - {"marks", "mismatch"}),
            ("all,cut_tokens", ALL | {"cut_tokens"}),
            ("discontinuous", {"discontinuous"}),
            ("-marks,cut-tokens", ALL - {"marks"} | {"cut_tokens"}),
            ([], set()),
        ],
    )
    def test_names(self, strict, refused):
        assert refused_kinds(strict) == refused
        assert Reading({"strict": strict}).refused == refused

    @each("strict", ["x", "", "duplicates,", 1, None, ["duplicates", 1], "-", {"duplicates": True}])
    def test_unknown_names_are_refused(self, strict):
        with refused(bc.OptionError, "strict"):
            bc.agreement([["O"]], [["O"]], strict=strict)

    def test_names_leave_everything_else_mended(self, tmp_path):
        paths = files(tmp_path, a__conll=GOLD, b__conll=GOLD.replace("B-PER", "I-PER"))
        assert bc.read(*paths, strict="duplicates").options["repair"] == "conlleval"
        for strict in (True, "-duplicates"):
            with refused(bc.TagError, "I-PER"):
                bc.read(*paths, strict=strict)

    @each(
        ("words", "code"),
        [
            (["--strict", "a.conll", "b.conll"], 1),
            (["a.conll", "--strict", "b.conll"], 1),
            (["a.conll", "b.conll", "--strict"], 1),
            (["--strict=mismatch", "a.conll", "b.conll"], 1),
            (["--strict=marks,stored-words", "a.conll", "b.conll"], 0),
            (["--strict=-mismatch", "a.conll", "b.conll"], 0),
            (["--strict=mismatched", "a.conll", "b.conll"], 2),
        ],
    )
    def test_on_the_command_line(self, tmp_path, monkeypatch, capsys, words, code):
        monkeypatch.chdir(tmp_path)
        files(tmp_path, a__conll=GOLD * 3, b__conll=GOLD * 2 + GOLD.replace("Ada", "ada"))
        assert main(["agree", *words]) == code
        said = capsys.readouterr().err
        assert ("--strict=-mismatch aligns them" in said) == (code == 1)
        assert ("mismatch, marks, duplicates" in said) == (code == 2)


class TestFoldersAndGold:
    def test_the_files_of_a_folder_against_a_gold_standard(self, tmp_path):
        files(tmp_path / "team", ada__conll=GOLD, ben__conll=GOLD.replace("B-LOC", "O"))
        (gold,) = files(tmp_path, gold__conll=GOLD)
        ranking = bc.rank(tmp_path / "team", gold=gold)
        assert set(ranking.systems) == {"ada", "ben"}

    def test_a_folder_of_annotators_is_signed_whatever_names_the_gold_standard(self, tmp_path):
        paths = files(tmp_path / "team", ada__conll=GOLD, ben__conll=GOLD.replace("B-LOC", "O"))
        outside = files(tmp_path, gold__conll=GOLD)[0]
        for gold in ("ada", paths[0], str(paths[0]), outside):
            corpus = bc.read(tmp_path / "team", gold=gold)
            assert corpus.options["folder"] == "annotators"
            notes = [str(note) for note in corpus.notes]
            assert sum("files or folders have the same texts" in note for note in notes) == 1
            assert corpus.gold == ("gold" if gold is outside else "ada")

    def test_files_about_a_folder_are_ignored_and_counted(self, tmp_path):
        files(tmp_path / "anna", LICENSE="Do what you like.", d1__conll=GOLD)
        corpus = bc.read(tmp_path / "anna")
        assert corpus.skipped == {"files of other formats ignored": 1}

    def test_recordings_have_no_texts_to_tell(self, tmp_path):
        line = "SPEAKER talk 1 0 1 <NA> <NA> mia <NA> <NA>\n"
        files(tmp_path / "anna", one__rttm=line, two__rttm=line.replace("mia", "bo"))
        assert bc.read(tmp_path / "anna", grid="10ms").annotators == ("anna",)


def test_an_annotation_that_is_assumed_replaces_none(tmp_path):
    def line(number, *spans):
        marked = [{"start": 0, "end": 3, "label": "PER", "annotator": who} for who in spans]
        return json.dumps({"id": number, "text": "Ada left", "entities": marked})

    one = f"{line('d1', 'anna')}\n{line('d2', 'cleo')}\n"
    other = f"{line('d1', 'ben')}\n{line('d2', 'anna')}\n"
    corpus = bc.read(*files(tmp_path, a__jsonl=one, b__jsonl=other))
    assert len(corpus.span_start) == 4
    assert "annotations replaced by a later one" not in corpus.skipped


def test_tables_read_strictly_refuse_1_next_to_1_0(tmp_path):
    rows = "document,annotator,start,end,label,length\n1,a,0,1,X,5\n1.0,b,0,1,X,5\n"
    (path,) = files(tmp_path, t__csv=rows)
    corpus = bc.read(path)
    assert (corpus.documents, corpus.options) == (("1",), {"match": "id"})
    assert bc.read(path, match="exact").documents == ("1", "1.0")
    with refused(bc.MismatchError, "document '1' … annotator … '1.0'"):
        bc.read(path, strict=True)
    labels = rows.replace("1.0,b,0,1,X", "1,b,0,1,7.0").replace("X", "7")
    (path,) = files(tmp_path, v__csv=labels)
    with refused(bc.MismatchError, "label '7' … annotator … '7.0'"):
        bc.read(path, strict=True)
    (again,) = files(tmp_path, u__csv=rows + rows)
    with refused(bc.FormatError, "u.csv:4: … start … 'start'"):
        bc.read(again, strict=True)


def test_annotators_with_names_are_not_one_because_the_files_say_so(tmp_path):
    task = [
        {"id": 1, "data": {"text": "Ada left"}, "annotations": [{"completed_by": 1, "result": []}]}
    ]
    paths = files(tmp_path, anna__json=json.dumps(task), ben__json=json.dumps(task))
    corpus = bc.corpus(dict(zip(("anna", "ben"), paths, strict=True)))
    assert corpus.annotators_of("1") == ("anna", "ben")


BYTES = "b'PER'"
LABELLED = {
    "records.json": [{"text": "Ada left", "entities": [{"start": 0, "end": 3, "label": BYTES}]}],
    "label_studio.json": [
        {
            "id": 1,
            "data": {"text": "Ada left"},
            "annotations": [
                {
                    "completed_by": 1,
                    "result": [
                        {"type": "labels", "value": {"start": 0, "end": 3, "labels": [BYTES]}}
                    ],
                }
            ],
        }
    ],
    "doccano.jsonl": {"text": "Ada left", "label": [[0, 3, BYTES]]},
    "hf.jsonl": {"tokens": ["Ada", "left"], "ner_tags": [f"B-{BYTES}", "O"]},
}


@each("name", [*LABELLED, "tags.conll", "tags_with_comment.conll", "tiers.rttm"])
def test_bytes_written_as_text_are_no_labels(tmp_path, name):
    path = tmp_path / name
    content = json.dumps(LABELLED.get(name))
    if name.startswith("tags"):
        content = f"{'# x' if 'comment' in name else ''}\nAda\tB-{BYTES}\nleft\tO\n"
    elif name == "tiers.rttm":
        content = f"SPEAKER talk 1 0 1 <NA> <NA> {BYTES} <NA> <NA>\n"
    path.write_text(content)
    options = {"grid": "10ms"} if name == "tiers.rttm" else {}
    with pytest.raises(bc.DataError) as caught:
        bc.read(path, **options)
    assert_tells(caught.value, "written")


class TestCopies:
    """A file in which most texts recur may hold several annotators, and is asked about."""

    TEXTS = ("Ada met Bo Li in Oslo .", "Bo left for Rome .", "The fair of Rome opened late .")
    PEOPLE = ("BOOOOOO", "OBOOOOO", "BIOOOOO")

    def rows(self, *copies):
        """Sentences as columns: of each, which text it is and by whom."""
        sentences = []
        for text, person in copies:
            words = self.TEXTS[text].split()
            tags = [sign if sign == "O" else f"{sign}-X" for sign in self.PEOPLE[person]]
            sentences.append(conll(words, tags[: len(words)]))
        return "\n".join([*sentences, ""])

    ONE_BY_ONE = tuple((text, person) for text in range(3) for person in range(3))
    IN_TURN = tuple((text, person) for person in range(3) for text in range(3))
    SOME = ((0, 0), (0, 1), (1, 0), (2, 0), (2, 2))

    @each("copies", [ONE_BY_ONE, IN_TURN, SOME])
    @each("start", ["", "-DOCSTART- -X- O\n\n"])
    def test_columns_without_names(self, tmp_path, copies, start):
        (path,) = files(tmp_path, export__conll=start.replace(" ", "\t") + self.rows(*copies))
        for options in ({}, {"strict": True}, {"repeated": "last"}, {"repair": "none"}):
            with refused(bc.DataError, "export.conll: … texts", use="repeated"):
                bc.read(path, **options)
        kept = bc.read(path, repeated="documents")
        assert kept.annotators == ("export",)
        assert len(kept.texts) == len(copies)
        assert kept.options["repeated"] == "documents"
        corpus = bc.read(path, repeated="annotators", strict=True)
        assert len(corpus.texts) == len(corpus.documents) == 3
        assert corpus.options["repeated"] == "annotators"
        n_copies = [[text for text, _ in copies].count(text) for text in range(3)]
        assert [len(corpus.annotators_of(name)) for name in corpus.documents] == n_copies
        first = corpus.documents[0]
        assert corpus.spans(first, "export 1") == [(0, 1, "X")]
        assert corpus.spans(first, "export 2") == [(1, 2, "X")]
        assert bc.agreement(corpus).observed < 1

    @pytest.mark.usefixtures("by_characters")
    @each("ending", ["json", "jsonl"])
    def test_records_without_names(self, tmp_path, ending):
        rows = [
            {"text": self.TEXTS[text], "entities": [{"start": 0, "end": person + 1, "label": "X"}]}
            for text, person in self.ONE_BY_ONE
        ]
        lines = "\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps(rows)
        (path,) = files(tmp_path, **{f"export__{ending}": lines})
        with refused(bc.DataError, f"export.{ending}: … 9 of 9 texts … 3", use="repeated"):
            bc.read(path)
        corpus = bc.read(path, repeated="annotators")
        assert corpus.annotators == ("export 1", "export 2", "export 3")
        assert [corpus.spans("1", name)[0].end for name in corpus.annotators] == [1, 2, 3]

    @each("at_a_time", [1, 64, 2**22])
    @each("most", [1, 2, 2**16])
    @pytest.mark.slow
    def test_in_parts(self, tmp_path, monkeypatch, at_a_time, most):
        # Whatever the parts, and where not all texts can be kept.
        monkeypatch.setattr("beyondchance.io.scanning.AT_A_TIME", at_a_time)
        monkeypatch.setattr("beyondchance.io.copies._MOST", most)
        records = [
            {"text": self.TEXTS[text], "entities": [{"start": 0, "end": person + 1, "label": "X"}]}
            for text, person in self.IN_TURN
        ]
        lines = {"conll": self.rows(*self.IN_TURN), "jsonl": "\n".join(map(json.dumps, records))}
        for ending, content in lines.items():
            (path,) = files(tmp_path, **{f"export__{ending}": content})
            told = {1: "3 of 3 texts looked at", 2: "6 of 6 texts looked at"}
            counted = f"export.{ending}: … {told.get(most, '9 of 9 texts')} … 3"
            for call in (bc.agreement, bc.difficulty):
                with refused(bc.DataError, counted, use="repeated"):
                    call(bc.scan(path))
            with refused(bc.DataError, counted, use="repeated"):
                bc.read(path)
            assert bc.difficulty(bc.scan(path, repeated="documents")).settings
            parts, whole = (
                bc.agreement(way(path, repeated="annotators")) for way in (bc.scan, bc.read)
            )
            assert parts.corrected == whole.corrected

    def test_saved_counts(self, tmp_path):
        (path,) = files(tmp_path, export__conll=self.rows(*self.IN_TURN))
        half = tmp_path / "half.counts"
        bc.difficulty(bc.scan(path), part="1/1", save_counts=half)
        with refused(bc.DataError, "export.conll: … 9 of 9 texts", use="repeated"):
            bc.difficulty(bc.scan(half))

    def test_other_files_keep_their_annotators(self, tmp_path):
        once = self.rows((2, 0), (1, 1), (0, 2))
        paths = files(tmp_path, gold__conll=once, export__conll=self.rows(*self.IN_TURN))
        corpus = bc.read(*paths, repeated="annotators", gold="gold")
        assert corpus.gold == "gold"
        assert set(corpus.annotators) == {"gold", "export 1", "export 2", "export 3"}
        assert all(len(corpus.annotators_of(name)) == 4 for name in corpus.documents)

    def test_sentences_may_recur(self, tmp_path):
        """Short texts, and fewer than half of the words, are no copies of a whole file."""
        texts = self.rows((0, 0), (1, 0), (2, 0))
        short = "Yes\tO\n.\tO\n\n" * 4
        others = texts.replace("Rome", "Bern").replace("Oslo", "Lima")
        (path,) = files(tmp_path, anna__conll=texts + short + self.rows((1, 0)) + others)
        assert len(bc.read(path, strict=True).texts) == 11

    def test_documents_with_names_may_recur(self, tmp_path):
        rows = [
            {"id": f"system {number}", "text": self.TEXTS[0], "entities": []} for number in range(3)
        ]
        (path,) = files(tmp_path, anna__json=json.dumps(rows))
        assert len(bc.read(path).documents) == 3

    def test_data_in_memory_are_what_they_are(self):
        tags, words = [["B-X", "O"]] * 2, [["Ada", "left"]] * 2
        assert len(bc.corpus(tags, tags, tokens=words).texts) == 2
