import { expect, test } from "vitest";
import { parseEtcdArguments } from "./etcd-arguments.ts";

test("parseEtcdArguments() reads options with values, which may hold the sign that ends a name, and nothing else", () => {
  const command = [
    "etcd",
    "--name=a",
    "--initial-cluster=a=http://a:2380,b=http://b:2380",
    "--debug",
    "--=x",
    "token=t",
  ];
  expect(parseEtcdArguments(command)).toEqual({
    name: "a",
    dataDirectory: "a.etcd",
    peerUrl: "http://localhost:2380",
    token: "etcd-cluster",
    initialCluster: new Map([
      ["a", "http://a:2380"],
      ["b", "http://b:2380"],
    ]),
    isNew: true,
    quotaBytes: 2_147_483_648,
    isForced: false,
  });
});
