"""Commands that install what is missing: right for the way in which the package was installed."""

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance import installing
from beyondchance.installing import distribution, install_command, required, requirements
from beyondchance.io.registry import FORMATS
from refusals import assert_tells

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("[!_]*/*.md"))]
DECLARED = [
    "click>=8.2",
    "scipy>=1.15; extra == 'coefficients'",
    'dkpro-cassis>=0.10; extra == "uima"',
    "lxml>=5; python_version < '3.13' and extra == 'uima'",
]


@pytest.fixture(autouse=True)
def _found_by_the_shell(monkeypatch):
    monkeypatch.setattr(installing, "_python", lambda: "python")


@pytest.fixture
def _declared(monkeypatch):
    monkeypatch.setattr(metadata, "requires", lambda _: DECLARED)


def provided(library, extra, **options):
    with pytest.raises(bc.MissingLibraryError) as error:
        required(library, extra=extra, purpose="reading", **options)
    return str(error.value)


@pytest.mark.usefixtures("_declared")
def test_the_command_names_the_libraries_with_their_limits():
    said = provided("nowhere.at.all", "coefficients")
    assert_tells(said, "reading … library nowhere … 'nowhere'")
    assert said.endswith(': python -m pip install "scipy>=1.15"')


@pytest.mark.usefixtures("_declared")
def test_other_conditions_of_a_requirement_stay():
    assert install_command("uima", "cassis") == (
        'python -m pip install "dkpro-cassis>=0.10" "lxml>=5; python_version < \'3.13\'"'
    )


def test_the_library_is_named_as_it_is_installed():
    assert distribution("pyarrow.parquet") == "pyarrow"
    assert distribution("cassis") == "dkpro-cassis"
    assert distribution("spacy") == "spacy"


def test_every_extra_that_a_format_names_is_declared():
    for item in FORMATS.values():
        assert (item.library is None) == (item.extra is None)
        if item.library:
            names = [re.split("[<>=!~ ]", entry)[0] for entry in requirements(item.extra)]
            assert distribution(item.library) in names


def test_without_metadata_the_library_is_named(monkeypatch):
    def unknown(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "requires", unknown)
    assert install_command("uima", "cassis") == 'python -m pip install "dkpro-cassis"'


@pytest.mark.usefixtures("_declared")
def test_pipx_injects_into_its_environment(tmp_path, monkeypatch):
    place = tmp_path / "beyondchance-next"
    place.mkdir()
    (place / "pipx_metadata.json").write_text("{}")
    monkeypatch.setattr(sys, "prefix", str(place))
    found = install_command("coefficients", "scipy")
    assert found == 'pipx inject beyondchance-next "scipy>=1.15"'


@pytest.mark.usefixtures("_declared")
@pytest.mark.parametrize(
    ("receipt", "rest"),
    [
        ('{ name = "beyondchance" }', " beyondchance"),
        ('{ name = "beyondchance", path = "/a b/x.whl" }', ' "/a b/x.whl"'),
        (
            '{ name = "beyondchance", git = "https://example.org/x?rev=v1" }',
            " git+https://example.org/x@v1",
        ),
    ],
)
def test_uv_installs_the_tool_anew_with_all_that_it_had(tmp_path, monkeypatch, receipt, rest):
    other = '{ name = "pyarrow", specifier = ">=17" }'
    text = f"[tool]\nrequirements = [{receipt}, {other}]\n"
    (tmp_path / "uv-receipt.toml").write_text(text)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = install_command("coefficients", "scipy", has_path=True)
    assert found == f'uv tool install --with "pyarrow>=17" --with "scipy>=1.15"{rest}'
    assert "/a b/" not in install_command("coefficients", "scipy")


@pytest.mark.usefixtures("_declared")
def test_a_receipt_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for receipt in ("", "[tool]", "[", "[tool]\nrequirements = 3"):
        (tmp_path / "uv-receipt.toml").write_text(receipt)
        found = install_command("coefficients", "scipy")
        assert found == 'uv tool install --with "scipy>=1.15" beyondchance', receipt


@pytest.mark.usefixtures("_declared")
def test_an_environment_without_pip_is_one_of_uv(monkeypatch):
    monkeypatch.setattr(installing, "find_spec", lambda _: None)
    assert install_command("coefficients", "scipy") == 'uv pip install "scipy>=1.15"'


def test_a_python_that_no_shell_finds_is_named_by_its_path(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "executable", "/far away/bin/python")
    assert provided("nowhere", "coefficients").endswith(
        ': "/far away/bin/python" -m pip install "scipy>=1.15"'
    )
    found = provided("nowhere", "coefficients", has_path=False)
    assert ": python -m pip install" in found


def test_commands_on_pages_name_what_is_declared():
    known = {
        entry
        for extra in metadata.metadata("beyondchance").get_all("Provides-Extra") or []
        for entry in requirements(extra)
    }
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for released, command in re.findall(r"(Once released, `)?pip install ([^`\n]+)", text):
            assert released or "beyondchance[" not in command, page
            if not re.match(r"(--editable )?'?\.", command):  # a checkout
                assert set(re.findall('"([^"]+)"', command)) <= known, page
