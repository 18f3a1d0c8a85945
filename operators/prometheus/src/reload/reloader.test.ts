import { describe, expect, test } from "vitest";
import { configurationHash } from "./configuration-hash.ts";
import { Reloader } from "./reloader.ts";
import { withVariables } from "./variables.ts";

/** A pod with a Prometheus that refuses every configuration with the word "bad". */
class Pod {
  configuration: string | undefined = "good: $(POD_NAME)";
  rules = new Map<string, string>();
  watched = "";
  written: string[] = [];
  reloads = 0;
  isUp = true;
  time = 0;

  readonly reloader = new Reloader({
    read: () =>
      Promise.resolve({ configuration: this.configuration, rules: new Map(this.rules), watched: this.watched }),
    write: (text) => Promise.resolve(void this.written.push(text)),
    reload: () => {
      this.reloads++;
      if (!this.isUp) return Promise.reject(new Error("Prometheus does not answer: refused"));
      return [this.written.at(-1), ...this.rules.values()].some((text) => text?.includes("bad") === true)
        ? Promise.reject(new Error("Prometheus answered 500: bad"))
        : Promise.resolve();
    },
    variables: { POD_NAME: "prometheus-main-0" },
    now: () => `time ${++this.time}`,
  });

  get hash(): string {
    return configurationHash(this.configuration ?? "", this.rules);
  }

  step(): Promise<void> {
    return this.reloader.step(new AbortController().signal);
  }
}

describe("Reloader", () => {
  test("loads what is mounted once, with the variables of the pod", async () => {
    const pod = new Pod();
    await pod.step();
    await pod.step();
    expect(pod.written).toEqual(["good: prometheus-main-0"]);
    expect(pod.reloads).toBe(1);
    expect(pod.reloader.report).toEqual({ hash: pod.hash, loadedAt: "time 1" });
  });

  test("loads changed rules without writing the same configuration again", async () => {
    const pod = new Pod();
    await pod.step();
    pod.rules.set("rules/a.yaml", "groups: []");
    await pod.step();
    expect(pod.written).toHaveLength(1);
    expect(pod.reloads).toBe(2);
    expect(pod.reloader.report.hash).toBe(pod.hash);
  });

  test("reports why Prometheus refuses, asks again, and takes the next configuration", async () => {
    const pod = new Pod();
    await pod.step();
    const good = pod.hash;
    pod.configuration = "bad";
    await pod.step();
    await pod.step();
    expect(pod.reloads).toBe(3);
    expect(pod.reloader.isSettled).toBe(false);
    expect(pod.reloader.report).toEqual({
      hash: good,
      loadedAt: "time 1",
      failing: { hash: pod.hash, message: "Prometheus answered 500: bad", since: "time 2" },
    });
    pod.configuration = "good: $(POD_NAME)";
    await pod.step();
    expect(pod.reloader.report).toEqual({ hash: good, loadedAt: "time 3" });
    expect(pod.written.at(-1)).toBe("good: prometheus-main-0");
  });

  test("loads a changed template, of which the operator knows nothing", async () => {
    const pod = new Pod();
    await pod.step();
    pod.watched = "changed";
    await pod.step();
    await pod.step();
    expect(pod.reloads).toBe(2);
    expect(pod.reloader.report.hash).toBe(pod.hash);
  });

  test("waits for a Prometheus that has not started", async () => {
    const pod = new Pod();
    pod.isUp = false;
    await pod.step();
    expect(pod.reloader.report.failing?.message).toBe("Prometheus does not answer: refused");
    pod.isUp = true;
    await pod.step();
    expect(pod.reloader.report.hash).toBe(pod.hash);
  });

  test("waits for a Secret that has no configuration", async () => {
    const pod = new Pod();
    pod.configuration = undefined;
    expect(await pod.reloader.writeOnce()).toBe(false);
    await pod.step();
    expect(pod.reloads).toBe(0);
  });
});

test("variables that the pod lacks stay", () => {
  expect(withVariables("a: $(SHARD) $(OTHER) $SHARD ${1}", { SHARD: "2" })).toBe("a: 2 $(OTHER) $SHARD ${1}");
});

test("the hash depends on names and texts, and not on their order", () => {
  const a = new Map([
    ["m/a", "1"],
    ["m/b", "2"],
  ]);
  const b = new Map([
    ["m/b", "2"],
    ["m/a", "1"],
  ]);
  expect(configurationHash("c", a)).toBe(configurationHash("c", b));
  expect(configurationHash("c", a)).not.toBe(configurationHash("d", a));
  expect(configurationHash("c", new Map())).not.toBe(configurationHash("c", a));
});
