"""JSON of instances and results: what a key says is said once."""

import pytest

import cosched as cs
from cosched import io


def test_a_key_that_is_there_twice(tmp_path):
    """The last one was taken without a word."""
    path = tmp_path / "times.json"
    cs.packs.Instance([[4.0, 2.0]], 1).write(path)
    text = path.read_text()
    path.write_text(text.replace('"times"', '"times": [[9.0, 9.0]], "times"', 1))
    with pytest.raises(cs.InvalidInstance, match=r"times\.json: the key 'times' is there twice"):
        cs.packs.Instance.read(path)
    with pytest.raises(cs.InvalidInstance, match=r"^x: the key 'b' is there twice in an object$"):
        io.parse_json('{"a": [{"a": 1, "b": 1, "b": 2}]}', "x")
    assert io.parse_json('[{"a": 1}, {"a": 1}]', "x") == [{"a": 1}, {"a": 1}]
