"""What Python code in a command does, by its syntax."""

from __future__ import annotations

import pytest

from dense.analysis.actions.effects import EffectsBuilder
from dense.analysis.actions.python_code import record_python

CODE: list[tuple[str, dict[str, tuple[str, ...]]]] = [
    ("open('a', 'w')", {"writes": ("a",)}),
    ("open('a')", {"reads": ("a",)}),
    ("open('a', mode='ab')", {"writes": ("a",)}),
    ("open('a', encoding='utf-8')", {"reads": ("a",)}),
    ("p = 'a'\nwith open(p, 'w') as f: f.write('')", {"writes": ("a",)}),
    ("import json\njson.dump({}, open('a.json', 'w'))", {"writes": ("a.json",)}),
    ("from pathlib import Path\nPath('a').write_text('x')", {"writes": ("a",)}),
    ("p = Path('d') / 'a'\np.write_text(p.read_text())", {"writes": ("d/a",), "reads": ("d/a",)}),
    ("Path('a').open('w')", {"writes": ("a",)}),
    ("Path('a').unlink()", {"deletes": ("a",)}),
    ("plt.savefig('c.png')", {"writes": ("c.png",)}),
    ("df.to_csv('o.csv', index=False)", {"writes": ("o.csv",)}),
    ("pd.read_csv('i.csv')", {"reads": ("i.csv",)}),
    ("np.save('a.npy', x)", {"writes": ("a.npy",)}),
    ("torch.save(model, 'm.pt')", {"writes": ("m.pt",)}),
    ("import os\nos.remove('a'); os.makedirs('d/e')", {"deletes": ("a",), "writes": ("d/e",)}),
    ("os.rename('a', 'b')", {"deletes": ("a",), "writes": ("b",)}),
    ("shutil.copy('a', 'b'); shutil.rmtree('c')", {"reads": ("a",), "writes": ("b",), "deletes": ("c",)}),
    ("zipfile.ZipFile('a.zip', 'w')", {"writes": ("a.zip",)}),
    ("requests.get('http://x/y')", {"network": ("http://x/y",)}),
    ("subprocess.run(['rm', 'a'])", {"shell": ("rm a",)}),
    ("os.system('rm a')", {"shell": ("rm a",)}),
    ("for n in x:\n  open(f'out/{n}.txt', 'w')", {"writes": ("out/{n}.txt",)}),
    ("open(sys.argv[1], 'w')", {"writes": ("{sys.argv[1]}",)}),
    ("os.replace('a', 'b')", {"deletes": ("a",), "writes": ("b",)}),
    ("os.chmod('a', 0o755)", {"writes": ("a",)}),
    ("np.load('a.npy')", {"reads": ("a.npy",)}),
    ("joblib.dump(x, 'a.pkl')", {"writes": ("a.pkl",)}),
    ("wavfile.write('a.wav', 8000, x)", {"writes": ("a.wav",)}),
    ("sqlite3.connect('a.db')", {"reads": ("a.db",)}),
    ("client.post('http://x/y')", {"network": ("http://x/y",)}),
    ("match x:\n  case {'a': [1, *_], **rest}:\n    os.listdir('d')", {"reads": ("d",)}),
    ("xs = [1]\nxs.remove(1)", {}),
    ("cache.load('a')", {}),
    ("'a'.replace('b', 'c')", {}),
    ("d.get('k')", {}),
    ("print 'old'\nopen('a', 'w')", {"writes": ("a",)}),
    ("s = '\\d'\nopen('a', 'w')", {"writes": ("a",)}),
]


@pytest.mark.parametrize(("code", "expected"), CODE)
def test_what_code_does(code: str, expected: dict[str, tuple[str, ...]]) -> None:
    builder, started = EffectsBuilder(), list[str]()
    assert record_python(code, builder, "", started.append) is False
    found = builder.build()
    fields = ("reads", "writes", "deletes", "network")
    shown = {field: getattr(found, field) for field in fields if getattr(found, field)}
    assert shown | ({"shell": tuple(started)} if started else {}) == expected


@pytest.mark.parametrize(
    "code", ["assert x", "import unittest\nunittest.main()", "pytest.main(['-q'])", "def f(:\n    pass\n  assert x"]
)
def test_code_that_checks(code: str) -> None:
    assert record_python(code, EffectsBuilder(), "", lambda _: None) is True


def test_code_as_deep_as_it_is_long() -> None:
    for code in ("open(" * 5000, "open" + "(1+" * 3000, "open('a'" + "+'a'" * 20_000 + ")", "open(\0)"):
        record_python(code, EffectsBuilder(), "", lambda _: None)
