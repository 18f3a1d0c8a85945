import type { KubeObject } from "@setpoint/apimachinery";
import { describe, expect, test } from "vitest";
import { commandFor } from "./engine-run.ts";
import { parseManifests } from "./parse-manifests.ts";

const site = {
  apiVersion: "example.com/v1",
  kind: "Site",
  metadata: { name: "home", namespace: "web" },
  spec: { version: "--post-renderer=/bin/sh", size: 3, nested: { on: true } },
} as KubeObject;

describe("a command", () => {
  test("is filled with fields of the object", () => {
    expect(commandFor(["helm", "{{metadata.name}}-{{ spec.size }}", "{{spec.nested.on}}", "-f", "-"], site)).toEqual([
      "helm",
      "home-3",
      "true",
      "-f",
      "-",
    ]);
  });

  test.each([
    ["{{spec.version}}", '"--post-renderer=/bin/sh" would be an option, because it begins with "-"'],
    ["{{spec.nested}}", "the field is no single value"],
    ["{{spec.other.name}}", "the object has no such field"],
    ["{{status.phase}}", "only metadata and spec have fields for it"],
  ])("with %s is refused", (argument, problem) => {
    expect(() => commandFor(["helm", argument], site)).toThrow(
      `Cannot fill the argument "${argument}" of the command: ${problem}`,
    );
  });

  test("may hold a user's text behind an option's own name", () => {
    expect(commandFor(["--set=v={{spec.version}}"], site)).toEqual(["--set=v=--post-renderer=/bin/sh"]);
  });
});

describe("manifests", () => {
  test("are documents, lists, JSON, and empty documents between them", () => {
    const a = { kind: "ConfigMap", metadata: { name: "a" } };
    expect(parseManifests("---\n# nothing\n---\nkind: ConfigMap\nmetadata: {name: a}\n---\n")).toEqual([a]);
    expect(parseManifests(JSON.stringify({ kind: "ConfigMapList", items: [a, a] }))).toEqual([a, a]);
    expect(parseManifests(JSON.stringify([a]))).toEqual([a]);
    expect(parseManifests("")).toEqual([]);
  });

  test("are read as Kubernetes reads YAML", () => {
    const text = "mode: 0644\non: yes\nat: 12:30:45\nday: 2001-01-01\nbase: &b {x: 1}\nmerged: {<<: *b}";
    expect(parseManifests(text)).toEqual([
      { mode: 420, true: true, at: "12:30:45", day: "2001-01-01", base: { x: 1 }, merged: { x: 1 } },
    ]);
  });

  test("that are none say where", () => {
    expect(() => parseManifests("a: [1")).toThrow(/line 1, column \d/);
    const bomb = `a: &a [x]\n${"bcdefgh".replace(
      /./g,
      (k, i: number) =>
        `${k}: &${k} [${Array(9)
          .fill(`*${"abcdefg"[i] ?? ""}`)
          .join()}]\n`,
    )}`;
    expect(() => parseManifests(bomb)).toThrow(/alias/);
  });
});
