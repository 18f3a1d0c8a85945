import { ApiError, createKind, failure, jsonPatch, type KubeObject } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { ConvertibleKind } from "./answer-conversion.ts";
import { createWebhookHandler, type WebhookHandlerOptions } from "./webhook-handler.ts";
import { type WebhookInit, webhooks } from "./webhook-definition.ts";

interface Set extends KubeObject {
  readonly spec: { readonly replicas: number; readonly color?: string };
}

const Sets = createKind<Set>({ group: "example.com", version: "v1", kind: "Set", plural: "sets", namespaced: true });

function world(init: WebhookInit<Set>, more: Partial<WebhookHandlerOptions> = {}) {
  const host = simulatedHost(1);
  const handler = createWebhookHandler({ ...host, webhooks: [webhooks(Sets, init)], kinds: [], ...more });
  return { host, handler };
}

const web: Set = { apiVersion: "example.com/v1", kind: "Set", metadata: { name: "web" }, spec: { replicas: 2 } };

function review(object: Set | null, more: object = {}): object {
  const userInfo = { username: "ada", groups: ["dev"] };
  const request = { uid: "u1", operation: "CREATE", object, oldObject: null, userInfo, dryRun: false, ...more };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
}

function responseOf({ body }: { readonly body: unknown }) {
  // What the handler answers to a review.
  return (body as { readonly response: Record<string, unknown> & { readonly status?: { message: string } } }).response;
}

const validate = (body: unknown) => ({ path: "/validate/example.com/sets", timeoutSeconds: 10, body });
const mutate = (body: unknown) => ({ path: "/mutate/example.com/sets", timeoutSeconds: 10, body });

test("what a function does not object to is allowed, with its warnings", async () => {
  const { handler } = world({ validate: (_set, { warn }) => warn("two is few") });
  const answer = await handler.handle(validate(review(web)));
  expect(answer.status).toBe(200);
  expect(responseOf(answer)).toEqual({ uid: "u1", allowed: true, warnings: ["two is few"] });
});

test("all objections are answered together, as the server's own validation says them", async () => {
  const { handler } = world({
    validate({ spec }, { invalid, required, old, forbidden }) {
      if (spec.replicas % 2 === 0) invalid("spec.replicas", "must be odd");
      if (spec.color === undefined) required("spec.color");
      if (old !== undefined) forbidden("spec", "may not change");
    },
  });
  const response = responseOf(await handler.handle(validate(review(web))));
  expect(response["allowed"]).toBe(false);
  expect(response.status).toMatchObject({
    code: 422,
    reason: "Invalid",
    message:
      'Set.example.com "web" is invalid: [spec.replicas: Invalid value: 2: must be odd, spec.color: Required value]',
  });
});

test("an ApiError is a refusal with its own code, any other error is none: the failure policy decides", async () => {
  const refusing = world({
    validate() {
      throw new ApiError(failure(403, "Forbidden", "not on Fridays"));
    },
  });
  const refusal = responseOf(await refusing.handler.handle(validate(review(web))));
  expect(refusal).toMatchObject({ allowed: false, status: { code: 403, message: "not on Fridays" } });
  const broken = world({
    validate() {
      throw new Error("the database is away");
    },
  });
  const answer = await broken.handler.handle(validate(review(web)));
  expect(answer).toMatchObject({ status: 500, body: { message: expect.stringContaining("the database is away") } });
  expect(broken.host.lines.map(({ message }) => message)).toEqual(["Webhook failed"]);
});

test("a mutation is answered as the patch that makes it", async () => {
  const { handler } = world({ mutate: (set) => ({ ...set, spec: { ...set.spec, color: "a/b~c" } }) });
  const response = responseOf(await handler.handle(mutate(review(web))));
  const patch: unknown = JSON.parse(atob(String(response["patch"])));
  expect(response["patchType"]).toBe("JSONPatch");
  expect(jsonPatch(web, patch)).toEqual({ ...web, spec: { replicas: 2, color: "a/b~c" } });
});

test("a mutation that changes nothing patches nothing", async () => {
  const { handler } = world({ mutate: (set) => structuredClone(set) });
  expect(responseOf(await handler.handle(mutate(review(web))))).toEqual({ uid: "u1", allowed: true });
});

test("a mutation in place, or one that returns no object, gets an error with the expected form; null is no change", async () => {
  const answerOf = (init: unknown) =>
    world({ mutate: init as NonNullable<WebhookInit<Set>["mutate"]> }).handler.handle(mutate(review(web)));
  expect(await answerOf(({ spec }: { spec: { color?: string } }) => void (spec.color = "blue"))).toMatchObject({
    status: 500,
    body: {
      message: expect.stringContaining("it is frozen; return a changed copy from `mutate`; copy what you change"),
    },
  });
  expect(await answerOf(() => "blue")).toMatchObject({
    status: 500,
    body: { message: expect.stringContaining("`mutate` of Set returned a string, expected the object or nothing") },
  });
  expect(responseOf(await answerOf(() => null))).toEqual({ uid: "u1", allowed: true });
});

test("a deletion is asked about with the object that goes", async () => {
  const seen: string[] = [];
  const { handler } = world({
    validateDelete: (set, { user }) => void seen.push(`${set.metadata.name} ${user.username}`),
  });
  await handler.handle(validate(review(null, { operation: "DELETE", oldObject: web })));
  expect(seen).toEqual(["web ada"]);
});

test("a function that takes too long is aborted before the server gives up", async () => {
  let signal: AbortSignal | undefined;
  const { handler, host } = world({
    validate: (_set, context) => {
      ({ signal } = context);
      return new Promise(() => undefined);
    },
  });
  const pending = handler.handle({ ...validate(review(web)), timeoutSeconds: 5 });
  await host.clock.run(4_500);
  expect(await pending).toMatchObject({ status: 504 });
  expect(signal?.aborted).toBe(true);
});

test("calls above the limit get 429, and are counted", async () => {
  const release = Promise.withResolvers<void>();
  const { handler, host } = world({ validate: () => release.promise }, { concurrentMax: 1 });
  const first = handler.handle(validate(review(web)));
  expect(await handler.handle(validate(review(web)))).toMatchObject({ status: 429 });
  release.resolve();
  expect((await first).status).toBe(200);
  expect(host.metrics.expose()).toContain(
    'controller_runtime_webhook_requests_total{code="429",webhook="/validate/example.com/sets"} 1',
  );
});

test("a function that goes on after it was too late keeps its place", async () => {
  const release = Promise.withResolvers<void>();
  const { handler, host } = world({ validate: () => release.promise }, { concurrentMax: 1 });
  const first = handler.handle({ ...validate(review(web)), timeoutSeconds: 5 });
  await host.clock.run(4_500);
  expect((await first).status).toBe(504);
  expect((await handler.handle(validate(review(web)))).status).toBe(429);
  release.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect((await handler.handle(validate(review(web)))).status).toBe(200);
});

test("a body is read only when its path is served and there is place for the call", async () => {
  const release = Promise.withResolvers<void>();
  const { handler } = world({ validate: () => release.promise }, { concurrentMax: 1 });
  let reads = 0;
  const call = (path: string) =>
    handler.handle({
      path,
      timeoutSeconds: 10,
      read: async () => {
        reads++;
        return review(web);
      },
    });
  expect((await call("/nowhere")).status).toBe(404);
  const { path } = validate({});
  const first = call(path);
  await new Promise((resolve) => setImmediate(resolve));
  expect((await call(path)).status).toBe(429);
  expect(reads).toBe(1);
  release.resolve();
  expect((await first).status).toBe(200);
});

test("requests that are never sent to their end take no places, and are given up when nobody waits any more", async () => {
  const { handler, host } = world({ validate: () => undefined }, { concurrentMax: 2 });
  const { path } = validate({});
  const signals: AbortSignal[] = [];
  const halfSent = Array.from({ length: 200 }, () =>
    handler.handle({
      path,
      timeoutSeconds: 10,
      read: (signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    }),
  );
  expect((await handler.handle(validate(review(web)))).status).toBe(200);
  await host.clock.run(9_000);
  expect(new Set((await Promise.all(halfSent)).map(({ status }) => status))).toEqual(new Set([504]));
  expect(signals.every((signal) => signal.aborted)).toBe(true);
});

test("a call whose request was there as a whole only after its answer had to be is not made", async () => {
  let calls = 0;
  const { handler, host } = world({ validate: () => void calls++ });
  const body = Promise.withResolvers<unknown>();
  const { path } = validate({});
  const late = handler.handle({ path, timeoutSeconds: 5, read: () => body.promise });
  await host.clock.run(4_500);
  expect((await late).status).toBe(504);
  body.resolve(review(web));
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toBe(0);
});

test.each([
  ["no review", {}],
  ["another version", { ...review(web), apiVersion: "admission.k8s.io/v1beta1" }],
  ["no object", review(null)],
])("a body that is %s is refused with a sentence", async (_, body) => {
  const { handler } = world({ validate: () => undefined });
  expect(await handler.handle(validate(body))).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^Cannot answer the request: /) },
  });
});

test("a path that nobody serves is a 404", async () => {
  const { handler } = world({});
  expect((await handler.handle(validate(review(web)))).status).toBe(404);
});

const convertible: ConvertibleKind = Object.assign(() => web, {
  ...Sets,
  versions: [{ apiVersion: "example.com/v1" }, { apiVersion: "example.com/v1beta1" }],
  convert(object: KubeObject, apiVersion: string): KubeObject {
    if (object.metadata.name === "bad") throw new Error("it is too old");
    return { ...object, apiVersion };
  },
});

function conversion(...objects: readonly KubeObject[]) {
  const request = { uid: "u2", desiredAPIVersion: "example.com/v1beta1", objects };
  const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request };
  return { path: "/convert", timeoutSeconds: 30, body };
}

test("objects are converted all together or not at all", async () => {
  const { handler } = world({}, { kinds: [convertible] });
  expect(responseOf(await handler.handle(conversion(web, web)))).toMatchObject({
    uid: "u2",
    convertedObjects: [{ apiVersion: "example.com/v1beta1" }, { apiVersion: "example.com/v1beta1" }],
    result: { status: "Success" },
  });
  const bad = { ...web, metadata: { name: "bad", namespace: "default" } };
  expect(responseOf(await handler.handle(conversion(web, bad)))).toMatchObject({
    convertedObjects: [],
    result: { status: "Failed", message: 'Set "default/bad" to example.com/v1beta1: it is too old' },
  });
});
