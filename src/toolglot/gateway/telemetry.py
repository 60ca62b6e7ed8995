"""Sets up OpenTelemetry if `[server] otel = true` or OTEL_* names an exporter or its address.

Needs `toolglot[otel]`. Nothing of it is imported while it is off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolglot.errors import CallerError
from toolglot.gateway.state import log

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

    from toolglot.gateway.otel_genai import Telemetry

_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
)


def is_enabled(otel: bool | None, environ: Mapping[str, str] | None = None) -> bool:
    """`otel` is the value in the configuration; None: the environment decides."""
    environ = os.environ if environ is None else environ
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return any(environ.get(name, "none") != "none" for name in _ENDPOINTS) if otel is None else otel


def telemetry(otel: bool | None) -> Telemetry | None:
    """None if it is off."""
    if not is_enabled(otel):
        return None
    try:
        from toolglot.gateway.otel_genai import Telemetry  # noqa: PLC0415

        return Telemetry(_tracers(), _meters())
    except ImportError as error:
        problem = f"OpenTelemetry needs {error.name}: pip install 'toolglot[otel]'"
        if otel:
            raise CallerError(problem, "[server] otel") from None
        log.warning("%s", problem)
        return None


def _exporter(name: str) -> str:
    exporter = os.environ.get(name, "otlp").strip() or "otlp"
    if exporter not in ("otlp", "console", "none"):
        raise CallerError(f"must be otlp, console or none; got {exporter!r}", name)
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    if exporter == "otlp" and protocol != "http/protobuf":
        raise CallerError(f"only http/protobuf is supported; got {protocol!r}", "OTEL_EXPORTER_OTLP_PROTOCOL")
    return exporter


def _resource() -> Any:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({} if named else {"service.name": "toolglot"})


def _tracers() -> TracerProvider:
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter  # noqa: PLC0415

    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
    exporter = _exporter("OTEL_TRACES_EXPORTER")
    if exporter == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    elif exporter == "console":
        provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter()))
    return provider


def _meters() -> MeterProvider:
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader  # noqa: PLC0415

    exporter = _exporter("OTEL_METRICS_EXPORTER")
    readers = []
    if exporter == "otlp":
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415

        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter()))
    elif exporter == "console":
        readers.append(PeriodicExportingMetricReader(ConsoleMetricExporter()))
    return MeterProvider(metric_readers=readers, resource=_resource(), shutdown_on_exit=False)
