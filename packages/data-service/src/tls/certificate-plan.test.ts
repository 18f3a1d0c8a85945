import { seededRandom } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { type CertificateIssuer, splitBundle } from "./certificate-issuer.ts";
import { certificateTimes, dueCertificates, type WantedCertificates } from "./certificate-plan.ts";
import {
  afterStep,
  bundleIds,
  bundleOf,
  type CertificateState,
  type LeafState,
  seenCertificates,
} from "./certificate-state.ts";
import { simulatedIssuer } from "./simulated-issuer.ts";
import { x509Issuer } from "./x509-issuer.ts";

const day = 86_400_000;
const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const times = certificateTimes;
const leaves = ["server", "client"].map((role) => ({ role, commonName: role, hosts: [`${role}.orders.svc`] }));
const wanted: WantedCertificates = { leaves, times, rotation: "" };

/** A server: it reads its certificate again for each connection, and its bundle when it starts. */
interface Server {
  readonly name: string;
  bundle: string;
  trusts: readonly string[];
}

/** Secrets over time, and readers that see them up to `overlapMs` late. */
class Instance {
  nowMs = start;
  state: CertificateState = { leaves: new Map() };
  servers: Server[] = [];
  steps = new Map<string, number>();
  readonly issuer: CertificateIssuer;
  readonly random: ReturnType<typeof seededRandom>;
  readonly #history: { readonly atMs: number; readonly state: CertificateState }[] = [];

  constructor(seed: number, issuer: CertificateIssuer) {
    this.random = seededRandom(seed);
    this.issuer = issuer;
  }

  due(rotation = "") {
    const seen = seenCertificates(this.state, this.issuer);
    const standby = seen.authority?.standby?.id ?? "";
    const holders = this.servers.map(({ name, trusts }) => ({ name, trustsStandby: trusts.includes(standby) }));
    return dueCertificates({ ...seen, holders }, { ...wanted, rotation }, this.nowMs);
  }

  /** One step, or the way to the next moment. */
  proceed(rotation = ""): void {
    const { step, atMs } = this.due(rotation);
    if (step === undefined) {
      this.nowMs = Math.min(atMs, this.nowMs + this.random.int(3 * day));
      return;
    }
    const clock = { now: () => this.nowMs };
    this.state = afterStep(
      this.state,
      step,
      { ...wanted, rotation },
      { clock, random: this.random, issuer: this.issuer },
    );
    this.steps.set(step.kind, (this.steps.get(step.kind) ?? 0) + 1);
    this.#history.push({ atMs: this.nowMs, state: this.state });
    this.nowMs += this.random.int(times.overlapMs / 2);
  }

  settle(rotation = ""): void {
    while (this.due(rotation).step !== undefined) this.proceed(rotation);
  }

  /** What a reader sees now of a Secret. */
  view(role: string): LeafState {
    const seenMs = this.nowMs - this.random.int(times.overlapMs);
    const state = this.#history.findLast(({ atMs, state }) => atMs <= seenMs && state.leaves.has(role))?.state;
    const leaf = (state ?? this.#history[0]?.state ?? this.state).leaves.get(role) ?? this.state.leaves.get(role);
    if (leaf === undefined) throw new Error(`there is no ${role} yet`);
    return leaf;
  }

  /** A new process reads the Secret that its pod was made with. */
  restart(name: string): void {
    const bundle = this.state.leaves.get("server")?.bundle ?? "";
    const server = { name, bundle, trusts: bundleIds(bundle, this.issuer) };
    this.servers = [...this.servers.filter((each) => each.name !== name), server];
  }

  accepts(bundle: string, { pair: { certificate } }: LeafState, atMs: number): boolean {
    const isValid = (each: string): boolean => {
      const { notBeforeMs, notAfterMs } = this.issuer.describe(each);
      return notBeforeMs <= atMs && atMs <= notAfterMs;
    };
    const authority = splitBundle(bundle).find((each) => this.issuer.isIssuedBy(certificate, each));
    return authority !== undefined && isValid(authority) && isValid(certificate);
  }

  /** Both sides of every connection, each with a clock that is up to an hour wrong. */
  expectAllConnect(skewMs: number): void {
    for (const server of this.servers) {
      const skewed = this.nowMs + Math.round((this.random.next() * 2 - 1) * skewMs);
      if (!this.accepts(server.bundle, this.view("client"), skewed)) throw new Error(`${server.name} refuses clients`);
      if (!this.accepts(this.view("client").bundle, this.view("server"), skewed))
        throw new Error(`clients refuse ${server.name}`);
    }
  }
}

function started(seed: number, issuer: CertificateIssuer = simulatedIssuer): Instance {
  const instance = new Instance(seed, issuer);
  instance.settle();
  for (const name of ["a", "b", "c"]) instance.restart(name);
  instance.nowMs += times.overlapMs;
  return instance;
}

/** Years of an instance whose servers are restarted now and then. */
function live(instance: Instance, years: number, skewMs: number): void {
  const endMs = instance.nowMs + years * 365 * day;
  const restartsMs = new Map(instance.servers.map(({ name }) => [name, instance.nowMs]));
  while (instance.nowMs < endMs) {
    instance.proceed();
    for (const [name, lastMs] of restartsMs) {
      if (instance.nowMs - lastMs < 30 * day + instance.random.int(100 * day)) continue;
      instance.restart(name);
      restartsMs.set(name, instance.nowMs);
    }
    instance.expectAllConnect(skewMs);
  }
}

test("over years, with readers that are late and clocks that are wrong, no side ever refuses the other", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const instance = started(seed);
    live(instance, 4, 0);
    expect(instance.steps.get("rotateAuthority")).toBeGreaterThan(4);
    expect(instance.steps.get("dropPrevious")).toBeGreaterThan(4);
  }
});

test("the same with real certificates", { timeout: 60_000 }, () => {
  const instance = started(7, x509Issuer);
  live(instance, 2, hour);
  expect(instance.steps.get("rotateAuthority")).toBeGreaterThanOrEqual(2);
});

test("a certificate is renewed when two thirds of its life are over", () => {
  const instance = started(1);
  const { step, atMs } = instance.due();
  expect(step).toBeUndefined();
  expect(Math.abs(atMs - start - 60 * day)).toBeLessThan(hour);
  instance.nowMs = atMs;
  expect(instance.due().step).toMatchObject({ kind: "issue" });
});

test("the standby authority is trusted from the first moment, so that a rotation can begin at once", () => {
  const instance = started(1);
  const before = instance.state.authority;
  expect(instance.due("now").step).toEqual({ kind: "rotateAuthority" });
  instance.settle("now");
  expect(instance.state.authority?.current).toBe(before?.standby);
  expect(instance.state.authority?.previous).toBe(before?.current.certificate);
  instance.expectAllConnect(0);
  expect(instance.due("now")).toMatchObject({ why: expect.stringContaining("previous authority is dropped") });
  instance.nowMs = instance.due("now").atMs;
  expect(instance.due("now").step).toEqual({ kind: "dropPrevious" });
});

test("an authority that a running server does not trust does not sign, and the reason names the server", () => {
  const instance = started(1);
  instance.settle("first");
  instance.nowMs += times.overlapMs;
  instance.settle("first");
  instance.nowMs += 2 * times.overlapMs;
  instance.restart("a");
  expect(instance.due("second")).toMatchObject({
    blocked:
      "the next authority cannot sign yet: b, c have to be restarted, because they started before it was trusted",
    blockedBy: ["b", "c"],
  });
  expect(instance.due("second").step).toBeUndefined();
  instance.restart("b");
  instance.restart("c");
  expect(instance.due("second").step).toEqual({ kind: "rotateAuthority" });
});

test("another host gets a certificate for it, and a deleted Secret comes back", () => {
  const instance = started(1);
  const seen = { ...seenCertificates(instance.state, simulatedIssuer), holders: [] };
  const more = leaves.map((leaf) => ({ ...leaf, hosts: [...leaf.hosts, "127.0.0.1"] }));
  expect(dueCertificates(seen, { ...wanted, leaves: more }, instance.nowMs).why).toBe(
    "the server certificate is not for 127.0.0.1",
  );
  const without = { ...seen, leaves: seen.leaves.filter(({ role }) => role !== "client") };
  expect(dueCertificates(without, wanted, instance.nowMs).step).toEqual({ kind: "issue", role: "client" });
});

test("an authority that a user gave signs, and is never replaced", () => {
  const ports = { clock: { now: () => start }, random: seededRandom(3), issuer: simulatedIssuer };
  const current = simulatedIssuer.createAuthority({ commonName: "theirs", lifetimeMs: 365 * day }, ports);
  let state: CertificateState = {
    authority: { current, currentSinceMs: start, rotation: "" },
    leaves: new Map(),
  };
  for (const role of ["server", "client"]) state = afterStep(state, { kind: "issue", role }, wanted, ports);
  expect(state.leaves.get("server")?.bundle).toBe(current.certificate);
  const due = dueCertificates(
    { ...seenCertificates(state, simulatedIssuer), holders: [] },
    { ...wanted, rotation: "please" },
    start,
  );
  expect(due.step).toBeUndefined();
});

test("what the plan sees contains no key", () => {
  const { state } = started(1);
  expect(
    bundleOf(state.authority ?? { current: { certificate: "", key: "" }, currentSinceMs: 0, rotation: "" }),
  ).not.toContain("KEY");
  expect(JSON.stringify(seenCertificates(state, simulatedIssuer))).not.toContain("key of");
});
