import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@setpoint/host/simulated";
import { Redactor } from "./redactor.ts";

const canary = "canary-2c77";
const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ";
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n-----END RSA PRIVATE KEY-----`;

test.each<readonly [string, unknown, boolean?]>([
  ["data of a Secret", { kind: "Secret", data: { a: btoa(canary) } }],
  ["plain data of a Secret", { kind: "Secret", stringData: { a: canary } }],
  ["a Secret in a list", { kind: "SecretList", items: [{ data: { a: btoa(canary) } }] }],
  ["a Secret in a frame", { type: "ADDED", object: { kind: "Secret", data: { a: btoa(canary) } } }],
  ["a patch of a Secret", { data: { a: btoa(canary) } }, true],
  ["a JSON patch of a Secret", [{ op: "add", path: "/data/a", value: btoa(canary) }], true],
  [
    "what kubectl applied",
    {
      kind: "Secret",
      metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":"${canary}"}` } },
    },
  ],
  ["a variable with a telling name", { env: [{ name: "DB_PASSWORD", value: canary }] }],
  ["a field with a telling name", { spec: { auth: { password: canary, token: canary } } }],
  [
    "fields that end in a telling word",
    { dbPassword: canary, client_secret: canary, api_key: canary, DB_PASS: canary },
  ],
  ["a list in a field with a telling name", { spec: { apiTokens: [canary] } }],
  ["a ConfigMap's entry with a telling name", { kind: "ConfigMap", data: { "db.password": canary } }],
  ["a token request's answer", { kind: "TokenRequest", status: { token: canary } }],
  ["a web token anywhere", { data: { note: `Bearer ${jwt}` } }],
  ["a private key anywhere", { kind: "ConfigMap", data: { file: pem } }],
  ["an address with a password", { spec: { url: `postgres://me:${canary}@db:5432/x` } }],
  [
    "a field that is only called key or secret",
    { apiVersion: "example.com/v1", spec: { key: canary, secret: canary } },
  ],
  ["keys in a list", { spec: { apiKeys: [canary], users: [{ name: "ada", key: canary }], secrets: [canary] } }],
  ["a key in a patch of a custom object", { spec: { key: canary } }],
  ["a JSON patch of a telling field", [{ op: "replace", path: "/spec/key", value: canary }]],
  ["a ConfigMap's entry that is only called secret", { apiVersion: "v1", kind: "ConfigMap", data: { secret: canary } }],
  [
    "variables of databases and services",
    {
      env: [
        { name: "STRIPE_KEY", value: canary },
        { name: "PGPWD", value: canary },
      ],
    },
  ],
  ["flags", { args: ["--password", canary, `--api-token=${canary}`] }],
  ["a connection string", { spec: { connectionString: canary, note: `host=db password=${canary}` } }],
  ["a header", { headers: { note: `Basic ${btoa(`${canary}:${canary}`)}` } }],
  ["a kubeconfig's key", { users: [{ user: { "client-key-data": btoa(canary) } }] }],
])("nothing is left of %s", (_, value, isSecret) => {
  const text = JSON.stringify(new Redactor().redact(value, { isSecret: isSecret === true }));
  for (const secret of [canary, btoa(canary), "c2lnbmF0dXJl"]) expect(text).not.toContain(secret);
});

test("what is no secret stays as it is", () => {
  const pod = {
    kind: "Pod",
    spec: {
      containers: [
        {
          name: "web",
          env: [
            { name: "MODE", value: "fast" },
            { name: "TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
          ],
        },
      ],
    },
  };
  expect(new Redactor().redact(pod)).toEqual(pod);
  const names = {
    ...{ secretName: "tls", secretKeyRef: { name: "s", key: "k" }, imagePullSecret: "pull", publicKey: "ssh-rsa A" },
    ...{ automountServiceAccountToken: true, passwordSecretRef: { name: "db" }, bypass: "yes", tokenTtl: "1h" },
  };
  expect(new Redactor().redact(names)).toEqual(names);
  expect(new Redactor().redact({ kind: "ConfigMap", data: { url: "https://example.com/a:b" } })).toMatchObject({
    data: { url: "https://example.com/a:b" },
  });
});

test.each<readonly [string, Readonly<Record<string, unknown>>]>([
  ["a selector", { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] }],
  ["tolerations and taints", { tolerations: [{ key: "gpu" }], taints: [{ key: "gpu", effect: "NoSchedule" }] }],
  [
    "a reference",
    { passwordFrom: { name: "db", key: "password" }, secretRef: { key: "a" }, username: { name: "d", key: "u" } },
  ],
  [
    "projected entries",
    { volumes: [{ name: "v", secret: { secretName: "tls", items: [{ key: "tls.crt", path: "crt" }] } }] },
  ],
  ["an identity", { uid: "0b7e4a52-9a55-4ab5-9e53-9f0d6f6b2f5c", image: `x@sha256:${"0f".repeat(32)}` }],
  [
    "a long name of an API",
    { kind: "ValidatingAdmissionPolicyBindingListV1Beta1", feature: "InPlacePodVerticalScalingExclusiveCPUs2" },
  ],
  [
    "a certificate",
    { caBundle: btoa("-----BEGIN CERTIFICATE-----\nMIIBkTCB+wIJAKHHIG11Y2gx\n-----END CERTIFICATE-----") },
  ],
])("%s of a custom kind's object stays as it is", (_, spec) => {
  const object = { apiVersion: "example.com/v1", kind: "Box", spec };
  expect(new Redactor().redact(object)).toEqual(object);
});

test("in kinds of Kubernetes itself a key is only where something is", () => {
  const policy = { apiVersion: "example.k8s.io/v1", kind: "Policy", spec: { rules: [{ key: "zone", weight: 1 }] } };
  expect(new Redactor().redact(policy)).toEqual(policy);
  const rules = { rules: [{ key: "zone", weight: 1 }] };
  expect(new Redactor().redact({ spec: rules }, { isBuiltin: true })).toEqual({ spec: rules });
});

/** Something in which a secret may stand anywhere, with one in it. */
const around = (secret: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const name = fc.string({ unit: fc.constantFrom(...Array.from("abcxyz")), minLength: 1, maxLength: 6 });
  const other = fc.oneof(fc.integer(), fc.boolean(), name);
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      secret,
      fc.tuple(tie("value"), fc.array(other, { maxLength: 3 })).map(([inner, rest]) => [...rest, inner]),
      fc
        .tuple(name, tie("value"), fc.dictionary(name, other, { maxKeys: 3 }))
        .map(([key, inner, rest]) => ({ ...rest, [key]: inner })),
    ),
  })).value;
};
const canaryText = fc
  .string({ unit: fc.constantFrom(...Array.from("abcdefghij0123456789")), minLength: 8, maxLength: 30 })
  .map((text) => `canary${text}`);
const secretNames = [
  ..."key secret keys password dbPassword API_TOKEN client-secret bearerToken aws_secret_access_key dsn".split(" "),
];
const holding = (text: string): readonly unknown[] => [
  ...secretNames.map((name) => ({ [name]: text })),
  ...secretNames.map((name) => ({ [name]: [text, text] })),
  ...["DB_PASSWORD", "SIGNING_KEY", "AUTH_TOKEN"].map((name) => ({ env: [{ name, value: text }] })),
  { kind: "Secret", metadata: { name: "s" }, data: { any: btoa(text) } },
  { kind: "Secret", stringData: { any: text } },
  { command: ["run", "--token", text] },
  `https://user:${text}@host/`,
  `-----BEGIN EC PRIVATE KEY-----\n${text}\n-----END EC PRIVATE KEY-----`,
];

test("whatever stands around it, nothing is left of a secret that its place tells, and a second pass changes nothing", () => {
  const secrets = canaryText.chain((text) =>
    fc.constantFrom(...holding(text)).chain((held) => around(fc.constant(held)).map((value) => ({ text, value }))),
  );
  fc.assert(
    fc.property(secrets, ({ text, value }) => {
      const redactor = new Redactor();
      const redacted = redactor.redact(value);
      const shown = JSON.stringify(redacted);
      expect(shown).not.toContain(text);
      expect(shown).not.toContain(btoa(text));
      expect(redactor.redact(redacted)).toEqual(redacted);
      expect(new Redactor().redact(redacted)).toEqual(redacted);
    }),
    { numRuns: 400 },
  );
});

test("nothing is left of random bytes in base64, wherever they stand", () => {
  const random = seededRandom(3);
  const missed = Array.from({ length: 2_000 }, () => {
    const text = btoa(String.fromCharCode(...Array.from({ length: 32 }, () => random.int(256))));
    const shown = JSON.stringify(new Redactor().redact({ note: [`it is ${text}, see there`] }));
    return shown.includes(text.slice(0, 12)) ? text : undefined;
  }).filter((text) => text !== undefined);
  expect(missed.length).toBeLessThanOrEqual(4);
});

test("what a replayed program made itself is given back to it", () => {
  const redactor = new Redactor({ remembers: true });
  redactor.redact({ kind: "Secret", stringData: { password: "made" } });
  const stored = { data: { password: btoa("redacted-1") }, note: "redacted-1", other: "redacted-2" };
  expect(redactor.reveal(stored)).toEqual({ data: { password: btoa("made") }, note: "made", other: "redacted-2" });
});

test("equal secrets stay equal, in whatever form, and different ones different", () => {
  const redactor = new Redactor();
  const secret = redactor.redact({ kind: "Secret", data: { a: btoa("one"), b: btoa("two") } });
  expect(secret).toEqual({ kind: "Secret", data: { a: btoa("redacted-1"), b: btoa("redacted-2") } });
  expect(redactor.redact({ password: "one", token: "three" })).toEqual({ password: "redacted-1", token: "redacted-3" });
});

test("what is redacted already stays, and new secrets get the numbers after it", () => {
  const redactor = new Redactor();
  const recorded = { kind: "Secret", data: { a: btoa("redacted-4") } };
  expect(redactor.redact(recorded)).toEqual(recorded);
  expect(redactor.redact({ password: "new" })).toEqual({ password: "redacted-5" });
  expect(redactor.redact({ note: "redacted-9" })).toEqual({ note: "redacted-9" });
  expect(redactor.redact({ password: "newer" })).toEqual({ password: "redacted-10" });
});
