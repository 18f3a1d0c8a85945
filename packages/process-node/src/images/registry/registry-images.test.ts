import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createImageCatalog } from "../image-catalog.ts";
import { ImageStore } from "../image-store.ts";
import { type FixtureImage, sha256, tarOf } from "../oci/archive.fixture.ts";
import { archiveLimits } from "../oci/limits.ts";
import { LoadedImages } from "../oci/loaded-images.ts";
import { FakeRegistry } from "./fake-registry.fixture.ts";
import type { PullSecret } from "./pull-credentials.ts";
import { RegistryImages } from "./registry-images.ts";

let directory: string;
let registry: FakeRegistry;
let image: FixtureImage;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "setpoint-registry-images-"));
  registry = await FakeRegistry.start();
  onTestFinished(async () => {
    await registry[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  image = { layers: [await tarOf([{ name: "taste", content: "sweet" }])], config: { User: "7", Cmd: ["taste"] } };
});

function images(): RegistryImages {
  return new RegistryImages({ clock: systemClock, directory, fetch });
}

function login(host: string, username: string, password: string): PullSecret {
  return { data: { ".dockerconfigjson": JSON.stringify({ auths: { [host]: { username, password } } }) } };
}

/** A pod with these secrets. */
function by(...secrets: readonly PullSecret[]): { readonly secrets: () => Promise<readonly PullSecret[]> } {
  return { secrets: async () => secrets };
}

function requireBasic(user: string): void {
  const expected = `Basic ${Buffer.from(user).toString("base64")}`;
  registry.onRequest = ({ headers }) =>
    headers.authorization === expected
      ? undefined
      : { status: 401, headers: { "www-authenticate": 'Basic realm="candy"' }, body: headers.authorization ?? "" };
}

test("an image is pulled once, verified and unpacked as its manifest says, and nothing else is left", async () => {
  const digest = registry.serve("shop/candy", "1", image);
  const pulled = await images().ensure(`${registry.name}/shop/candy:1`, {});
  expect(pulled).toMatchObject({ manifestDigest: digest, config: { user: "7", command: ["taste"] } });
  const root = join(directory, new LoadedImages(directory).folderOf(pulled.id));
  expect(readFileSync(join(root, "taste"), "utf8")).toBe("sweet");
  expect(readdirSync(directory).filter((name) => name.startsWith("pull-"))).toEqual([]);
  const requests = registry.requests.length;
  await images().ensure(`${registry.name}/shop/candy:1`, {});
  expect(registry.requests).toHaveLength(requests);
});

test("a fresh pull asks for the manifest again, fetches no layer twice, and follows a tag that moved", async () => {
  const name = `${registry.name}/candy:1`;
  registry.serve("candy", "1", image);
  const first = await images().ensure(name, {});
  const layer = `/blobs/${sha256(image.layers[0] ?? "")}`;
  await images().ensure(name, { isFresh: true });
  expect(registry.requests.filter((each) => each.includes(layer))).toHaveLength(1);
  registry.serve("candy", "1", { layers: [await tarOf([{ name: "taste", content: "sour" }])] });
  const second = await images().ensure(name, { isFresh: true });
  expect(second.id).not.toBe(first.id);
  expect(await images().ensure(name, {})).toEqual(second);
});

test("the manifest for this machine is taken from an index, and both digests name the image", async () => {
  const digest = registry.serve("candy", "1", image);
  const own = { architecture: process.arch === "x64" ? "amd64" : process.arch, os: "linux" };
  const manifests = [
    { digest: sha256("other"), size: 5, platform: { os: "linux", architecture: "s390x" } },
    { digest, size: 1, platform: own },
  ];
  const index = registry.tag("candy", "many", JSON.stringify({ schemaVersion: 2, manifests }));
  for (const each of [`candy:many@${index}`, `candy@${digest}`, "candy:many"])
    expect(await images().ensure(`${registry.name}/${each}`, {})).toMatchObject({ manifestDigest: digest });
  const requests = registry.requests.length;
  await images().ensure(`${registry.name}/candy@${index}`, {});
  expect(registry.requests).toHaveLength(requests);
  registry.tag("candy", "foreign", JSON.stringify({ manifests: manifests.slice(0, 1) }));
  await expect(images().ensure(`${registry.name}/candy:foreign`, {})).rejects.toThrow("got linux/s390x");
});

test("a login is sent to its own registry when that asks for it, and no message repeats it", async () => {
  registry.serve("candy", "1", image);
  requireBasic("me:open sesame");
  const name = `${registry.name}/candy:1`;
  const wrong = images().ensure(name, by(login(registry.name, "me", "wrong word")));
  await expect(wrong).rejects.toMatchObject({ code: "ERR_IMAGE_DENIED" });
  expect(String(await wrong.catch((error: unknown) => error))).not.toMatch(/wrong word|Basic [A-Za-z0-9]/);
  await images().ensure(name, by(login("example.com", "me", "elsewhere"), login(registry.name, "me", "open sesame")));
  expect(registry.requests.join("\n")).not.toContain(Buffer.from("me:elsewhere").toString("base64"));
});

test("an image that needed a login is given to no pod without it, also by the digests of another registry", async () => {
  registry.serve("candy", "1", image);
  requireBasic("me:secret");
  const name = `${registry.name}/candy:1`;
  await images().ensure(name, by(login(registry.name, "me", "secret")));
  await expect(images().ensure(name, {})).rejects.toMatchObject({ code: "ERR_IMAGE_DENIED" });
  await using thief = await FakeRegistry.start();
  thief.serve("candy", "1", image);
  const layer = image.layers[0] ?? Buffer.alloc(0);
  thief.answers.set(`/v2/candy/blobs/${sha256(layer)}`, { body: Buffer.alloc(layer.length) });
  await expect(images().ensure(`${thief.name}/candy:1`, {})).rejects.toThrow("is damaged");
});

test("a token is fetched with the login and used instead of it", async () => {
  registry.serve("shop/candy", "1", image);
  const basic = `Basic ${Buffer.from("me:secret").toString("base64")}`;
  registry.onRequest = ({ url = "", headers: { authorization } }) => {
    if (url === "/token?service=hub&scope=repository%3Ashop%2Fcandy%3Apull" && authorization === basic)
      return { body: '{"token": "t0"}' };
    if (authorization === "Bearer t0") return undefined;
    const challenge = `Bearer realm="http://${registry.name}/token",service="hub",scope="registry:catalog:*"`;
    return { status: 401, headers: { "www-authenticate": challenge } };
  };
  await images().ensure(`${registry.name}/shop/candy:1`, by(login(registry.name, "me", "secret")));
});

test.each(["http://192.0.2.1/token", "file:///etc/shadow", "nonsense"])("no token is asked of %s", async (realm) => {
  registry.onRequest = () => ({ status: 401, headers: { "www-authenticate": `Bearer realm="${realm}"` } });
  await expect(images().ensure(`${registry.name}/candy:1`, {})).rejects.toThrow("an address that is not allowed");
});

test("blobs may lie elsewhere, where the login is not sent; plain HTTP outside of this host is refused", async () => {
  await using storage = await FakeRegistry.start();
  registry.serve("candy", "1", image);
  storage.serve("candy", "1", image);
  const layer = `/v2/candy/blobs/${sha256(image.layers[0] ?? "")}`;
  requireBasic("me:secret");
  const pod = by(login(registry.name, "me", "secret"));
  registry.answers.set(layer, { status: 307, headers: { location: `http://192.0.2.1${layer}?key=s3` } });
  const refused = images().ensure(`${registry.name}/candy:1`, pod);
  await expect(refused).rejects.toThrow("refers to http://192.0.2.1, where images may not come from");
  registry.answers.set(layer, { status: 307, headers: { location: `http://${storage.name}${layer}` } });
  await images().ensure(`${registry.name}/candy:1`, pod);
  expect(storage.requests).toEqual([`GET ${layer}`]);
  registry.answers.set("/v2/loop/manifests/1", { status: 302, headers: { location: "/v2/loop/manifests/1" } });
  await expect(images().ensure(`${registry.name}/loop:1`, pod)).rejects.toThrow("more than 5 redirects");
});

test.each<[string, (layer: Buffer) => Buffer, string]>([
  ["other", (layer) => Buffer.from(layer).fill(1, 600, 601), "is damaged"],
  ["more", (layer) => Buffer.concat([layer, Buffer.alloc(10_000_000)]), "is longer than"],
  ["fewer", (layer) => layer.subarray(1), "ended after"],
])("a layer of %s bytes than the manifest says is refused, and leaves nothing", async (_, change, message) => {
  registry.serve("candy", "1", image);
  const layer = image.layers[0] ?? Buffer.alloc(0);
  registry.answers.set(`/v2/candy/blobs/${sha256(layer)}`, { body: change(layer) });
  await expect(images().ensure(`${registry.name}/candy:1`, {})).rejects.toThrow(message);
  expect(readdirSync(directory)).toEqual([]);
});

test.each<[string, object, string]>([
  ["a manifest of schema 1", { schemaVersion: 1, fsLayers: [] }, "expected an OCI or Docker (schema 2) manifest"],
  ["a digest that is a path", { config: { digest: "sha256:../../etc/shadow", size: 1 }, layers: [] }, "hexadecimal"],
  ["a negative size", { config: { digest: sha256("a"), size: -1 }, layers: [] }, "config.size is -1"],
  ["a layer too large", { config: {}, layers: [{ digest: sha256("a"), size: 2 ** 50 }] }, "layers[0].size"],
  ["too many layers", { config: {}, layers: Array.from({ length: 501 }, () => ({})) }, "at most 500 entries"],
])("%s is refused", async (_, manifest, message) => {
  registry.tag("candy", "1", JSON.stringify(manifest));
  await expect(images().ensure(`${registry.name}/candy:1`, {})).rejects.toThrow(message);
});

test("an index that leads to itself ends", async () => {
  const platform = { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch };
  const inner = { digest: sha256("inner"), size: 1, platform };
  registry.onRequest = () => ({ body: JSON.stringify({ manifests: [inner] }) });
  await expect(images().ensure(`${registry.name}/candy:1`, {})).rejects.toThrow("the manifest is damaged");
});

test("a manifest without an end is cut off", async () => {
  registry.tag("candy", "1", Buffer.alloc(archiveLimits.documentBytesMax + 1, " "));
  await expect(images().ensure(`${registry.name}/candy:1`, {})).rejects.toThrow("bytes of a manifest");
});

test("text of an answer that is no known error is not repeated", async () => {
  registry.onRequest = () => ({ status: 500, body: '{"errors":[{"code":"me:secret","message":"me:secret"}]}' });
  const pulled = images().ensure(`${registry.name}/candy:1`, by(login(registry.name, "me", "secret")));
  await expect(pulled).rejects.toThrow(/^registry "127.0.0.1:\d+" answers for manifests\/1 with 500$/);
});

test("a tag that is not there, and a registry that does not answer, are named", async () => {
  await expect(images().ensure(`${registry.name}/candy:2`, {})).rejects.toThrow("with 404 MANIFEST_UNKNOWN");
  await expect(images().ensure("127.0.0.1:1/candy", {})).rejects.toThrow(/"127.0.0.1:1" cannot be reached/);
  await expect(images().ensure("Candy", {})).rejects.toThrow("expected the name of an image");
  await expect(images().ensure("candy@sha256:12", {})).rejects.toThrow("expected a digest");
});

test("a pull that is aborted ends at once and leaves nothing", async () => {
  registry.serve("candy", "1", image);
  const abort = new AbortController();
  registry.onRequest = ({ url = "" }) => {
    if (url.includes("/blobs/")) abort.abort(new Error("the pod was deleted"));
    return undefined;
  };
  const pull = images().ensure(`${registry.name}/candy:1`, { signal: abort.signal });
  await expect(pull).rejects.toThrow("the pod was deleted");
  expect(existsSync(join(directory, "loaded"))).toBe(false);
});

test("a pulled image that nobody used for two days is removed, one in use stays", async () => {
  registry.serve("candy", "1", image);
  registry.serve("candy", "2", { layers: [await tarOf([{ name: "taste", content: "sour" }])] });
  const store = (): ImageStore =>
    new ImageStore({
      ...{ clock: systemClock, log: silentLogger, directory, catalog: createImageCatalog([]), registries: images() },
    });
  const old = await store().ensure(`${registry.name}/candy:1`);
  const now = store();
  const used = await now.ensure(`${registry.name}/candy:2`);
  const longAgo = systemClock.now() / 1_000 - 3 * 24 * 3_600;
  for (const { rootDirectory } of [old, used]) utimesSync(rootDirectory, longAgo, longAgo);
  await now.keepHouse();
  expect([old, used].map(({ rootDirectory }) => existsSync(rootDirectory))).toEqual([false, true]);
  expect(now.has(`${registry.name}/candy:1`)).toBe(false);
});
