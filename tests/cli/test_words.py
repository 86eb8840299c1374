"""The right words: positions, difficulty, gold standards and equals, what was left out."""

import pytest

from beyondchance.cli.main import main
from beyondchance.reporting import sentences
from refusals import assert_tells

TEAM = [f"example/{name}.conll" for name in ("ada", "ben", "cleo")]


@pytest.fixture
def said(example, capsys):
    """What a command says, without the signature."""
    del example

    def run(*words):
        capsys.readouterr()
        assert main([*words, "--quiet"]) == 0
        return capsys.readouterr().out.rpartition("\nbeyondchance|")[0]

    return run


def in_characters(folder):
    """Three annotators of two documents, by characters."""
    rows = [f"{d},{who},0,{2 + d},{x},9" for d in (1, 2) for who in "abc" for x in "PQ"]
    (folder / "x.csv").write_text("\n".join(["document,annotator,start,end,label,length", *rows]))


def test_characters_are_not_called_tokens(said, tmp_path):
    in_characters(tmp_path)
    for options in ("agree --by document", "rank --gold a --confidence 0.9"):
        text = said(*options.split(), "x.csv")
        assert "by characters" in text.lower()
        assert "characters that both marked" in text
        assert "by token" not in text.lower(), options
        assert "tokens" not in text, options


def test_difficulty_is_explained_where_it_stands(said):
    for command in ("agree --by document", "difficulty", "rank --split-by-difficulty 0.7"):
        text = " ".join(said(*command.split(), *TEAM).split())
        assert sentences.DIFFICULTY in text, command
        assert "hardest" not in text


class TestDisagreements:
    """Something is missed or extra against a gold standard only."""

    def test_two_equals(self, said):
        text = said("disagreements", *TEAM[1:])
        assert "only ben   only cleo" in text
        assert "missed" not in text
        assert "extra" not in text

    def test_a_team(self, said):
        text = said("disagreements", *TEAM, "--by", "pair", "--top", "12")
        assert "only first   only second" in text
        assert "(first and second: of the two annotators of a pair)" in text
        assert "ben and cleo   only ben" in text
        assert "missed" not in text

    def test_against_a_gold_standard(self, said):
        text = said("disagreements", *TEAM[1:], "--gold", "ben")
        assert "missed   extra" in text
        assert "(missed: marked by the gold standard only; extra: by the other only)" in text
        assert "only ben" not in text


class TestSkipped:
    """Nothing is said to be left out that never counted."""

    def test_what_is_no_span(self, said, tmp_path):
        marked = "T1\tP 0 4\tAnna\nT2\tP 5 9\tBert\nR1\tMeets Arg1:T1 Arg2:T2\n#1\tNote T1\tx\n"
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "1.txt").write_text("Anna Bert")
            (folder / "1.ann").write_text(marked)
            (folder / "2.txt").write_text("Anna Bert")
            (folder / "2.ann").write_text("")
            (folder / "3.txt").write_text("not annotated")
        text = said("agree", "a", "b")
        assert "Not spans, ignored: 2 relations; 2 notes." in text
        assert "Not annotated: 2 texts without .ann." in text
        assert "Nothing to compare: 1 document in which no annotator marked anything." in text
        assert "Left out" not in text

    def test_what_was_mended(self, said, tmp_path):
        (tmp_path / "a.conll").write_text("Anna B-P\nleft O\nJon I-P\n")
        (tmp_path / "b.conll").write_text("Anna B-P\nleft O\nJon B-P\n")
        text = said("agree", "a.conll", "b.conll")
        assert "Mended: 1 tags repaired by conlleval." in text
        assert "Left out" not in text


class TestFirstSentence:
    """How far agreement is by token and by exact, and where most of the rest is lost."""

    @staticmethod
    def first(text):
        return " ".join(text.partition("\n\n")[0].split())

    def test_agree(self, said):
        told = "72 % of the way … by token (tokens that both marked) and 53 % by exact (spans …)"
        text = said("agree", *TEAM, "--confidence", "0.95")
        assert_tells(
            self.first(text), f"ada, ben and cleo … {told} … missing 28 % … 21 of 28 … more overall"
        )
        assert "contain" not in text
        # Read in parts, the causes are not known.
        parts = self.first(said("agree", *TEAM, "--workers", "1"))
        assert_tells(parts, f"{told}.")
        assert "missing" not in parts
        assert_tells(self.first(said("demo")), f"{told} … more overall")

    def test_by_another_measure(self, said):
        text = said("agree", *TEAM, "--measure", "exact")
        assert_tells(self.first(text), "53 % … by exact (… 72 % by token (… exact … other lengths")
        text = said("agree", *TEAM, "--measure", "dice")
        assert_tells(self.first(text), "by dice (overlap … 72 % by token (… 53 % by exact (…).")

    def test_rank(self, said):
        told = "71 % of the way … by token (… for cleo and 56 % by exact (… for cleo."
        assert_tells(self.first(said("rank", *TEAM)), f"highest … with ada … {told}")
        told = "70 % of the way … by token (tokens that both marked) and 40 % by exact (…)."
        assert_tells(self.first(said("rank", *TEAM[:2])), f"ben with ada … {told}")

    def test_other_corpora(self, said, tmp_path):
        for command in ("agree", "rank"):
            text = " ".join(said(command, *TEAM).split())
            assert "Across corpora, compare by exact or boundary, not by token." in text
        in_characters(tmp_path)
        text = " ".join(said("agree", "x.csv").split())
        assert "Across corpora, compare by exact or boundary, not by characters." in text


class TestNouns:
    """Sentences are not documents, and people are not systems."""

    @pytest.fixture
    def sentences_only(self, tmp_path):
        marked = ["A B-P\nb O\n", "c O\nD B-P\n", "e O\nf O\n", "G B-P\nh O\n"]
        for name, wrong in (("x", 0), ("y", 1), ("z", 3)):
            texts = [
                text.replace("B-P", "O") if i == wrong else text for i, text in enumerate(marked)
            ]
            (tmp_path / f"{name}.conll").write_text("\n".join(texts))
        return ["x.conll", "y.conll", "z.conll"]

    @pytest.mark.slow
    def test_sentences(self, said, sentences_only, capsys):
        sure = ("--confidence", "0.9", "--resamples", "99")
        for command in (
            ("agree", "--by", "document", *sure),
            ("rank", *sure),
            ("difficulty", "--gold", "x", *sure),
            ("disagreements",),
            ("plan",),
            ("diagnose",),
            ("careless",),
            ("consensus", "--ties", "keep"),
            ("replace", "--model", "z"),
            ("agree", "--methods", *sure),
            ("rank", "--methods", *sure),
        ):
            assert main([*command, *sentences_only, "--quiet"]) == 0
            text = " ".join(capsys.readouterr().out.split())
            assert "sentence" in text, command
            assert ("|over:sentences|" in text) == (
                command == ("plan",) or "--confidence" in command
            )
            # What is said of documents is that they are not known.
            left = text.replace("sentences belong to one document is not known", "")
            left = left.replace("(each taken as a document)", "").replace("documentation", "")
            assert "document" not in left.lower(), command
        text = said("agree", *sentences_only)
        assert "Nothing to compare: 1 sentence in which no annotator marked anything." in text

    def test_documents_of_one_marked_sentence_each(self, said, tmp_path):
        # They are documents: what is marked in them does not matter.
        text = "-DOCSTART- O\n\nA B-P\nb O\n\nc O\nd O\n\n" * 3
        for name in ("x", "y"):
            (tmp_path / f"{name}.conll").write_text(text)
        text = " ".join(said("agree", "x.conll", "y.conll", "--confidence", "0.9").split())
        assert "6 sentences in 3 documents" in text
        assert "jackknife of 3 documents" in text
        assert "belong to one document" not in text

    @pytest.mark.usefixtures("example")
    def test_people(self, capsys):
        for options in ((), ("--confidence", "0.9", "--resamples", "99"), ("--methods",)):
            assert main(["rank", *TEAM, *options, "--quiet"]) == 0
            assert "system" not in capsys.readouterr().out


def test_weighted_annotations_are_shown(said):
    text = said(
        "agree", *TEAM, "--average", "annotation", "--confidence", "0.9", "--by", "document"
    )
    assert_tells(text, "72 % … 53 %")
