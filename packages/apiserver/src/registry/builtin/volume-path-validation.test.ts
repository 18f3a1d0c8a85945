import { expect, test } from "vitest";
import { podSpecErrors } from "./pod-validation.ts";

const errorsOf = (mount: object, volume: object): readonly string[] =>
  podSpecErrors(
    {
      containers: [{ name: "main", image: "img", volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] }],
      volumes: [{ name: "v", ...volume }],
    },
    "spec",
  ).map(({ field, message }) => `${field}: ${message}`);

test.for([
  [{ subPath: "../up" }, "must not contain '..'"],
  [{ subPath: "a/../../b" }, "must not contain '..'"],
  [{ subPath: "/etc" }, "must be a relative path"],
  [{ subPathExpr: "$(X)/.." }, "must not contain '..'"],
  [{ subPath: "a", subPathExpr: "b" }, "subPathExpr and subPath are mutually exclusive"],
] as const)("volumeMount %j is refused", ([mount, message]) => {
  const errors = errorsOf(mount, { emptyDir: {} });
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(message);
});

test.for(["../up", "a/../b", "/abs", "..data"])("a file of a volume at %s is refused, whatever makes it", (path) => {
  const items = [{ key: "k", path }];
  for (const volume of [
    { configMap: { name: "c", items } },
    { secret: { secretName: "s", items } },
    { downwardAPI: { items: [{ path, fieldRef: { fieldPath: "metadata.name" } }] } },
    { projected: { sources: [{ configMap: { name: "c", items } }] } },
    { projected: { sources: [{ serviceAccountToken: { path } }] } },
  ])
    expect(errorsOf({}, volume), JSON.stringify(volume)).toHaveLength(1);
});

test("paths beneath a volume are accepted, with dots in their names too", () => {
  const items = [{ key: "k", path: "a..b/.hidden/..." }];
  expect(errorsOf({ subPath: "a/b..c/.d" }, { configMap: { name: "c", items } })).toEqual([]);
});
