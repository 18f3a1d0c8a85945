/** An image for tests: a shell and its tools (busybox), which the images of the catalogue do not have. */
import type { ImageSource } from "@setpoint/process-node";

export const toolsImage = "test.local/tools:1";

const tools = [
  "sh",
  "cat",
  "echo",
  "env",
  "httpd",
  "id",
  "ls",
  "nc",
  "nslookup",
  "seq",
  "sleep",
  "test",
  "touch",
  "true",
  "wget",
];

export const toolsImageSource: ImageSource = {
  closure: { suite: "bookworm", packages: ["busybox-static"] },
  links: Object.fromEntries(tools.map((tool) => [`/usr/bin/${tool}`, "/bin/busybox"])),
  env: { PATH: "/usr/bin:/bin" },
  command: ["sh"],
};

/** The same with perl, which can make any system call: for attacks. */
export const perlImage = "test.local/perl:1";

export const perlImageSource: ImageSource = {
  ...toolsImageSource,
  closure: { suite: "bookworm", packages: ["busybox-static", "perl-base"] },
};
