/**
 * The images that are known by the names they have on real clusters, pinned to the Debian packages that stand
 * for them.
 */
import type { CatalogueEntry } from "./catalogue-entry.ts";
import { commonImages } from "./common-images.ts";
import type { ImageSource } from "./image.ts";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Upstream's images have their programs in /usr/local/bin. */
const etcdLinks = {
  "/usr/local/bin/etcd": "/usr/bin/etcd",
  "/usr/local/bin/etcdctl": "/usr/bin/etcdctl",
};

const etcd34: ImageSource = {
  closure: { suite: "bookworm", packages: ["etcd-server", "etcd-client"] },
  links: etcdLinks,
  version: { package: "etcd-server", upstream: "3.4.23" },
  env: { PATH: path },
  command: ["/usr/local/bin/etcd"],
};

const etcd35: ImageSource = {
  closure: { suite: "trixie", packages: ["etcd-server", "etcd-client"] },
  links: { ...etcdLinks, "/usr/local/bin/etcdutl": "/usr/bin/etcdutl" },
  version: { package: "etcd-server", upstream: "3.5.16" },
  env: { PATH: path },
  command: ["/usr/local/bin/etcd"],
};

/** As upstream's image: its user is nobody. Its tag says what Debian has. */
const prometheus253: ImageSource = {
  closure: { suite: "trixie", packages: ["prometheus"] },
  version: { package: "prometheus", upstream: "2.53.3" },
  env: { PATH: path },
  entrypoint: ["/usr/bin/prometheus"],
  user: "65534:65534",
};

const alertmanager028: ImageSource = {
  closure: { suite: "trixie", packages: ["prometheus-alertmanager"] },
  version: { package: "prometheus-alertmanager", upstream: "0.28.1" },
  env: { PATH: path },
  entrypoint: ["/usr/bin/prometheus-alertmanager"],
  user: "65534:65534",
};

/** Images of real clusters and the Debian closures that replace them. */
export const debianCatalogue: readonly CatalogueEntry[] = [
  {
    repositories: ["quay.io/coreos/etcd", "gcr.io/etcd-development/etcd"],
    tags: { "v3.4.23": etcd34, "v3.5.16": etcd35 },
  },
  { repositories: ["registry.k8s.io/etcd"], tags: { "3.4.23-0": etcd34, "3.5.16-0": etcd35 } },
  { repositories: ["quay.io/prometheus/prometheus"], tags: { "v2.53.3": prometheus253 } },
  { repositories: ["quay.io/prometheus/alertmanager"], tags: { "v0.28.1": alertmanager028 } },
  ...commonImages,
];
