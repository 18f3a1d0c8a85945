import { expect, test } from "vitest";
import { headText, target } from "./request-text.ts";

test("a request is its line, its headers and an empty line", () => {
  const headers = { host: "a:1", "impersonate-group": ["x", "y"] };
  const lines = ["GET /api HTTP/1.1", "host: a:1", "impersonate-group: x", "impersonate-group: y", "", ""];
  expect(headText("GET", "/api", headers)).toBe(lines.join("\r\n"));
});

test.each(["a\r\nx: y", "a\nb", "a\0"])("a header cannot bring a second one: %j", (value) => {
  const error = expect.objectContaining({ code: "ERR_BAD_HEADER" });
  expect(() => headText("GET", "/", { authorization: value })).toThrow(error);
  expect(() => headText("GET", "/", { group: ["good", value] })).toThrow(error);
});

test("what a request line cannot hold is encoded, so that no path brings a second request", () => {
  const text = headText("GET", "/a b\r\nHost: c\n/ü\u{1f600}\ud800", {});
  expect(text).toBe("GET /a%20b%0D%0AHost:%20c%0A/%C3%BC%F0%9F%98%80%EF%BF%BD HTTP/1.1\r\n\r\n");
});

test("a query is encoded, each value of a name by itself", () => {
  const query = { labelSelector: "a in (b,c)", fieldSelector: ["x=1", "y=2"] };
  expect(target({ method: "GET", path: "/p", query })).toBe(
    "/p?labelSelector=a%20in%20(b%2Cc)&fieldSelector=x%3D1&fieldSelector=y%3D2",
  );
});
