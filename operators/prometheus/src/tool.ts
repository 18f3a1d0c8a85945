/** The command `setpoint prometheus`: what the operator would do with objects of files. */
import { parseArgs } from "node:util";
import { readObjects } from "./render/objects-in-files.ts";
import { renderAll } from "./render/render.ts";

/** Where a command writes to. */
export interface ToolOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Resolves to the exit code: 1 when a workload has no configuration. */
export default async function tool(args: readonly string[], output: ToolOutput): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      version: { type: "string" },
      "alertmanager-version": { type: "string" },
      namespace: { type: "string", default: "default" },
      "no-endpoint-slices": { type: "boolean", default: false },
      "topology-sharding": { type: "boolean", default: false },
      "retain-shards": { type: "boolean", default: false },
      "pod-topology-labels": { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const [verb, path] = positionals;
  if (verb !== "render" || path === undefined || positionals.length > 2)
    throw new Error("Cannot run the command: expected render DIR");
  const rendered = renderAll(readObjects(path, values.namespace), {
    ...(values.version === undefined ? {} : { defaultVersion: values.version }),
    ...(values["alertmanager-version"] === undefined
      ? {}
      : { defaultAlertmanagerVersion: values["alertmanager-version"] }),
    options: {
      endpointSlices: !values["no-endpoint-slices"],
      topologySharding: values["topology-sharding"],
      retainShards: values["retain-shards"],
      podTopologyLabels: values["pod-topology-labels"],
    },
  });
  for (const { name, configuration, problems } of rendered) {
    for (const problem of problems) output.err(`${name}: ${problem}\n`);
    if (configuration !== undefined) output.out(`---\n# ${name}\n${configuration}`);
  }
  if (rendered.length === 0) output.err(`There is no Prometheus and no Alertmanager in "${path}"\n`);
  return rendered.length > 0 && rendered.every(({ configuration }) => configuration !== undefined) ? 0 : 1;
}
