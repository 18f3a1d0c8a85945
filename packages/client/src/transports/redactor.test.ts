import { expect, test } from "vitest";
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
  ["a kubeconfig's key", { users: [{ user: { "client-key-data": btoa(canary) } }] }],
])("nothing is left of %s", (_, value, isSecret) => {
  const text = JSON.stringify(new Redactor().redact(value, isSecret === true));
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
