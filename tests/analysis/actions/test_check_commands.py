"""What counts as a test or a check, and what does not."""

from __future__ import annotations

import pytest

from dense.analysis.actions.step_effects import effects
from dense.trajectory import Source, Step, ToolCall

CHECKS = """
pytest
pytest -q tests/test_a.py::test_b
python3 -m pytest -x
python -bb -m unittest discover
py.test a
tox -e py312
go test ./...
go vet ./...
cargo test --release
cargo clippy
npm test
npm run test:unit
npm run lint
yarn test
pnpm -r test
npx jest a.test.js
npx vitest run
node_modules/.bin/mocha
ctest --output-on-failure
make test
make -C build check
mvn -q test
./gradlew test
bundle exec rspec
vendor/bin/phpunit
python test_a.py
python3 tests/anything.py
python check_speed.py
python3 a_test.py
bash tests/run.sh
./run_tests.sh
./verify.sh
bin/test sympy/core
python manage.py test app
python -m py_compile a.py
python -m doctest a.py
mypy src
ruff check .
npx tsc --noEmit
diff expected.txt out.txt
cmp a b
sha256sum -c sums.txt
bash -n a.sh
node --check a.js
black --check .
uv run pytest
poetry run pytest -q
coverage run -m pytest
sudo -E timeout 60 pytest
docker exec web pytest
java -cp . MathTest
dotnet test
python3 -c "assert 1 + 1 == 2"
"""
NO_CHECKS = """
ls tests
cat test_a.py
which pytest
pytest --version
pytest --collect-only
pip install pytest
grep -rn test src
python main.py
python latest.py
python contest.py
make
make install
npm install
npm run build
npm install test
git diff
git status
cargo build
go build ./...
echo test
touch test_a.py
black .
ruff format .
python3 -c "print('assert')"
mkdir tests
test -f a
cd tests
"""


def checks_of(command: str) -> tuple[str, ...]:
    return effects(Step(Source("x"), calls=(ToolCall("bash", {"command": command}),))).tests


@pytest.mark.parametrize("command", CHECKS.strip().split("\n"))
def test_checks(command: str) -> None:
    assert checks_of(command) == (command,)


@pytest.mark.parametrize("command", NO_CHECKS.strip().split("\n"))
def test_no_checks(command: str) -> None:
    assert checks_of(command) == ()


def test_a_check_is_named_without_its_surroundings() -> None:
    assert checks_of("cd /app && pytest -q 2>&1 | tail -3") == ("pytest -q",)
    assert checks_of("python3 - <<'PY'\nassert True\nPY") == ("python3 - <<'PY'",)
