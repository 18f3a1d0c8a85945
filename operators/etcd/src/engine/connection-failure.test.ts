import { expect, test } from "vitest";
import { connectionFailure, refusalHint } from "./connection-failure.ts";

test.each([
  [{ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", message: "tlsv13 alert certificate required" }, "tls.crt"],
  [{ code: "EPROTO", message: "error:0A000412:SSL routines::ssl/tls alert bad certificate" }, "tls.crt"],
  [{ code: "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", message: "" }, "tls.crt"],
  [{ code: "EPROTO", message: "error:0A00010B:SSL routines::wrong version number" }, "begins with http (EPROTO)"],
  [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT", message: "self-signed certificate" }, "ca.crt"],
  [{ code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "" }, "for other hosts"],
  [{ code: "ECONNREFUSED", message: "connect ECONNREFUSED" }, "ECONNREFUSED"],
  [new Error("no byte for 5 s"), "no byte for 5 s"],
])("connectionFailure() of %j names what to change", (cause, words) => {
  expect(connectionFailure("https://10.0.0.7:2379", cause)).toContain(words);
});

test("connectionFailure() of a reset without TLS names the other scheme", () => {
  const cause = { code: "ECONNRESET", message: "socket hang up" };
  expect(connectionFailure("http://10.0.0.7:2379", cause)).toContain("its URL begins with https");
  expect(connectionFailure("https://10.0.0.7:2379", cause)).toBe("ECONNRESET");
});

test("refusalHint() tells a missing login from one without rights", () => {
  expect(refusalHint("etcdserver: user name is empty", false)).toContain("username and password");
  expect(refusalHint("etcdserver: permission denied", true)).toContain("role root");
  expect(refusalHint("etcdserver: authentication failed, invalid user ID or password", false)).toBe("");
});
