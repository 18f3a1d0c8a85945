import { describe, expect, test } from "vitest";
import {
  allowedOptions,
  mergedOptions,
  optionIdentity,
  optionNameIn,
  optionNotice,
  optionRefusal,
} from "./allowed-options.ts";

const batch = "compaction-batch-limit";
const olderBatch = `experimental-${batch}`;
const unary = "warning-unary-request-duration";
const hashCheck = "experimental-compact-hash-check-enabled";

describe("optionNameIn()", () => {
  test.each([
    ["3.4.23", batch, olderBatch],
    ["3.5.35", batch, olderBatch],
    ["3.6.16", batch, batch],
    ["3.5.35", olderBatch, olderBatch],
    ["3.6.16", olderBatch, olderBatch],
    ["3.7.3", olderBatch, batch],
    ["3.5.35", unary, undefined],
    ["3.6.16", unary, unary],
    ["3.4.23", "compaction-sleep-interval", undefined],
    ["3.5.15", "compaction-sleep-interval", undefined],
    ["3.5.16", "compaction-sleep-interval", "experimental-compaction-sleep-interval"],
    ["3.4.15", "warning-apply-duration", undefined],
    ["3.4.16", "warning-apply-duration", "experimental-warning-apply-duration"],
    ["3.4.23", "backend-bbolt-freelist-type", undefined],
    ["3.5.0", "backend-bbolt-freelist-type", "backend-bbolt-freelist-type"],
    ["3.4.19", "max-concurrent-streams", undefined],
    ["3.5.4", "max-concurrent-streams", undefined],
    ["3.6.0", "max-concurrent-streams", "max-concurrent-streams"],
    ["3.6.16", hashCheck, hashCheck],
    ["3.7.3", hashCheck, undefined],
    ["3.4.0", "snapshot-count", "snapshot-count"],
  ])("in etcd %s, %s is %s", (version, name, expected) => {
    expect(optionNameIn(version, name)).toBe(expected);
  });
});

describe("optionRefusal()", () => {
  test.each([
    ["3.5.35", unary, "etcd 3.5.35 has no such option; it exists from 3.6.0 on"],
    ["3.4.19", "max-concurrent-streams", "etcd 3.4.19 has no such option; it exists from 3.4.20 and 3.5.5 on"],
    [
      "3.5.15",
      "compaction-sleep-interval",
      'it exists from 3.6.0 on, and as "experimental-compaction-sleep-interval" from 3.5.16 on',
    ],
    ["3.7.3", hashCheck, "etcd 3.7.3 has no such option; only versions before 3.7.0 have it"],
    ["3.5.35", "data-dir", "the option does not only tune a member"],
  ])("for etcd %s, names what is wrong with %s", (version, name, expected) => {
    expect(optionRefusal(version, name, { [name]: "1" })).toContain(expected);
  });

  test("refuses the newer name of an option that is set under both names", () => {
    const both = { [batch]: "1", [olderBatch]: "2" };
    expect(optionRefusal("3.6.16", batch, both)).toContain(`"${olderBatch}" is the same option`);
    expect(optionRefusal("3.6.16", olderBatch, both)).toBeUndefined();
  });

  test.each(["3.5.35", "3.6.16"])("accepts both names of an option for %s", (version) => {
    expect(optionRefusal(version, batch, { [batch]: "1" })).toBeUndefined();
    expect(optionRefusal(version, olderBatch, { [olderBatch]: "1" })).toBeUndefined();
  });
});

describe("optionNotice()", () => {
  test.each([
    ["3.5.35", batch, `etcd 3.5.35 calls it "${olderBatch}", and members get it under that name`],
    ["3.6.16", olderBatch, `etcd 3.7 has no such option; before that upgrade rename it to "${batch}"`],
    ["3.6.16", hashCheck, "etcd 3.7 has no such option; before that upgrade it has to be removed"],
    ["3.5.35", olderBatch, undefined],
    ["3.6.16", batch, undefined],
    ["3.6.16", "snapshot-count", undefined],
  ])("for etcd %s and %s: %s", (version, name, expected) => {
    const notice = optionNotice(version, name);
    if (expected === undefined) expect(notice).toBeUndefined();
    else expect(notice).toContain(expected);
  });
});

test("mergedOptions() lets an option win under either name", () => {
  const given = { [batch]: "1", "snapshot-count": "5" };
  expect(mergedOptions(given, { [olderBatch]: "2" })).toEqual({ [olderBatch]: "2", "snapshot-count": "5" });
  expect(mergedOptions(given)).toEqual(given);
});

test("every option with another name is the same option as that one", () => {
  for (const name of allowedOptions) expect(allowedOptions).toContain(optionIdentity(name));
  expect(optionIdentity(batch)).toBe(optionIdentity(olderBatch));
  expect(optionIdentity(batch)).not.toBe(optionIdentity(unary));
});
