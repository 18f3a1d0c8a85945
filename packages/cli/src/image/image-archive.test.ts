import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { writeImageArchive } from "./image-archive.ts";

const reference = "example.dev/app:1.0";
const longPath = `node_modules/${"deep/".repeat(30)}file.js`;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "oci-archive-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function sampleRoot(seconds: number): string {
  const root = folder();
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  writeFileSync(join(root, "usr/bin/app"), "#!/bin/sh\n");
  chmodSync(join(root, "usr/bin/app"), 0o4755);
  writeFileSync(join(root, "usr/ünï.txt"), "x".repeat(100_000));
  writeFileSync(join(root, "empty"), "");
  symlinkSync("usr/bin", join(root, "bin"));
  symlinkSync(`/${longPath}`, join(root, "long-link"));
  mkdirSync(join(root, longPath, ".."), { recursive: true });
  writeFileSync(join(root, longPath), "deep");
  utimesSync(join(root, "empty"), seconds, seconds);
  return root;
}

/** Lets the system's tar judge what was written. */
function unpack(file: string): string {
  const target = folder();
  execFileSync("tar", ["-xpf", file, "-C", target]);
  return target;
}

const parse = (path: string): Record<string, never> => JSON.parse(readFileSync(path, "utf8")) as Record<string, never>;
const blob = (layout: string, digest: string): string => join(layout, "blobs", digest.replace(":", "/"));

async function archive(root: string, more: object = {}): Promise<{ readonly out: string; readonly digest: string }> {
  const out = join(folder(), "image.tar");
  return { out, digest: await writeImageArchive({ reference, root, out, ...more }) };
}

test("the layer unpacks to the folder: contents, modes, symlinks and long names", async () => {
  const { out } = await archive(sampleRoot(1));
  const layout = unpack(out);
  const [{ Layers }] = parse(join(layout, "manifest.json")) as unknown as [{ Layers: [string] }];
  const root = unpack(join(layout, Layers[0]));
  expect(readFileSync(join(root, "usr/bin/app"), "utf8")).toBe("#!/bin/sh\n");
  expect(lstatSync(join(root, "usr/bin/app")).mode & 0o7777).toBe(0o4755);
  expect(lstatSync(join(root, "usr/ünï.txt")).size).toBe(100_000);
  expect(lstatSync(join(root, "empty")).size).toBe(0);
  expect(readlinkSync(join(root, "bin"))).toBe("usr/bin");
  expect(readlinkSync(join(root, "long-link"))).toBe(`/${longPath}`);
  expect(readFileSync(join(root, longPath), "utf8")).toBe("deep");
  expect(readdirSync(root).sort()).toEqual(["bin", "empty", "long-link", "node_modules", "usr"]);
});

test("every blob is named by its hash, and the index leads to all of them", async () => {
  const { out, digest } = await archive(sampleRoot(1), {
    entrypoint: ["/usr/bin/app"],
    env: { A: "b=c" },
    workingDirectory: "/usr",
  });
  const layout = unpack(out);
  for (const name of readdirSync(join(layout, "blobs/sha256"))) {
    expect(
      createHash("sha256")
        .update(readFileSync(join(layout, "blobs/sha256", name)))
        .digest("hex"),
    ).toBe(name);
  }
  expect(parse(join(layout, "oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" });
  const [entry] = parse(join(layout, "index.json"))["manifests"] as unknown as [
    { digest: string; annotations: object },
  ];
  expect(entry).toMatchObject({
    digest,
    annotations: { "io.containerd.image.name": reference, "org.opencontainers.image.ref.name": "1.0" },
  });
  const manifest = parse(blob(layout, digest)) as unknown as {
    config: { digest: string };
    layers: [{ digest: string }];
  };
  expect(parse(blob(layout, manifest.config.digest))).toMatchObject({
    os: "linux",
    config: { Entrypoint: ["/usr/bin/app"], Env: ["A=b=c"], WorkingDir: "/usr" },
    rootfs: { type: "layers", diff_ids: [manifest.layers[0].digest] },
  });
});

test("equal folders give equal archives, whenever they were made", async () => {
  const [first, second] = [await archive(sampleRoot(1)), await archive(sampleRoot(1_000_000))];
  expect(first.digest).toBe(second.digest);
  expect(readFileSync(first.out).equals(readFileSync(second.out))).toBe(true);
});

test("an archive that could not be completed does not exist", async () => {
  const out = join(folder(), "image.tar");
  await expect(writeImageArchive({ reference, root: "/does/not/exist", out })).rejects.toThrow("ENOENT");
  expect(existsSync(out)).toBe(false);
  expect(existsSync(`${out}.partial`)).toBe(false);
});
