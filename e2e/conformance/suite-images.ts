/**
 * The images that the suite's pods run, made of Debian closures and of the programs that were built with the
 * suite, and loaded as any user loads images.
 */
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, type DebianClosure, type ImageSource } from "@setpoint/process-node";
import { loadMadeImages } from "../images/made-images.ts";
import type { Suite } from "./suite-build.ts";

const testImages = "registry.k8s.io/e2e-test-images";
const closure = (...packages: readonly string[]): DebianClosure => ({ suite: "bookworm", packages });
const path = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

/** Programs that busybox has and the packages of the image have not. */
const applets = [
  ..."awk clear diff find free ftpget fuser gunzip gzip hexdump hostname httpd ifconfig ip killall less mount nc".split(
    " ",
  ),
  ..."netstat nslookup pgrep ping pkill ps route sysctl tar telnet time top traceroute umount unzip uptime usleep".split(
    " ",
  ),
  ..."vi watch wget which xargs".split(" "),
];
const shell: ImageSource = {
  closure: { suite: "trixie", packages: ["busybox-static", "bash", "coreutils", "grep", "sed", "util-linux"] },
  links: {
    // The suite's scripts need a shell with `[[`, which dash has not, and variables whose names have a dash,
    // which Debian's busybox drops.
    "/bin/sh": "/bin/bash",
    ...Object.fromEntries(applets.map((name) => [`/usr/bin/${name}`, "/bin/busybox"])),
  },
  command: ["sh"],
  env: path,
};
/** The pages that the suite looks for: an image of upstream's that serves one file. */
function pageServer(picture: string, folder: string): ImageSource {
  const file = join(folder, `${picture}.json`);
  writeFileSync(file, JSON.stringify({ image: `${picture}.jpg` }));
  // Cases that mount the image look for its base system.
  const release = join(folder, "os-release");
  writeFileSync(release, 'NAME="Alpine Linux"\n');
  return {
    ...shell,
    files: [
      { from: file, to: "/www/data.json" },
      { from: file, to: "/data.json" },
      { from: release, to: "/etc/os-release" },
    ],
    command: ["busybox", "httpd", "-f", "-p", "80", "-h", "/www"],
  };
}

/** What agnhost serves by HTTPS, and the page that cases of StatefulSets ask for. */
function certificateFiles(folder: string): NonNullable<ImageSource["files"]> {
  const options = { clock: systemClock, random: systemRandom };
  const pair = createCertificateAuthority(options).issueServer({ commonName: "localhost", hosts: ["localhost"] });
  return Object.entries({ crt: pair.certificate, key: pair.key }).map(([kind, text]) => {
    const from = join(folder, `localhost.${kind}`);
    writeFileSync(from, text);
    return { from, to: `/localhost.${kind}` };
  });
}

/** Prints the user that it has, and is a setuid program of root. */
function userPrinter(agnhost: string, folder: string): ImageSource {
  const from = join(folder, "nnp");
  copyFileSync(agnhost, from);
  chmodSync(from, 0o4755);
  return { ...shell, files: [{ from, to: "/nnp" }], command: ["/nnp", "nonewprivs"] };
}

/** As the nodes have them under their common names. */
const catalog = createImageCatalog(debianCatalogue);
const webServer = catalog.find("nginx") as ImageSource;
const etcd = catalog.find("registry.k8s.io/etcd:3.5.16-0") as ImageSource;

function sourcesOf({ agnhost, sampleServer }: Suite, folder: string): Readonly<Record<string, ImageSource>> {
  const files = [{ from: agnhost, to: "/agnhost" }];
  const tools = closure(
    "bash",
    "dash",
    "coreutils",
    "curl",
    "bind9-dnsutils",
    "iproute2",
    "netcat-openbsd",
    "procps",
    "grep",
    // getent
    "libc-bin",
  );
  // Debian makes this link in a script of the package, and such scripts do not run.
  const links = { "/usr/bin/nc": "/bin/nc.openbsd" };
  const served = [...files, ...certificateFiles(folder)];
  // A second name, which cases run to see that it replaces the entry point.
  const named = { ...links, "/agnhost-2": "/agnhost" };
  const testServer = {
    closure: tools,
    files: served,
    links: named,
    entrypoint: ["/agnhost"],
    command: ["pause"],
    env: path,
  };
  return {
    [`${testImages}/agnhost:2.63.0`]: testServer,
    // The version that cases of a rolling update start from, or end with.
    [`${testImages}/agnhost:2.55`]: testServer,
    // Asks for names with the resolver of glibc.
    [`${testImages}/glibc-dns-testing:2.0.0`]: { closure: tools, links, command: ["bash"], env: path },
    "registry.k8s.io/pause:3.10.2": { closure: closure("busybox-static"), files, entrypoint: ["/agnhost", "pause"] },
    [`${testImages}/busybox:1.37.0-1`]: shell,
    [`${testImages}/nginx:1.15-4`]: webServer,
    [`${testImages}/nginx:1.27-0`]: webServer,
    [`${testImages}/nautilus:1.8`]: pageServer("nautilus", folder),
    [`${testImages}/kitten:1.8`]: pageServer("kitten", folder),
    [`${testImages}/nonewprivs:1.4`]: userPrinter(agnhost, folder),
    // Its servers keep their objects in it, and 3.5 is what Debian has.
    "registry.k8s.io/etcd:3.6.8-0": etcd,
    [`${testImages}/sample-apiserver:1.29.2`]: {
      closure: closure("busybox-static"),
      files: [{ from: sampleServer, to: "/sample-apiserver" }],
      entrypoint: ["/sample-apiserver"],
      env: path,
    },
    [`${testImages}/nonroot:1.5`]: { ...shell, user: "1234", command: ["id", "-u"] },
  };
}

/** Loads each image that is not loaded yet, or was made of something else. */
export async function loadSuiteImages(suite: Suite, signal: AbortSignal): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-suite-files-"));
  try {
    await loadMadeImages(sourcesOf(suite, folder), join(dirname(suite.suite), "images.json"), signal);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
