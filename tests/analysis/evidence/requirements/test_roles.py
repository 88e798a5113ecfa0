"""What a task names, sentence by sentence: own sentences, in several languages, with the role that each name plays."""

from __future__ import annotations

import pytest

from dense.analysis.evidence.requirements import requirements
from dense.trajectory import Task

MARKS = {"+": "deliverable", "<": "given", "-": "forbidden", "~": "mentioned"}

FILES = r"""
Write the sum to /app/out.txt. | +/app/out.txt
Install the binary to `/usr/local/bin/pmars`. | +/usr/local/bin/pmars
Install the program to `/usr/local/bin`. | ~/usr/local/bin
Summarise the server logs in /app/logs into /app/report.json. | </app/logs +/app/report.json
Port `/app/old/tally.pl` to Python 3 as `/app/tally.py`. | </app/old/tally.pl +/app/tally.py
Rewrite /app/profile.awk as a C program, /app/profile.c. | </app/profile.awk +/app/profile.c
Write an assembler for our small controller: `/app/asm.py`. | +/app/asm.py
Add tests of your own in a new file test_more.py. | +test_more.py
The result must be an executable file `/app/pebble`. | +/app/pebble
Write a script that logs errors to /app/run.log. | ~/app/run.log
Write each word that you find, one per line, to the file: /app/words.txt | +/app/words.txt
Save the tuned model with its updated weights in binary format to /app/model.pt. | +/app/model.pt
Call your program /app/golf.c and keep it short. | +/app/golf.c
The output table should be titled primers.fasta. | +primers.fasta
The compiled proof should be in sum.vo. | +sum.vo
Compile the sources at /app/vendor/db.tar.gz with tracing. | </app/vendor/db.tar.gz
Create `a.txt` with the contents of `b.txt` and `c.txt`. | +a.txt <b.txt <c.txt
Create `a.txt` with the words that `b.txt` holds, and `c.txt` with the rest. | +a.txt ~b.txt ~c.txt
Compare `a.txt` with the first, `b.txt` with the second. | <a.txt ~b.txt
Create `a.txt` with one line, and read `b.txt` with care. | +a.txt <b.txt
The results should not end up in `scratch.txt`. | ~scratch.txt
A log will go to `run.log`. | ~run.log
At the end, write the results to `out.csv`. | +out.csv
I need `lib.so` to run this. | ~lib.so
Save the report as `report.md` or `report.txt`. | ~report.md ~report.txt
Save the report as `report.md` or as `report.txt`. | ~report.md ~report.txt
Write `a.txt`, `b.txt` or `c.txt`, and save a log to `d.txt`. | ~a.txt ~b.txt ~c.txt +d.txt
Do not edit a.cfg or b.cfg. | -a.cfg -b.cfg
You may also write notes to `notes.md`. | ~notes.md
You can save a plot as plot.png. | ~plot.png
Could you save a plot as plot.png? | +plot.png
You can use any library; save the model to model.bin. | +model.bin
Add a test to `src/sums.rs` and update `CHANGELOG.md` if needed. | +src/sums.rs ~CHANGELOG.md
If needed, install packages, then write the sum to sum.txt. | +sum.txt
Save the sum to out/sum.txt (create the folder if needed). | +out/sum.txt
Schreibe das Ergebnis nach `a.txt` oder `b.txt`. | ~a.txt ~b.txt
请将结果写入 `a.txt` 或 `b.txt`。 | ~a.txt ~b.txt
Save the table as `report.csv`. | +report.csv
Create a file called notes.md with three lines. | +notes.md
Create a new Python script named `tools/clean.py`. | +tools/clean.py
Read /app/in.csv and write the mean to /app/mean.txt. | </app/in.csv +/app/mean.txt
Count the lines of words.txt that hold a vowel and store the number in count.txt. | <words.txt +count.txt
Please produce `a.json`, `b.json` and `c.json`. | +a.json +b.json +c.json
The file /app/result.json must contain the key total. | +/app/result.json
`out/plan.txt` should exist when you are done. | +out/plan.txt
Results must be saved to results/final.parquet. | +results/final.parquet
The report should be written to `report.html`. | +report.html
Fix parser.py so that the tests in test_parser.py pass. | +parser.py ~test_parser.py
Fix the rounding error in src/money.py. | +src/money.py
Implement the `Stack` class in stack.py. | +stack.py
In `utils/dates.py`, add a function that parses weeks. | +utils/dates.py
Add a retry option to client.go. | +client.go
Save the key to `a.key`, the certificate to `b.crt`, and both together as `c.pem`. | +a.key +b.crt +c.pem
Add a function to `lib/foo.rb` and a test to `spec/foo_spec.rb`. | +lib/foo.rb +spec/foo_spec.rb
Please provide the answer in answer.txt. | +answer.txt
A file `raw.bin` has been placed in the folder. | <raw.bin
Make slow.py ten times faster. | +slow.py
Rename old_name.py to new_name.py. | <old_name.py +new_name.py
Convert data/input.xml to data/output.json. | <data/input.xml +data/output.json
Copy the settings from base.ini into local.ini. | <base.ini +local.ini
Your task is to write a solver in /app/solve.py. | +/app/solve.py
You must create `Makefile` with a target for tests. | +Makefile
Can you create a plot of the data and save it as plot.png? | +plot.png
Using the prices in prices.csv, create forecast.csv. | <prices.csv +forecast.csv
Output: `/app/answer.txt` | +/app/answer.txt
Input: `/app/question.txt` | </app/question.txt
The output file should be final.txt. | +final.txt
Run analyse.py and save its output to log/run.txt. | <analyse.py +log/run.txt
Write what you did to CHANGES.md. | +CHANGES.md
Download the archive to data/raw.tar.gz. | +data/raw.tar.gz
Create the directory /app/build/reports/. | +/app/build/reports/
Compile hello.c into a program. | <hello.c
Use the schema in schema.sql. | <schema.sql
You are given a log file at /var/log/app.log. | </var/log/app.log
There is a database in shop.db. | <shop.db
`ledger.py` adds up bookings. | ~ledger.py
`ledger.py` contains a function that adds up bookings. | <ledger.py
See docs/format.md for the format. | <docs/format.md
Write a summary of the errors in server.log. | ~server.log
Write a script that counts the words in book.txt. | ~book.txt
Write a script run.py that reads a.csv and writes b.csv. | +run.py ~a.csv ~b.csv
The program must write its result to res.txt. | ~res.txt
A tool to generate page.html would be good. | ~page.html
I created config.yaml yesterday. | ~config.yaml
We tried to write out.bin. | ~out.bin
If cache.json is missing, start from nothing. | ~cache.json
When you edit main.rs, keep the style. | ~main.rs
Write one script (e.g. `solve.py`) that does it all. | ~solve.py
Use a name such as result.txt for it. | ~result.txt
Is there a file called todo.txt? | ~todo.txt
Which function in app.ts opens the window? | ~app.ts
Do not modify tests/test_core.py. | -tests/test_core.py
Never edit `schema.prisma`. | -schema.prisma
The file golden.json must not be changed. | -golden.json
Don't use helper.py. | -helper.py
Write the report to /path/to/report.txt. | ~/path/to/report.txt
Save one file <name>.json for each person. | ~name>.json
Work in /app. | ~/app
Save everything to /app/output/. | ~/app/output/
Compare your result with the expected output in expected.txt. | <expected.txt
The script fails with an error in loader.py. | ~loader.py
Schreibe das Ergebnis in die Datei ergebnis.txt. | +ergebnis.txt
Bitte erstelle eine Tabelle und speichere sie unter tabelle.csv. | +tabelle.csv
Lies daten.csv und schreibe die Summe nach summe.txt. | <daten.csv +summe.txt
Ändere die Datei config.toml nicht. | -config.toml
Écrivez le total dans le fichier total.txt. | +total.txt
Lisez ventes.csv et créez resume.json. | <ventes.csv +resume.json
Ne modifiez pas base.py. | -base.py
Escribe el resultado en salida.txt. | +salida.txt
Lee datos.csv y guarda la media en media.txt. | <datos.csv +media.txt
No modifiques prueba.py. | -prueba.py
Leia vendas.csv e salve o total em total.txt. | <vendas.csv +total.txt
Crie um arquivo chamado lista.md. | +lista.md
Прочитай файл данные.csv и запиши сумму в итог.txt. | <данные.csv +итог.txt
Создайте файл отчёт.md. | +отчёт.md
Не изменяйте файл main.py. | -main.py
結果を result.txt に書き込んでください。 | +result.txt
config.yaml を変更しないでください。 | -config.yaml
Βάλε το αποτέλεσμα στο result.txt. | ~result.txt
"""

NO_FILES = r"""
Build it with Node.js and Next.js on top of ASP.NET.
Call np.array and then df.mean() on it.
Write to ada@example.com or visit example.com/index.html for more.
See https://example.org/docs/page.html for the rules.
Use version 2.0 or python3.11, e.g. the newest one.
The call response.json() gives back a dictionary.
Set self.data and request.key before you call foo.bar().
The /health and /api/users endpoints answer with JSON.
Choose true/false and/or input/output over TCP/IP.
The ratio is 3/4 at 12.5 % of i.e. everything.
Give the answer as a .csv file.
The package @types/node is needed, and so is scikit-learn.
"""


def files(text: str) -> list[tuple[str, str]]:
    return [(found.subject, found.role) for found in requirements(Task(text)) if found.kind == "file"]


def rows(table: str) -> list[tuple[str, list[tuple[str, str]]]]:
    result: list[tuple[str, list[tuple[str, str]]]] = []
    for line in table.strip().splitlines():
        text, _, names = line.rpartition(" | ")
        result.append((text, [(name[1:], MARKS[name[0]]) for name in names.split()]))
    return result


@pytest.mark.parametrize(("text", "expected"), rows(FILES), ids=lambda value: value if isinstance(value, str) else "")
def test_the_role_of_each_file(text: str, expected: list[tuple[str, str]]):
    assert files(text) == expected


@pytest.mark.parametrize("text", NO_FILES.strip().splitlines())
def test_what_is_no_file(text: str):
    assert files(text) == []


def test_the_table_is_large_enough():
    assert len(rows(FILES)) + len(NO_FILES.strip().splitlines()) >= 80
