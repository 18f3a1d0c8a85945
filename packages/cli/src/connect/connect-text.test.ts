import { expect, test } from "vitest";
import { connectedText } from "./connect-text.ts";

const connected = {
  namespace: "default",
  service: "web",
  port: { name: "https", port: 443 },
  localPort: 40443,
  target: { pod: "web-1", port: 8443 },
};
const textWith = (...names: readonly string[]): string => connectedText({ ...connected, names });

test("a server without TLS is shown with its address", () => {
  expect(connectedText({ ...connected, names: undefined })).toBe(
    "Service default/web, port 443 (https), now pod web-1:\n  127.0.0.1:40443",
  );
});

test("a certificate for localhost makes a URL that any client accepts", () => {
  expect(textWith("web.default.svc", "localhost", "127.0.0.1")).toContain("\n  https://localhost:40443\n");
  expect(textWith("web.default.svc", "127.0.0.1")).toContain("\n  https://127.0.0.1:40443\n");
});

test("a certificate for another name is shown with that name and how to give it", () => {
  const text = textWith("web", "web.default.svc", "web.default.svc.cluster.local");
  expect(text).toContain("its certificate is valid for web.default.svc.");
  expect(text).toContain("--connect-to web.default.svc:40443:127.0.0.1:40443 https://web.default.svc:40443/");
  expect(text).toContain("-servername web.default.svc");
  expect(text).toContain('"127.0.0.1 web.default.svc" to /etc/hosts');
});

test.each([
  [["*.default.svc"], "valid for web.default.svc."],
  [["*.example.com", "shop.example.com"], "valid for shop.example.com."],
  [["*.example.com"], "a certificate that names no host"],
  [[], "a certificate that names no host"],
] as const)("of the names %j", (names, expected) => {
  expect(textWith(...names)).toContain(expected);
});
