import type { Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { withoutSecrets } from "./without-secrets.ts";

const env = [
  { name: "DB_PASSWORD", value: "correct horse battery" },
  { name: "MODE", value: "verbose" },
];
const pod = { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers: [{ name: "main", env }] } } as Pod;

test.each([
  ['error: cannot log in with password="hunter2secret"', "hunter2"],
  ["error: cannot log in with DB_PASSWORD: hunter2secret", "hunter2"],
  ['{"msg":"bad","access_token":"abc.def","secretKey":"hunter2"}', "hunter2"],
  ['{"msg":"bad","clientSecret":"with \\"quotes\\" hunter2"}', "hunter2"],
  ["run with --root-password hunter2secret", "hunter2"],
  ["cannot reach postgres://admin:hunter2@db:5432/x", "hunter2"],
  ["cannot reach https://hunter2token@git.example.com/x", "hunter2"],
  ["401 for Authorization: Bearer hunter2hunter2", "hunter2"],
  ["header authorization=Basic aHVudGVyMg==", "aHVudGVyMg"],
  ["bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.c2lnbmF0dXJl", "eyJzdWIi"],
  ["no rights for AKIAIOSFODNN7EXAMPLE", "AKIA"],
  ["cannot use key wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "wJalr"],
  ["-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----", "hunter2"],
  ["-----BEGIN PRIVATE KEY-----\nhunter2 cut", "hunter2"],
  ["login of correct horse battery is wrong", "horse"],
])("%s loses its secret", (text, secret) => {
  expect(withoutSecrets(text, pod)).not.toContain(secret);
  expect(withoutSecrets(text, pod)).toContain("(secret)");
});

test.each([
  "mkdir /var/lib/etcd/member-data: permission denied",
  'MountVolume.SetUp failed for volume "data" : secret "none" not found',
  "couldn't find key password in Secret default/keys",
  "references non-existent secret key: b",
  'FATAL: password authentication failed for user "orders"',
  "etcdserver: invalid auth token",
  'dial tcp: lookup registry.invalid on 10.255.255.53:53: Get "https://registry.invalid/v2/none/manifests/1"',
  "image sha256:28b14349f39ca15c5a7f17217b36df89759213fba606495cb6cd707e4a5f5e30 in verbose mode",
])("%s stays", (text) => {
  expect(withoutSecrets(text, pod)).toBe(text);
});
