import { patch, reconcilerLaws, remove, story } from "setpoint/testing";
import { test } from "vitest";
import { WebApp, webAppOperator } from "./web-app.ts";

const app = WebApp({ name: "shop", spec: { image: "shop:1", host: "shop.example.com" } });

test("a web app keeps the laws of reconcilers", async () => {
  const setting = (): { readonly operators: [ReturnType<typeof webAppOperator>] } => {
    const known = new Set<string>();
    const note = async (key: string): Promise<string> => {
      known.add(key);
      return "203.0.113.7";
    };
    const find = async (key: string): Promise<string | undefined> => (known.has(key) ? "203.0.113.7" : undefined);
    return { operators: [webAppOperator({ find, register: note, remove: note })] };
  };
  await reconcilerLaws(setting, {
    seed: 1,
    seconds: Number(process.env["LAW_SECONDS"] ?? 8),
    worlds: [
      story("is scaled", app, patch(WebApp, "shop", { spec: { replicas: 3 } })),
      story("is deleted", app, remove(WebApp, "shop")),
    ],
    // What was done for an object is its history: one whose first wish nobody saw has another.
    mayDiffer: ["WebApp.metadata.annotations.ledger.setpoint.dev/webapp"],
  });
});
