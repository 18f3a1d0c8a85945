/** The text format of Prometheus; pure. */
import { type InstanceMetric, instanceMetrics } from "../../instance/instance-metrics.ts";

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Rows of a name, labels as JSON and a value, with tabs between. */
export function parseSamples(rows: string): readonly Sample[] {
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [name = "", labels = "{}", value = ""] = row.split("\t");
      return { name, labels: JSON.parse(labels) as Readonly<Record<string, string>>, value };
    });
}

/** All samples of a metric stand together, below its help and type. */
export function expositionText(samples: readonly Sample[]): string {
  const names = Object.keys(instanceMetrics) as InstanceMetric[];
  return names
    .map((name) => ({ name, found: samples.filter((sample) => sample.name === name) }))
    .filter(({ found }) => found.length > 0)
    .map(({ name, found }) => {
      const { help, type } = instanceMetrics[name];
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...found.map(line), ""].join("\n");
    })
    .join("");
}

function line({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
