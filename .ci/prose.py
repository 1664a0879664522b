"""Check the language of README.md and docs/: `python .ci/prose.py`, as part of `make lint`.

Two rules. No page uses a phrase of the table in docs/words-to-avoid.md. The sentences of guides and
concepts (docs/howto, docs/explanation) have at most 20 words on average, and none has more than 35.

`python .ci/prose.py --table` prints the counts of all pages.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

REPO = Path(__file__).resolve().parents[1]
WORDS_PAGE = REPO / "docs" / "words-to-avoid.md"
MAX_MEAN_WORDS = 20.0
MAX_SENTENCE_WORDS = 35
#: Pages without the rules: the list of words itself, and pages that programs write.
EXEMPT = ("docs/words-to-avoid.md", "docs/results/ledger.md")
#: Folders whose sentences are counted.
COUNTED_FOLDERS = ("docs/howto", "docs/explanation")

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
#: A full stop ends a sentence where a blank and a capital letter, a number or code follow.
_SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')*]*\s+(?=[A-Z0-9\"'(*§])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|et al|Fig|Eq|No|approx)\.$")
_WORD = re.compile(r"[\w§][\w§'’\-.,/%]*")  # noqa: RUF001  the typographic apostrophe
#: What stands for a span of code or a formula: one word of its sentence.
_CODE = "§code§"


class Sentence(NamedTuple):
    """A sentence of a page, with the line of the block in which it stands."""

    line: int
    text: str
    is_cell: bool  # in a table, whose cells do not count in the average

    @property
    def words(self) -> int:
        return len(_WORD.findall(self.text))


class Counts(NamedTuple):
    """What the rules count of one page."""

    avoided_words: int
    mean_words: float
    long_sentences: int

    def exceeds(self, other: "Counts") -> list[str]:
        """The names of the counts that are larger than in `other`."""
        return [
            name
            for name, count, limit in zip(self._fields, self, other, strict=True)
            if count > limit
        ]


def inline_text(token: Token) -> str:
    """The text of a block as it is read: code, formulas and pictures are one word each."""
    parts = []
    for child in token.children or ():
        if child.type in ("code_inline", "image"):
            parts.append(_CODE)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "text":
            parts.append(child.content)
    text = re.sub(r"\{[a-z:]+\}(?=§)", "", "".join(parts))  # roles of MyST
    text = re.sub(r"\$[^$]+\$", _CODE, text)
    lines = [line for line in text.split("\n") if not re.match(r"\s*:", line)]  # directives
    return " ".join(lines).strip()


def blocks(page: Path) -> Iterator[tuple[int, str, bool]]:
    """(line, text, whether it is a cell of a table) of each block of prose; code is left out."""
    text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(), flags=re.DOTALL)
    in_table, line = False, 0
    for token in _MARKDOWN.parse(text):
        if token.map:
            line = token.map[0] + 1
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        elif token.type == "inline":
            yield line, inline_text(token), in_table


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a block. A colon that a capital letter follows ends one, too."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[start : end.start()]):
            yield text[start : end.start()]
            start = end.end()
    yield text[start:]


def sentences(page: Path) -> list[Sentence]:
    """The sentences of a page, without headings of one or two words and empty cells."""
    sentence_list = [
        Sentence(line, text, is_cell)
        for line, block, is_cell in blocks(page)
        for text in split_sentences(block)
    ]
    return [sentence for sentence in sentence_list if sentence.words]


def words_to_avoid() -> dict[str, str]:
    """Each phrase of the table, as a regular expression, with what to write instead."""
    rows: list[list[str]] = []
    for token in _MARKDOWN.parse(WORDS_PAGE.read_text()):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content)
    return {
        phrase.strip(): instead for cells, instead, *_ in rows[1:] for phrase in cells.split(";")
    }


def pattern_of(phrases: dict[str, str]) -> re.Pattern[str]:
    """Finds any of the phrases; `*` at the end of a phrase stands for any ending."""
    alternatives = "|".join(
        re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for phrase in phrases
    )
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


def avoided(page: Path, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """(line, phrase) of each phrase of a page that is on the list."""
    return [
        (line, match[0]) for line, block, _ in blocks(page) for match in pattern.finditer(block)
    ]


def has_counted_sentences(page: Path) -> bool:
    return str(page.relative_to(REPO)).startswith(COUNTED_FOLDERS)


def counts_of(page: Path, pattern: re.Pattern[str]) -> Counts:
    all_sentences = sentences(page)
    prose = [sentence.words for sentence in all_sentences if not sentence.is_cell]
    mean = sum(prose) / max(len(prose), 1)
    too_long = sum(sentence.words > MAX_SENTENCE_WORDS for sentence in all_sentences)
    return Counts(len(avoided(page, pattern)), round(mean, 1), too_long)


def pages() -> list[Path]:
    """README.md and the pages of the site that people write."""
    page_paths = [REPO / "README.md", *sorted(REPO.glob("docs/**/*.md"))]
    studies = re.compile(r"docs/results/[a-z]+-.*\.md")
    names = {path: path.relative_to(REPO).as_posix() for path in page_paths}
    return [path for path, name in names.items() if name not in EXEMPT and not studies.match(name)]


def rule_of(page: Path) -> Counts:
    """The largest counts that a page may have."""
    if has_counted_sentences(page):
        return Counts(0, MAX_MEAN_WORDS, 0)
    return Counts(0, float("inf"), sys.maxsize)


def check_page(page: Path) -> list[str]:
    """A line for each place of a page that breaks the rules."""
    pattern, name = pattern_of(words_to_avoid()), page.relative_to(REPO).as_posix()
    counts, rule = counts_of(page, pattern), rule_of(page)
    broken = counts.exceeds(rule)
    lines = []
    if "avoided_words" in broken:
        lines += [f"{name}:{line}: avoid {word!r}" for line, word in avoided(page, pattern)]
    if "mean_words" in broken:
        limit = rule.mean_words
        lines.append(f"{name}: {counts.mean_words} words per sentence, at most {limit} are allowed")
    if "long_sentences" in broken:
        lines += [
            f"{name}:{sentence.line}: {sentence.words} words: {sentence.text[:70]}..."
            for sentence in sentences(page)
            if sentence.words > MAX_SENTENCE_WORDS
        ]
    return lines


def print_table() -> None:
    pattern = pattern_of(words_to_avoid())
    print("| page | words per sentence | sentences above 35 words | words to avoid |")
    print("|---|---|---|---|")
    for page in pages():
        counts = counts_of(page, pattern)
        name = page.relative_to(REPO).as_posix()
        print(
            f"| {name} | {counts.mean_words} | {counts.long_sentences} | {counts.avoided_words} |"
        )


def main(arguments: list[str]) -> int:
    if arguments == ["--table"]:
        print_table()
        return 0
    lines = [line for page in pages() for line in check_page(page)]
    print("\n".join(lines) or "the pages keep the rules of .ci/prose.py")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
