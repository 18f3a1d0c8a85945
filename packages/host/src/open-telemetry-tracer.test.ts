import * as otel from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { openTelemetryTracer } from "@setpoint/host";
import { expect, test } from "vitest";

test("spans reach OpenTelemetry with parent, attributes, events, error and a traceparent for requests", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  otel.trace.setGlobalTracerProvider(provider);
  const tracer = openTelemetryTracer(otel, "candy-operator");

  const run = tracer.startSpan("reconcile candy", { attributes: { controller: "candy" } });
  const write = tracer.startSpan("PATCH configmaps", { parent: run, kind: "client" });
  const { traceparent } = write;
  write.set({ status: 409 });
  write.end(new Error("conflict"));
  run.event("woken");
  run.end();
  await provider.forceFlush();

  const [inner, outer] = exporter.getFinishedSpans();
  expect(outer).toMatchObject({ name: "reconcile candy", attributes: { controller: "candy" } });
  expect(outer?.events.map((each) => each.name)).toEqual(["woken"]);
  expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  expect(inner).toMatchObject({ kind: otel.SpanKind.CLIENT, attributes: { status: 409 } });
  expect(inner?.status).toMatchObject({ code: otel.SpanStatusCode.ERROR, message: "conflict" });
  const { traceId, spanId } = inner?.spanContext() ?? {};
  expect(traceparent).toBe(`00-${traceId}-${spanId}-01`);
  otel.trace.disable();
});

test("without a provider the tracer does nothing and gives no traceparent", () => {
  const span = openTelemetryTracer(otel, "candy-operator").startSpan("reconcile candy");
  expect(span.traceparent).toBeUndefined();
  span.end();
});
