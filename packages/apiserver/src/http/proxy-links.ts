/** Links of answers that came through a proxy lead through it again; pure. */
import { lookupTable } from "@setpoint/apimachinery";

/** The attributes of each element that hold a URL, as upstream rewrites them. */
const urlAttributes: Readonly<Record<string, readonly string[]>> = lookupTable({
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
});

const startTag = /<([a-zA-Z][a-zA-Z0-9]*)(\s[^<>]*)>/g;
const attribute = /([a-zA-Z-]+)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** The page with links to paths of its own host below `prefix`. */
export function rewriteHtml(page: string, prefix: string): string {
  return page.replace(startTag, (tag, name: string, rest: string) => {
    const known = urlAttributes[name.toLowerCase()];
    if (known === undefined) return tag;
    const written = rest.replace(attribute, (whole, key: string, equals: string, quoted: string) => {
      if (!known.includes(key.toLowerCase())) return whole;
      const quote = quoted.slice(0, 1);
      return `${key}${equals}${quote}${rewriteLocation(quoted.slice(1, -1), prefix)}${quote}`;
    });
    return `<${name}${written}>`;
  });
}

/** A path of the same host gets the prefix, once; a relative one and another host stay as they are. */
export function rewriteLocation(location: string, prefix: string): string {
  if (!location.startsWith("/") || location.startsWith("//")) return location;
  return location === prefix || location.startsWith(`${prefix}/`) ? location : `${prefix}${location}`;
}
