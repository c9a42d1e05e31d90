"""The checks of archives, on small archives that are wrong; `nox -s build` runs the real builds."""

import io
import tarfile
import zipfile

import click
import pytest

import check_wheel


def wheel_with(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return check_wheel.contents(path)


def test_only_compiled_module_and_record_may_differ(tmp_path):
    same = {"c/__init__.py": "1", "c/_native.cpython-311.so": "x", "c.dist-info/RECORD": "x"}
    other = {**same, "c/_native.cpython-311.so": "y", "c.dist-info/RECORD": "y"}
    first = wheel_with(tmp_path / "a.whl", same)
    assert check_wheel.compare(first, wheel_with(tmp_path / "b.whl", other)) == []
    changed = wheel_with(tmp_path / "c.whl", {**same, "c/__init__.py": "2", "c/new.py": ""})
    problems = check_wheel.compare(first, changed)
    assert [problem.split()[0] for problem in problems] == ["c/__init__.py", "c/new.py"]


def test_contents_must_be_the_shared_tree_without_tests(monkeypatch):
    monkeypatch.setattr(check_wheel, "shared_files", lambda: {"__init__.py", "jit/key.py"})
    good = ("_shared/__init__.py", "_shared/jit/key.py", "_native.cpython-311.so")
    files = {f"c/{name}": "" for name in good} | {"c.dist-info/licenses/LICENSE": ""}
    assert check_wheel.check_contents("c", files) == []
    tests = {**files, "c/_shared/tests/test_key.py": ""}
    assert "holds c/_shared/tests/test_key.py" in check_wheel.check_contents("c", tests)
    for name, problem in (
        ("c/_shared/jit/key.py", "lacks c/_shared/jit/key.py"),
        ("c/_native.cpython-311.so", "holds not exactly one c/_native*.so"),
        ("c.dist-info/licenses/LICENSE", "lacks the licence"),
    ):
        lacking = {key: value for key, value in files.items() if key != name}
        assert check_wheel.check_contents("c", lacking) == [problem]


def test_an_sdist_with_a_link_is_refused(tmp_path):
    path = tmp_path / "c-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        file = tarfile.TarInfo("c-1/a.py")
        file.size = 1
        archive.addfile(file, io.BytesIO(b"1"))
        link = tarfile.TarInfo("c-1/_shared")
        link.type = tarfile.SYMTYPE
        link.linkname = "../../shared"
        archive.addfile(link)
    with pytest.raises(click.ClickException, match=r"c-1\.tar\.gz holds links: c-1/_shared"):
        check_wheel.unpack(path, tmp_path / "out")


def test_every_component_carries_the_licence_of_the_repository():
    wanted = (check_wheel.ROOT / "LICENSE").read_bytes()
    for component in check_wheel.components():
        assert (check_wheel.PACKAGES / component / "LICENSE").read_bytes() == wanted


def test_every_readme_has_an_example_that_compiles():
    for component in check_wheel.components():
        compile(check_wheel.first_example(component), f"{component}/README.md", "exec")
