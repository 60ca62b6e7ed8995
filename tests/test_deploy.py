"""The files under `deploy/`: the manifests against the types of the Kubernetes API, and all of them against the gateway."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from toolglot.cli.serve import command
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.endpoints import EXACT
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.server import GRACE

DEPLOY = Path(__file__).parent.parent / "deploy"
KEYS = {"TOOLGLOT_KEY": "k" * 16, "TOOLGLOT_ADMIN_KEY": "a" * 16}
yaml = pytest.importorskip("yaml")


def manifests() -> dict[str, Any]:
    file = DEPLOY / "kubernetes" / "toolglot.yaml"
    return {one["kind"]: one for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))}


def _model(one: dict[str, Any]) -> str:
    group, _, version = one["apiVersion"].rpartition("/")
    assert group in ("", "apps", "policy", "autoscaling")
    return f"{version.capitalize()}{one['kind']}"


def check(value: Any, kind: str, at: str) -> None:
    """By the client's generated types: no unknown field, none missing, and each of its type."""
    models = pytest.importorskip("kubernetes.client").models
    if match := re.fullmatch(r"[Ll]ist\[(.+)\]", kind):
        assert isinstance(value, list), at
        for number, item in enumerate(value):
            check(item, match[1], f"{at}[{number}]")
    elif match := re.fullmatch(r"[Dd]ict[\[(]\w+, (.+)[\])]", kind):
        assert isinstance(value, dict), at
        for name, item in value.items():
            check(item, match[1], f"{at}.{name}")
    elif kind in ("str", "int", "bool", "float"):
        assert type(value).__name__ == kind, at
    elif kind != "object":
        model = getattr(models, kind)
        fields = {written: name for name, written in model.attribute_map.items()}
        assert isinstance(value, dict), at
        assert value.keys() <= fields.keys(), at
        for written, item in value.items():
            check(item, model.openapi_types[fields[written]], f"{at}.{written}")
        model(**{fields[written]: item for written, item in value.items()})  # raises if a required field is missing


@pytest.mark.parametrize("kind", ["ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"])
def test_manifests_have_the_types_of_the_kubernetes_api(kind: str) -> None:
    one = manifests()[kind]
    check(one, _model(one), kind)


def test_the_check_finds_mistakes() -> None:
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1}
    check(probe, "V1Probe", "")
    for wrong in ({**probe, "period": 1}, {**probe, "periodSeconds": "1"}, {"httpGet": {"path": "/"}}):
        with pytest.raises((AssertionError, ValueError)):
            check(wrong, "V1Probe", "")


def test_manifests_fit_together_and_the_gateway() -> None:
    found = manifests()
    pod = found["Deployment"]["spec"]["template"]
    [container] = pod["spec"]["containers"]
    for one in (found["Deployment"], found["PodDisruptionBudget"]):
        assert one["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == pod["metadata"]["labels"]
    target = found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", found["Deployment"]["metadata"]["name"])
    [metric] = found["HorizontalPodAutoscaler"]["spec"]["metrics"]
    assert metric["pods"]["metric"]["name"] in Metrics().exposition().decode()
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert EXACT["GET", container[probe]["httpGet"]["path"]].open  # needs no key
    config = read_config(found["ConfigMap"]["data"]["toolglot.toml"], environ=KEYS)
    assert config.server.port == container["ports"][0]["containerPort"]
    assert {variable["name"] for variable in container["env"]} == KEYS.keys()
    assert pod["spec"]["terminationGracePeriodSeconds"] > GRACE + 10


def test_compose_fits_the_gateway() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert set(services) == {"gateway", "redis", "nginx"}
    gateway = services["gateway"]
    assert gateway["deploy"]["replicas"] == 2
    assert int(gateway["stop_grace_period"].removesuffix("s")) > GRACE + 10
    config = _deployed_config()
    assert gateway["environment"].keys() == KEYS.keys()
    assert f"server gateway:{config.server.port};" in (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        for volume in service.get("volumes", ()):
            assert (DEPLOY / volume.partition(":")[0]).is_file()


def _deployed_config() -> Config:
    return read_config((DEPLOY / "toolglot.toml").read_text(encoding="utf-8"), environ=KEYS)


@pytest.mark.parametrize("name", ["Dockerfile", "toolglot.service"])
def test_commands_are_options_of_serve(name: str) -> None:
    [line] = re.findall(r"^(?:ENTRYPOINT |ExecStart=)(.+)$", (DEPLOY / name).read_text(encoding="utf-8"), re.MULTILINE)
    used = re.findall(r"--[a-z]+", line)
    assert used
    assert "serve" in line
    assert set(used) <= {option for parameter in command.params for option in parameter.opts}


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("server gateway:", "server 127.0.0.1:")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/nginx.pid;\n{text}")
    options = ["-t", "-q", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", f"error_log {tmp_path}/log;"]
    done = subprocess.run([nginx, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
