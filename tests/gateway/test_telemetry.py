"""OpenTelemetry: spans and metrics of the GenAI conventions, without message contents."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import UpstreamResponse, upstream_server
from toolglot.errors import CallerError
from toolglot.gateway.otel_genai import Destination, Telemetry
from toolglot.gateway.records import Record, RecordedCall
from toolglot.gateway.telemetry import is_enabled, telemetry

SECRET = "Timbuktu"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
Point = tuple[dict[str, Any], float]  # attributes, and the value of a counter or the sum of a histogram


class Seen:
    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.telemetry = Telemetry(tracers, MeterProvider([self._reader], shutdown_on_exit=False))

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def metrics(self) -> dict[str, list[Point]]:
        return {name: [_point(point) for point in points] for name, points in self._all()}

    def bounds(self) -> dict[str, tuple[float, ...]]:
        return {name: points[0].explicit_bounds for name, points in self._all() if hasattr(points[0], "explicit_bounds")}

    def _all(self) -> Iterator[tuple[str, list[Any]]]:
        data: Any = self._reader.get_metrics_data()
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            yield metric.name, list(metric.data.data_points)


def _point(point: Any) -> Point:
    return dict(point.attributes), point.sum if hasattr(point, "sum") else point.value


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_request_is_a_span_and_metrics_without_contents() -> None:
    async def work() -> None:
        rescued = text(f'<tool_call>{{"name":"get_weather","arguments":{{"city":"{SECRET}","days":"3"}}}}</tool_call>')
        seen = Seen()
        server = "record = true"
        async with upstream_server(in_turn(rescued)) as up, serving(config(up, server=server), seen.telemetry) as gateway:
            body = question("anthropic", "openai-chat/m", words=SECRET)
            await gateway.reply("anthropic", body, stream=True, traceparent=f"00-{TRACE}-00f067aa0ba902b7-01")
            (span,) = seen.spans()
            assert (span.name, span.kind, span.status.status_code) == ("chat m", SpanKind.CLIENT, StatusCode.UNSET)
            assert f"{span.get_span_context().trace_id:x}" == TRACE  # type: ignore[union-attr]
            span_attributes = attributes(span)
            first = span_attributes.pop("gen_ai.response.time_to_first_chunk")
            assert 0 < first <= ((span.end_time or 0) - (span.start_time or 0)) / 1e9
            assert span_attributes.pop("toolglot.request.id").startswith("req_")
            assert span_attributes == {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "vllm",
                "gen_ai.request.model": "m",
                "gen_ai.request.stream": True,
                "gen_ai.usage.input_tokens": 10,
                "gen_ai.usage.output_tokens": 5,
                "server.address": "127.0.0.1",
                "server.port": up.port,
                "toolglot.request.model": "openai-chat/m",
                "toolglot.request.wire": "anthropic",
                "toolglot.upstream": "openai-chat",
                "toolglot.upstream.wire": "openai-chat",
                "toolglot.tool_mode": "native",
                "toolglot.status": 200,
                "toolglot.decisions": ("coerced_type", "rescued_text"),
                "toolglot.calls.passed": 0,
                "toolglot.calls.fixed": 1,
                "toolglot.calls.refused": 0,
                "toolglot.rescued": 1,
                "toolglot.retried": 0,
            }
            metrics = seen.metrics()
            common = {
                name: span_attributes[name]
                for name in span_attributes
                if name.startswith(("server.", "gen_ai.")) and "usage" not in name
            }
            del common["gen_ai.request.stream"]
            model = {"gen_ai.request.model": "m"}
            assert metrics["gen_ai.client.token.usage"] == [
                ({**common, "gen_ai.token.type": "input"}, 10),
                ({**common, "gen_ai.token.type": "output"}, 5),
            ]
            assert metrics["gen_ai.client.operation.duration"][0][0] == common
            assert metrics["gen_ai.client.operation.time_to_first_chunk"][0] == (common, first)
            call = {"toolglot.outcome": "fixed", "toolglot.dialect": "hermes", "toolglot.code": "coerced_type"}
            assert metrics["toolglot.calls"] == [({**model, **call}, 1)]
            assert metrics["toolglot.rescued"] == [(model, 1)]
            assert {point[0]["toolglot.code"] for point in metrics["toolglot.decisions"]} == {"coerced_type", "rescued_text"}
            assert seen.bounds()["gen_ai.client.operation.duration"][0] == 0.01
            assert seen.bounds()["gen_ai.client.token.usage"][-1] == 67108864
            assert SECRET not in span.to_json() + str(metrics)
            observers = len(gateway.gateway.records.observers)
            await gateway.stop()
            assert len(gateway.gateway.records.observers) == observers - 1

    run(work())


def test_an_error_has_its_type() -> None:
    async def work() -> None:
        seen = Seen()
        async with upstream_server(lambda _: UpstreamResponse(503)) as up, serving(config(up), seen.telemetry) as gateway:
            assert (await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", "gemini/m")))[0] == 503
            (span,) = seen.spans()
            assert span.name == "generate_content m"
            assert span.status.status_code is StatusCode.ERROR
            assert attributes(span)["error.type"] == "503"
            assert attributes(span)["gen_ai.provider.name"] == "gcp.gemini"
            assert "gen_ai.usage.input_tokens" not in attributes(span)
            assert seen.metrics()["gen_ai.client.operation.duration"][0][0]["error.type"] == "503"

    run(work())


def test_rejections_and_retries_are_counted() -> None:
    async def work() -> None:
        seen = Seen()
        play = in_turn(calls(weather({}, name="launch")), calls(weather({"city": SECRET})))
        async with upstream_server(play) as up, serving(config(up), seen.telemetry) as gateway:
            await gateway.reply("openai-chat", question("openai-chat", "ollama/m"), stream=False)
            assert seen.metrics()["toolglot.retried"] == [({"gen_ai.request.model": "m"}, 1)]
            (span,) = seen.spans()
            assert attributes(span)["toolglot.retried"] == 1
            assert "gen_ai.response.time_to_first_chunk" not in attributes(span)

    run(work())


def test_label_values_are_limited() -> None:
    seen = Seen()
    for number in range(300):
        record = Record(f"r{number}", "ollama", 1.0, target=f"m{number}", code=f"e{number}", status=500)
        record.calls = [RecordedCall("native", "passed")]
        seen.telemetry.observe(record, Destination())
    metrics = seen.metrics()
    assert len(metrics["toolglot.calls"]) == 201
    assert len({point[0]["error.type"] for point in metrics["gen_ai.client.operation.duration"]}) == 51


def test_an_invalid_traceparent_starts_a_new_trace() -> None:
    seen = Seen()
    seen.telemetry.observe(Record("r", "ollama", 1.0, target="m", traceparent="garbage", status=499), Destination())
    (span,) = seen.spans()
    assert span.parent is None
    assert attributes(span)["error.type"] == "client_left"


@pytest.mark.parametrize(
    ("otel", "environ", "on"),
    [
        (None, {}, False),
        (True, {}, True),
        (False, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "console"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, False),
        (None, {"OTEL_SERVICE_NAME": "x"}, False),
        (True, {"OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_off_by_default(otel: bool | None, environ: dict[str, str], on: bool) -> None:
    assert is_enabled(otel, environ) is on


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_METRICS_EXPORTER", "x"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
)
def test_unsupported_exporters_are_errors(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv(name, value)
    with pytest.raises(CallerError, match=name):
        telemetry(True)


def test_opentelemetry_is_not_imported_while_off() -> None:
    code = "import sys, toolglot.gateway.server; sys.exit('opentelemetry' in ' '.join(sys.modules))"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    assert subprocess.run([sys.executable, "-c", code], env=environ, check=False).returncode == 0


class _Collector(BaseHTTPRequestHandler):
    got: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.got.append(self.path)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_spans_and_metrics_are_flushed_at_shutdown(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), _Collector) as collector:
        threading.Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("NO_PROXY", "*")
        exporter = telemetry(None)
        assert exporter is not None

        async def work() -> None:
            async with upstream_server(in_turn(text("hi"))) as up, serving(config(up), exporter) as gateway:
                await gateway.reply("ollama", question("ollama", "openai-chat/m"), stream=False)

        run(work())
        collector.shutdown()
    assert {"/v1/traces", "/v1/metrics"} <= set(_Collector.got)
