import { Deployment, Pod } from "setpoint/kinds";
import { operatorGuidelines, patch, type Setting, story, type World } from "setpoint/testing";
import { test } from "vitest";
import { WebApp, webAppOperator } from "./web-app.ts";

const app = WebApp({ name: "shop", spec: { image: "shop:1", host: "shop.example.com" } });

function subject(): Setting {
  const known = new Set<string>();
  const note = async (key: string): Promise<string> => {
    known.add(key);
    return "203.0.113.7";
  };
  const find = async (key: string): Promise<string | undefined> => (known.has(key) ? "203.0.113.7" : undefined);
  return { operators: [webAppOperator({ find, register: note, remove: note })] };
}

async function images(world: World): Promise<readonly string[]> {
  const live = (await world.list(Pod)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return live.map(({ spec }) => spec?.containers[0]?.image ?? "");
}

operatorGuidelines(test, "web-app", subject, {
  instance: app,
  primitives: {},
  older: { notApplicable: "it has one version, and no earlier release of it has stored objects" },
  away: { isServing: async (world) => (await world.get(Deployment, "shop")).status?.readyReplicas === 2 },
  version: { field: "spec.image", next: "shop:2", running: images },
  chaos: {
    worlds: [story("is scaled", app, patch(WebApp, "shop", { spec: { replicas: 3 } }))],
    mayDiffer: ["WebApp.metadata.annotations.ledger.setpoint.dev/webapp"],
  },
});
