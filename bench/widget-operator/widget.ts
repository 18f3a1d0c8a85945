/** The kind and its controller: one ConfigMap a Widget, and a status that says so. */
import { ConfigMap } from "@setpoint/api";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { z } from "zod";

const Item = z.object({ id: z.int(), key: z.string(), text: z.string(), enabled: z.boolean() });

export const Widget = defineKind({
  group: "bench.example.com",
  version: "v1",
  kind: "Widget",
  spec: z.object({
    value: z.int(),
    name: z.string(),
    labels: z.record(z.string(), z.string()),
    items: z.array(Item),
  }),
  status: z.object({ observed: z.int(), ready: z.boolean() }),
});

const concurrency = 16;

const widgets = controller(Widget, {
  owns: [ConfigMap],
  concurrency,
  async reconcile({ metadata, spec }, { children, apply, status }) {
    const name = `${metadata.name}-cm`;
    const value = String(spec.value);
    // A child that matches needs no write, not even when another client created it.
    const isRight = children.list(ConfigMap).some((map) => map.metadata.name === name && map.data?.["value"] === value);
    if (!isRight) await apply(ConfigMap({ name, labels: { app: "widget" }, data: { value } }));
    await status({ observed: spec.value, ready: true });
  },
});

/** Holds all Widgets and does nothing with them: what a cache costs alone. */
const watcher = controller(Widget, { concurrency, reconcile: async () => {} });

/** `full`: the whole operator; `watch`: its cache of Widgets alone. */
export function widgetOperator(mode: "full" | "watch"): Operator {
  return defineOperator({ name: "widget", controllers: [mode === "watch" ? watcher : widgets] });
}
