import { expect, test } from "vitest";
import { rewriteHtml, rewriteLocation } from "./proxy-links.ts";

const prefix = "/api/v1/namespaces/shop/services/web/proxy";

test.for([
  ["/login", `${prefix}/login`],
  ["/", `${prefix}/`],
  [`${prefix}/login`, `${prefix}/login`],
  ["login", "login"],
  ["//other.example.com/x", "//other.example.com/x"],
  ["https://other.example.com/x", "https://other.example.com/x"],
] as const)("a link to %s leads to %s", ([location, expected]) => {
  expect(rewriteLocation(location, prefix)).toBe(expected);
});

test("links of a page lead through the proxy, and its text stays", () => {
  const page = `<p title="/x">/y</p><a class="b" href="/tls">t</a><img src='/i.png'/><script>a</b</script>`;
  expect(rewriteHtml(page, prefix)).toBe(
    `<p title="/x">/y</p><a class="b" href="${prefix}/tls">t</a><img src='${prefix}/i.png'/><script>a</b</script>`,
  );
});
