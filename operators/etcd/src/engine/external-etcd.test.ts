import { expect, test } from "vitest";
import { externalEtcd } from "./external-etcd.ts";

const endpoint = "https://10.0.0.7:2379";

test("the source has the endpoints, and the files of both Secrets", () => {
  const external = { endpoints: [endpoint, "https://etcd.example:2379/"], tlsSecret: "tls", loginSecret: "login" };
  expect(externalEtcd.refusal(external)).toBeUndefined();
  expect(externalEtcd.source(external)).toEqual({
    request: { endpoints: external.endpoints },
    secretNames: ["tls", "login"],
  });
  expect(externalEtcd.source({ endpoints: ["http://10.0.0.7:2379"] }).secretNames).toEqual([]);
});

test.each([
  ["10.0.0.7:2379", "must be a URL"],
  ["file:///etc/passwd", "must be a URL"],
  ["https://root:canary@10.0.0.7:2379", "has a login in it"],
  ["https://10.0.0.7:2379/v3", "more than scheme, host and port"],
  ["https://10.0.0.7:2379/?token=canary", "more than scheme, host and port"],
  ["http://10.0.0.7:2379", "tlsSecret is for https"],
])("the endpoint %s is refused, and not repeated", (wrong, why) => {
  const refusal = externalEtcd.refusal({ endpoints: [endpoint, wrong], tlsSecret: "tls" });
  expect(refusal).toContain(`endpoints[1] ${why.startsWith("is") || why.startsWith("has") ? why : ""}`);
  expect(refusal).toContain(why);
  expect(refusal).not.toContain("canary");
});
