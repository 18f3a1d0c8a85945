import { expect, test } from "vitest";
import { credentialsFor, type PullSecret } from "./pull-credentials.ts";

function secret(...keys: readonly string[]): PullSecret {
  const auths = Object.fromEntries(keys.map((key) => [key, { auth: Buffer.from(`${key}:secret`).toString("base64") }]));
  return { data: { ".dockerconfigjson": JSON.stringify({ auths }) } };
}

function usersFor(image: string, ...secrets: readonly PullSecret[]): readonly string[] {
  return credentialsFor(image, secrets).map(({ username }) => username);
}

test.each([
  ["nginx", "https://index.docker.io/v1/", true],
  ["bitnami/etcd", "docker.io", true],
  ["quay.io/a/b", "quay.io", true],
  ["quay.io/a/b", "quay.io/a", true],
  ["quay.io/ab/b", "quay.io/a", false],
  ["eu.example.com/a", "*.example.com", true],
  ["a.eu.example.com/a", "*.example.com", false],
  ["127.0.0.1:5000/a", "127.0.0.1:5000", true],
  ["127.0.0.1:5001/a", "127.0.0.1:5000", false],
  ["example.com.evil.org/a", "example.com", false],
])("for image %s a login of %s is used: %s", (image, key, isUsed) => {
  expect(usersFor(image, secret(key))).toEqual(isUsed ? [key.replace(/:.*/, "")] : []);
});

test("the login that names more of the path goes first", () => {
  expect(usersFor("quay.io/a/b", secret("quay.io"), secret("quay.io/a/b", "quay.io/a"))).toEqual([
    ...["quay.io/a/b", "quay.io/a", "quay.io"],
  ]);
});

test("a dockercfg has no auths, a login may be two fields, and what is no login is left out", () => {
  const old = { data: { ".dockercfg": '{"quay.io": {"username": "u", "password": "p:q"}}' } };
  expect(credentialsFor("quay.io/a", [old])).toEqual([{ username: "u", password: "p:q" }]);
  const wrong = ["{", "[]", '{"auths": 1}', '{"auths": {"quay.io": 1}}', '{"auths": {"quay.io": {"auth": "!"}}}'];
  for (const text of wrong) expect(credentialsFor("quay.io/a", [{ data: { ".dockerconfigjson": text } }])).toEqual([]);
});

test("a pattern of many stars is compared in a moment", () => {
  const pattern = `${"*a".repeat(20_000)}b`;
  expect(usersFor(`${"a".repeat(200)}.example.com/x`, secret(`${pattern}.example.com`))).toEqual([]);
});
