/** The operator of engine.yaml in the simulated world, where helm is a function. */
import { readFileSync } from "node:fs";
import { patch, reconcilerLaws, remove, story } from "setpoint/testing";
import { createKind, type KubeObject, type Operator } from "setpoint";
import { readOperator, type Programs } from "setpoint/hook";
import { test } from "vitest";
import { parseAllDocuments } from "yaml";

interface Site extends KubeObject {
  readonly spec: { readonly title: string; readonly replicas: number };
}
const group = "examples.setpoint.dev";
const Site = createKind<Site>({ group, version: "v1", kind: "Site", plural: "sites", namespaced: true });

const helm: Programs = {
  run: async ({ command, input }) => {
    const [, , name = ""] = command;
    const { title, replicas } = JSON.parse(input) as Site["spec"];
    const page = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${name}-page` }, data: { title } };
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "busybox:1" }] } };
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: { replicas, selector: { matchLabels: labels }, template },
    };
    return { code: 0, stdout: JSON.stringify(replicas > 0 ? [page, deployment] : [page]), stderr: "" };
  },
  fingerprint: async () => "",
};

function operator(): Operator {
  const text = readFileSync(new URL("engine.yaml", import.meta.url), "utf8");
  const documents = [...parseAllDocuments(text)].map((each) => each.toJS() as unknown);
  const connect = (url: string): never => {
    throw new Error(`no hook is expected: ${url}`);
  };
  return readOperator(documents, { programs: helm, connect });
}

const home = Site({ name: "home", spec: { title: "Hello", replicas: 1 } });

test("an operator without code keeps the laws of reconcilers", async () => {
  await reconcilerLaws(() => ({ operators: [operator()] }), {
    seed: 1,
    seconds: Number(process.env["LAW_SECONDS"] ?? 8),
    worlds: [
      story("loses a child", home, patch(Site, "home", { spec: { title: "Moin", replicas: 0 } })),
      story("is deleted", home, remove(Site, "home")),
    ],
  });
});
