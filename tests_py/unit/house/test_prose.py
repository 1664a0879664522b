"""The language of README.md and docs/: words to avoid, lengths of sentences, one tagline."""

import re

import pytest

from cosched.cli import main
from every_command import every_command
from support import REPO, load_script

TAGLINE = "Understand, predict and improve scheduling on HPC clusters"
PROSE = load_script(REPO / ".ci" / "prose.py")


@pytest.mark.parametrize("page", PROSE.pages(), ids=lambda page: str(page.relative_to(REPO)))
def test_page_keeps_the_rules(page):
    assert not PROSE.check_page(page)


@pytest.fixture
def guide(monkeypatch, tmp_path):
    """Write a page of docs/howto in a repository of its own, and count it."""
    monkeypatch.setattr(PROSE, "REPO", tmp_path)

    def counts(text):
        path = tmp_path / "docs" / "howto" / "page.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return PROSE.counts_of(path, PROSE.pattern_of(PROSE.words_to_avoid())), path

    return counts


def test_words_are_found_in_prose_and_tables_but_not_in_code(guide):
    counts, _ = guide(
        "The twin waits.\n\n| a |\n|---|\n| drawn anew |\n\n`anew`\n\n```\nanew\n```\n"
    )
    assert counts.avoided_words == 2


def test_sentences_are_split_and_counted(guide):
    long_sentence = " ".join(["word"] * 36)
    counts, path = guide(f"One two three. `Four` five six seven.\n\n{long_sentence}.\n")
    assert [sentence.words for sentence in PROSE.sentences(path)] == [3, 4, 36]
    assert counts == (0, round((3 + 4 + 36) / 3, 1), 1)
    assert "docs/howto/page.md:3: 36 words" in "\n".join(PROSE.check_page(path))


def test_a_line_for_each_word_to_avoid(guide):
    _, path = guide("The twin waits\n\nbeside it.\n")
    assert PROSE.check_page(path) == [
        "docs/howto/page.md:1: avoid 'twin'", "docs/howto/page.md:3: avoid 'beside'",
    ]  # fmt: skip


def test_long_averages_are_named(guide):
    _, path = guide(" ".join(["word"] * 21) + ".\n")
    assert PROSE.check_page(path) == [
        "docs/howto/page.md: 21.0 words per sentence, at most 20.0 are allowed"
    ]


def test_the_glossary_has_sixty_terms():
    text = (REPO / "docs" / "glossary.md").read_text()
    terms = re.findall(r"^\| (?!term|---)([^|]+) \|", text, re.MULTILINE)
    assert len(terms) >= 60
    assert len(terms) == len(set(terms))


def test_a_version_has_at_most_sixty_lines_in_the_changelog():
    _, *versions = re.split(r"^(?=## )", (REPO / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert len(versions) >= 2
    for version in versions:
        assert len(version.splitlines()) <= 60, version.splitlines()[0]


def test_one_tagline(capsys):
    assert main(["--help"]) == 0
    assert f"{TAGLINE}." in " ".join(capsys.readouterr().out.split())
    for path in ("README.md", "docs/index.md"):
        assert f"**{TAGLINE}.**" in (REPO / path).read_text()
    for path in ("pyproject.toml", "conda/recipe.yaml"):
        assert TAGLINE in (REPO / path).read_text()
    title = re.search(
        r'^title: "cosched: (.*)"$', (REPO / "CITATION.cff").read_text(), re.MULTILINE
    )
    assert title is not None
    assert title[1].lower() == TAGLINE.lower()


def test_every_command_has_a_page_in_the_index():
    from cosched.cli import COMMANDS

    folder = REPO / "docs" / "reference" / "commands"
    pages = {page.stem for page in folder.glob("*.rst")}
    assert pages == set(COMMANDS)
    index = (folder / "index.md").read_text()
    assert all(re.search(rf"^{name}$", index, re.MULTILINE) for name in COMMANDS)
    for name in COMMANDS:
        assert f".. command-reference:: {name}\n" in (folder / f"{name}.rst").read_text()


@pytest.mark.parametrize("path", every_command())
def test_a_help_text_uses_no_word_to_avoid(path):
    pattern = PROSE.pattern_of(PROSE.words_to_avoid())
    command = every_command()[path]
    texts = [command.help, *(getattr(each, "help", None) for each in command.params)]
    found_phrases = [match[0] for text in texts if text for match in pattern.finditer(text)]
    assert found_phrases == []
