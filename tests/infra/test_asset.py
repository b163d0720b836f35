"""What is uploaded: built without Docker, the same bytes every time, and enough to start every function."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import marshal
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import pytest
from aws_cdk import Stack

from handlers.service import SHOP
from surehand import Handler
from surehand.declare import lambda_handler
from surehand_cdk import BundleError, ServiceConstruct, Target
from surehand_cdk.bundling import PYTHON, Bundle, bundle_of
from tests.infra.deployed import Deployed
from tests.infra.synthesis import new_app, synthesise

pytestmark = pytest.mark.infra

#: What the Lambda run time brings along, and nothing else of this environment.
RUNTIME_BRINGS = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six")
AARCH64 = 0xB7
MEBIBYTE = 2**20


def build(target: Target, folder: Path, *, compiler: str | None = None) -> Path:
    folder.mkdir()
    bundle_of(SHOP, target, compiler=compiler).build(folder)
    return folder


@pytest.fixture(scope="module")
def arm64(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(Target.LAMBDA, tmp_path_factory.mktemp("arm64") / "asset")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(Target.HOST, tmp_path_factory.mktemp("host") / "asset")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(Target.HOST, tmp_path_factory.mktemp("compiled") / "asset", compiler=sys.executable)


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The AWS SDK alone, as Lambda's Python run time has it beside the bundle."""
    folder = tmp_path_factory.mktemp("sdk")
    for name in RUNTIME_BRINGS:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (folder / source.name).symlink_to(source)
    return folder


def files(asset: Path) -> dict[str, tuple[int, str]]:
    """Return name → mode and digest of every file."""
    return {
        str(path.relative_to(asset)): (path.stat().st_mode & 0o777, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(asset.rglob("*"))
        if path.is_file()
    }


def extensions(asset: Path) -> Iterator[Path]:
    return asset.rglob("*.so*")


class TestContent:
    def test_two_builds_are_byte_identical(self, arm64: Path, tmp_path: Path) -> None:
        assert files(build(Target.LAMBDA, tmp_path / "again")) == files(arm64)

    def test_every_extension_is_for_lambdas_processor_and_python(self, arm64: Path) -> None:
        found = {
            path.name: struct.unpack_from("<H", path.read_bytes(), 18)[0]
            for path in extensions(arm64)
            if path.read_bytes()[:4] == b"\x7fELF"
        }
        assert found
        assert set(found.values()) == {AARCH64}
        assert [name for name in found if "cpython-" in name and "cpython-313-aarch64" not in name] == []

    def test_it_holds_the_framework_the_handlers_and_the_locked_dependencies_only(self, arm64: Path) -> None:
        lock = (Path(__file__).parents[2] / "requirements" / "lambda.txt").read_text(encoding="utf-8")
        locked = {name.replace("-", "_") for name in re.findall(r"^([a-z0-9-]+)==", lock, flags=re.MULTILINE)}
        present = {path.name.partition(".")[0] for path in arm64.iterdir() if not path.name.endswith(".dist-info")}
        assert present == locked | {"handlers", "surehand"}

    def test_the_test_kit_is_not_deployed(self, arm64: Path) -> None:
        assert not (arm64 / "surehand" / "testing").exists()
        assert not (arm64 / "surehand" / "pytest_plugin.py").exists()

    def test_nothing_of_this_machine_gets_in(self, arm64: Path) -> None:
        strange = [name for name in files(arm64) if re.search(r"__pycache__|\.pyc$|(^|/)\.|^bin/|/RECORD$", name)]
        assert strange == []

    def test_modes_do_not_depend_on_how_the_sources_were_checked_out(self, tmp_path: Path) -> None:
        package = tmp_path / "strict"
        package.mkdir(mode=0o700)
        (package / "__init__.py").touch(mode=0o600)
        lock = Path(__file__).parents[2] / "requirements" / "lambda.txt"
        asset = tmp_path / "asset"
        asset.mkdir()
        Bundle(requirements=lock, handlers=(package,), target=Target.LAMBDA).build(asset)
        assert {mode for mode, _ in files(asset).values()} == {0o644}
        assert (asset / "strict").stat().st_mode & 0o777 == 0o755

    def test_the_zip_stays_under_five_mebibytes(self, arm64: Path, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "asset.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in arm64.rglob("*"):
                archive.write(path, path.relative_to(arm64))
        assert (tmp_path / "asset.zip").stat().st_size <= 5 * MEBIBYTE


class TestBytecode:
    """With `-c bytecode=`; without it there is none (`test_nothing_of_this_machine_gets_in`)."""

    def test_every_module_has_it_and_it_is_never_checked_against_the_source(self, compiled: Path) -> None:
        modules = [path for path in compiled.rglob("*.py") if path.stem.isidentifier()]
        headers = {Path(cache_from_source(str(path))).read_bytes()[:8] for path in modules}
        assert headers == {MAGIC_NUMBER + bytes([0b01, 0, 0, 0])}  # PEP 552: by hash, unchecked

    def test_two_builds_are_byte_identical_and_name_the_place_on_lambda(self, compiled: Path, tmp_path: Path) -> None:
        again = build(Target.HOST, tmp_path / "again", compiler=sys.executable)
        assert files(again) == files(compiled)
        code = marshal.loads(Path(cache_from_source(str(compiled / "handlers" / "orders.py"))).read_bytes()[16:])
        assert code.co_filename == "/var/task/handlers/orders.py"

    def test_it_is_what_a_cold_start_imports(self, compiled: Path, tmp_path: Path) -> None:
        asset = tmp_path / "asset"
        shutil.copytree(compiled, asset)
        (asset / "handlers" / "orders.py").write_text("raise SystemExit('compiled anew')", encoding="utf-8")
        code = "import sys; sys.path.insert(0, sys.argv[1]); import handlers.orders"
        command = [sys.executable, "-I", "-c", code, str(asset)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_another_python_than_the_deployed_one_is_refused(self, tmp_path: Path) -> None:
        other = tmp_path / "python"
        other.write_text(f"#!/bin/sh\necho {PYTHON.replace('3.', '3.9')}\n", encoding="utf-8")
        other.chmod(0o755)
        with pytest.raises(BundleError, match=rf"-c bytecode=.*must be compiled by Python {re.escape(PYTHON)}\. "):
            build(Target.LAMBDA, tmp_path / "asset", compiler=str(other))

    def test_without_such_a_python_it_says_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(BundleError, match=r"(?s)-c bytecode=3\.99: .*\nInstall it and give its path"):
            build(Target.LAMBDA, tmp_path / "asset", compiler="3.99")

    def test_the_context_asks_for_it(self) -> None:
        app = new_app(target="host", bytecode=sys.executable)
        compiled = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev")
        assert compiled.code.asset_hash != asset_version(Target.HOST)


class TestAssets:
    def test_another_target_is_another_asset(self) -> None:
        versions = {target: asset_version(target) for target in Target}
        assert versions[Target.HOST] != versions[Target.LAMBDA]

    def test_all_functions_share_one_asset(self, tmp_path: Path) -> None:
        app = new_app(tmp_path)
        ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev")
        functions = synthesise(app).of_type("AWS::Lambda::Function").values()
        assert len({function["Properties"]["Code"]["S3Key"] for function in functions}) == 1

    def test_an_unknown_target_is_refused_by_name(self) -> None:
        with pytest.raises(Exception, match=r"-c target=docker: it must be lambda or host"):
            ServiceConstruct(Stack(new_app(target="docker"), "core"), "Service", SHOP, stage="dev")

    def test_a_missing_lock_is_named_with_the_way_to_get_it(self, tmp_path: Path) -> None:
        with pytest.raises(BundleError, match=r"lambda\.txt, which does not exist\. Compile it"):
            bundle_of(SHOP, Target.HOST, tmp_path / "lambda.txt")

    def test_an_unlocked_dependency_is_refused(self, tmp_path: Path) -> None:
        lock = tmp_path / "lambda.txt"
        lock.write_text("pydantic==2.0\n", encoding="utf-8")
        (tmp_path / "asset").mkdir()
        with pytest.raises(BundleError, match="hash"):
            Bundle(requirements=lock, handlers=(), target=Target.HOST).build(tmp_path / "asset")


def asset_version(target: Target) -> str:
    app = new_app(target=target.value)
    construct = ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="dev")
    return construct.code.asset_hash


START = """
import importlib, json, sys
asset, sdk, entry = sys.argv[1:]
sys.path[:0] = [asset, sdk]
module, _, name = entry.rpartition(".")
loaded = importlib.import_module(module)
answer = getattr(loaded, name)({"Records": []}, None)
own = {"surehand", "pydantic", "pydantic_core", module.partition(".")[0]}
mine = [loaded for name, loaded in sys.modules.items() if name.partition(".")[0] in own]
outside = [loaded.__name__ for loaded in mine if not loaded.__file__.startswith(asset)]
print(json.dumps({"answer": answer, "outside": outside, "sdk": "botocore" in sys.modules}))
"""


class TestStart:
    @pytest.mark.parametrize("handler", SHOP.handlers, ids=lambda handler: handler.name)
    def test_each_function_starts_from_its_asset_alone(
        self, handler: Handler, shop: Deployed, host: Path, sdk: Path
    ) -> None:
        variables = shop[handler].function["Environment"]["Variables"]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", START, str(host), str(sdk), lambda_handler(handler)],
            env=inside_lambda(variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=host.parent,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1]) == {
            "answer": {"batchItemFailures": []},
            "outside": [],
            "sdk": True,
        }


def inside_lambda(variables: Mapping[str, object]) -> dict[str, str]:
    """Return a function's environment; what CloudFormation fills in at deployment gets a value of that shape."""
    return {
        "AWS_LAMBDA_FUNCTION_NAME": "shop-dev-function",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        **{
            name: value if isinstance(value, str) else "https://sqs.eu-west-1.amazonaws.com/000000000000/name"
            for name, value in variables.items()
        },
    }
