/** Services, of the additional Services of a Cluster: their selectors become ours. */
import { labels } from "../kind/labels.ts";
import { postgresPort } from "../kind/names.ts";
import type { Report } from "./difference.ts";
import type { Fields } from "./fields.ts";
import type { InputObject } from "./input-object.ts";
import { besideOf, type OutputObject, unlessEmpty, withoutUndefined } from "./output-object.ts";

const roleOf: Readonly<Record<string, string | undefined>> = { rw: "primary", ro: "replica", r: undefined };
const port = { name: "postgres", port: postgresPort, protocol: "TCP", targetPort: postgresPort };

export function adoptServices(input: InputObject, report: Report): readonly OutputObject[] {
  return input.spec
    .fields("managed")
    .fields("services")
    .list("additional")
    .map((service) => adoptService(input, service, report));
}

function adoptService(input: InputObject, service: Fields, report: Report): OutputObject {
  const { metadata, spec } = partsOf(service);
  const role = roleOf[service.text("selectorType") ?? "rw"];
  const { selector, ports = [port], ...rest } = spec.value;
  if (selector !== undefined) report.add(spec.at("selector"), "unneeded", "the selector is that of the instances");
  report.add(
    metadata.at("name"),
    "changed",
    "the Service is a manifest of yours, which nobody removes with the cluster",
    "let clients that check names use one of the Services of the operator",
  );
  const written = besideOf(
    input,
    { apiVersion: "v1", kind: "Service", name: metadata.requiredText("name") },
    {
      ...rest,
      ports,
      selector: { [labels.cluster]: input.name, ...(role === undefined ? {} : { [labels.role]: role }) },
    },
  );
  const marks = { labels: unlessEmpty(metadata.map("labels")), annotations: unlessEmpty(metadata.map("annotations")) };
  return { ...written, metadata: { ...written.metadata, ...withoutUndefined(marks) } };
}

function partsOf(service: Fields): { readonly metadata: Fields; readonly spec: Fields } {
  const template = service.fields("serviceTemplate");
  return { metadata: template.fields("metadata"), spec: template.fields("spec") };
}
