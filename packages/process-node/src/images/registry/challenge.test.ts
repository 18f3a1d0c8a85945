import { expect, test } from "vitest";
import { parseChallenge } from "./challenge.ts";

const realm = "https://auth.example.com/token";

test.each([
  ['Basic realm="r"', { scheme: "basic", parameters: { realm: "r" } }],
  [`Bearer realm="${realm}",service=hub`, { scheme: "bearer", parameters: { realm, service: "hub" } }],
  [`Basic realm="a, Bearer", Bearer realm="${realm}"`, { scheme: "bearer", parameters: { realm } }],
  ["Negotiate", undefined],
  ["", undefined],
])("%s", (header, challenge) => expect(parseChallenge(header)).toEqual(challenge));
