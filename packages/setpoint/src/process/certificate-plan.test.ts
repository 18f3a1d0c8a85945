import { X509Certificate } from "node:crypto";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import {
  type CertificateState,
  nextLookAtMs,
  planCertificates,
  planRotation,
  trustBundle,
} from "./certificate-plan.ts";

const hosts = ["podsets-operator.ops.svc"];
const day = 86_400_000;
const times = { authorityDays: 365, servingDays: 90, overlapMs: 600_000 };

function world() {
  const clock = new VirtualClock(seededRandom(1), Date.UTC(2026, 0, 1));
  const ports = { clock, random: seededRandom(2) };
  const plan = (state: CertificateState | undefined, names = hosts): CertificateState =>
    planCertificates(state, names, ports, times);
  const published = (state: CertificateState): CertificateState => ({ ...state, publishedAtMs: clock.now() });
  return { clock, ports, plan, published };
}

/** Whether a client that trusts `bundle` accepts what `state` serves. */
function accepts(bundle: string, { serving }: CertificateState): boolean {
  const leaf = new X509Certificate(serving.certificate);
  const authorities = bundle.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? [];
  return authorities.some((pem) => leaf.verify(new X509Certificate(pem).publicKey));
}

test("the first certificate is for the operator's names, and nothing is done as long as it is good", async () => {
  const { clock, plan, published } = world();
  const state = published(plan(undefined));
  expect(new X509Certificate(state.serving.certificate).subjectAltName).toBe("DNS:podsets-operator.ops.svc");
  await clock.run(59 * day);
  expect(plan(state)).toBe(state);
});

test("a serving certificate is replaced when a third of its life is left, by the same authority", async () => {
  const { clock, plan, published } = world();
  const state = published(plan(undefined));
  expect(nextLookAtMs(state, times)).toBe(clock.now() + 60 * day);
  await clock.run(60 * day);
  const next = plan(state);
  expect(next.serving).not.toEqual(state.serving);
  expect(trustBundle(next)).toBe(trustBundle(state));
});

test("at every moment of a rotation both sides trust what the other one may still have", async () => {
  const { clock, ports, plan, published } = world();
  const before = published(plan(undefined));
  const introduced = planRotation(before, ports, times);
  expect(introduced.serving).toBe(before.serving);
  expect(plan(introduced)).toBe(introduced);
  const told = published(introduced);
  await clock.run(times.overlapMs - 1);
  expect(plan(told)).toBe(told);
  await clock.run(1);
  const switched = plan(told);
  expect(switched.serving).not.toEqual(before.serving);
  // A client with the old bundle accepts the new certificate, and one with the new bundle accepts the old
  // certificate.
  expect(accepts(trustBundle(told), switched)).toBe(true);
  expect(accepts(trustBundle(switched), before)).toBe(true);
  expect(accepts(trustBundle(before), switched)).toBe(false);
  const toldAgain = published(switched);
  await clock.run(times.overlapMs - 1);
  expect(plan(toldAgain)).toBe(toldAgain);
  await clock.run(1);
  const done = plan(toldAgain);
  expect(accepts(trustBundle(done), done)).toBe(true);
  expect(accepts(trustBundle(done), before)).toBe(false);
});

test("nothing is switched before API servers have the new authority, however long that takes", async () => {
  const { clock, ports, plan, published } = world();
  const introduced = planRotation(published(plan(undefined)), ports, times);
  await clock.run(day);
  expect(plan(introduced)).toBe(introduced);
});

test("an authority is replaced long before it ends", async () => {
  const { clock, plan, published } = world();
  let state = published(plan(undefined));
  for (let days = 0; days < 244; days += 60) {
    await clock.run(60 * day);
    state = plan(state);
  }
  expect(state.next).toBeDefined();
});

test("another name gets a certificate for both", () => {
  const { plan, published } = world();
  const state = plan(published(plan(undefined)), ["127.0.0.1"]);
  expect(new X509Certificate(state.serving.certificate).subjectAltName).toBe(
    "DNS:podsets-operator.ops.svc, IP Address:127.0.0.1",
  );
});
