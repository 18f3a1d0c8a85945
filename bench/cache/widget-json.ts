/** Objects like those of the comparison of frameworks: 2 KB of JSON and the managed fields of two writers. */

const itemCount = 24;

function widget(i: number): Record<string, unknown> {
  const number = String(i).padStart(6, "0");
  const items = Array.from({ length: itemCount }, (_, k) => ({
    enabled: k % 2 === 0,
    id: k,
    key: `k${String(k).padStart(2, "0")}`,
    text: `t-${number}-${String(k).padStart(2, "0")}`,
  }));
  return {
    apiVersion: "bench.example.com/v1",
    kind: "Widget",
    metadata: {
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 1,
      managedFields: managedFields(),
      name: `w-${number}`,
      namespace: `bench-${i % 10}`,
      resourceVersion: String(i + 1),
      uid: `${number}00-0000-4000-8000-${number}000000`,
    },
    spec: {
      items,
      labels: { env: "prod", team: `team-${i % 5}`, tier: "backend" },
      name: `widget ${number}`,
      value: i,
    },
    status: { observed: i, ready: true },
  };
}

function managedFields(): readonly object[] {
  const entry = { apiVersion: "bench.example.com/v1", fieldsType: "FieldsV1", manager: "bench", operation: "Update" };
  const spec = { "f:spec": { ".": {}, "f:items": {}, "f:labels": { ".": {}, "f:env": {} }, "f:value": {} } };
  const status = { "f:status": { ".": {}, "f:observed": {}, "f:ready": {} } };
  const time = "2026-01-01T00:00:00Z";
  return [
    { ...entry, fieldsV1: spec, time },
    { ...entry, fieldsV1: status, subresource: "status", time },
  ];
}

/** As the server sends it. */
export function widgetJson(i: number): string {
  return JSON.stringify(widget(i));
}

/** Its bytes without managed fields. */
export function bytesKept(i: number): number {
  const { metadata, ...rest } = widget(i);
  return JSON.stringify({ ...rest, metadata: { ...(metadata as object), managedFields: undefined } }).length;
}
