/**
 * Images that people and tutorials name without a registry of their own, and the Debian packages that stand
 * for them. One package stands for all tags of an image: its version is Debian's, whatever the tag says.
 */
import type { CatalogueEntry } from "./catalogue-entry.ts";
import type { ImageSource } from "./image.ts";

const path = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

/** Programs of busybox, as upstream's image links them. */
const applets = [
  ..."[ arch ash awk base64 basename bunzip2 bzip2 cat chgrp chmod chown cksum clear cmp cp cut date dd df".split(" "),
  ..."diff dirname dmesg du echo egrep env expand expr false fgrep find fold free getopt grep groups gunzip".split(" "),
  ..."gzip head hexdump hostname httpd id ip kill killall less ln logger ls md5sum mkdir mkfifo mktemp more".split(" "),
  ..."mount mv nc netstat nice nl nohup nproc nslookup od paste pgrep pidof ping pkill printenv printf ps pwd".split(
    " ",
  ),
  ..."readlink realpath renice rm rmdir sed seq sh sha1sum sha256sum sha512sum shuf sleep sort split stat".split(" "),
  ..."strings stty sync tac tail tar tee telnet test time timeout top touch tr traceroute true truncate tty".split(" "),
  ..."umount uname uniq unzip uptime usleep vi watch wc wget which who whoami xargs xxd yes zcat".split(" "),
];

const busybox: ImageSource = {
  closure: { suite: "bookworm", packages: ["busybox-static"] },
  links: Object.fromEntries(applets.map((name) => [`/usr/bin/${name}`, "/bin/busybox"])),
  env: path,
  command: ["sh"],
};

const pause: ImageSource = {
  closure: { suite: "bookworm", packages: ["busybox-static"] },
  command: ["/bin/busybox", "sh", "-c", "trap 'exit 0' TERM INT; /bin/busybox sleep infinity & wait"],
};

/**
 * Debian's configuration names a user that only a script of its package makes, and keeps what it receives in
 * a folder of the image, which is read-only.
 */
const nginxConfiguration = [
  "user root; daemon off; worker_processes 1; pid /tmp/nginx.pid; error_log /dev/stderr; events {}",
  "http { include /etc/nginx/mime.types; access_log /dev/stdout; include /etc/nginx/conf.d/*.conf;",
  ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path /tmp/nginx-${name};`),
  "server { listen 80 default_server; root /usr/share/nginx/html; } }",
].join(" ");

const nginx: ImageSource = {
  closure: { suite: "bookworm", packages: ["nginx-light", "dash", "coreutils"] },
  env: path,
  command: [
    "sh",
    "-c",
    `echo root:x:0:0::/root:/bin/sh >>/etc/passwd; echo root:x:0: >>/etc/group
echo '${nginxConfiguration}' >/tmp/nginx.conf && exec nginx -c /tmp/nginx.conf`,
  ],
};

/** In the folder of its volume, when there is one, as upstream's image. */
const redis: ImageSource = {
  closure: { suite: "bookworm", packages: ["redis-server", "redis-tools", "dash", "coreutils"] },
  env: path,
  entrypoint: ["sh", "-c", 'cd /data 2>/dev/null || cd /tmp; exec "$@"', "sh"],
  command: ["redis-server", "--protected-mode", "no"],
};

/** As upstream's image: its user, which owns the data, has the number 999. */
function postgres(suite: string, major: string): ImageSource {
  const bin = `/usr/lib/postgresql/${major}/bin`;
  return {
    closure: { suite, packages: [`postgresql-${major}`, "dash", "coreutils", "tar"] },
    users: { postgres: 999 },
    env: { PATH: `${path.PATH}:${bin}`, PG_MAJOR: major, PGDATA: "/var/lib/postgresql/data" },
    command: ["postgres"],
  };
}

/** As CloudNativePG's image: its user has the number 998. Debian 12 has no auth_dbname yet. */
const pgbouncer: ImageSource = {
  closure: { suite: "trixie", packages: ["pgbouncer", "dash", "coreutils"] },
  users: { pgbouncer: 998 },
  env: { PATH: path.PATH },
  command: ["pgbouncer", "--version"],
};

const modules = ["mpm_event", "authz_core", "dir", "mime"];

/** Debian's configuration is for one server of a host. Apache does not serve as root. */
const httpdConfiguration = [
  ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
  ...["ServerRoot /tmp", "ServerName localhost", "PidFile /tmp/httpd.pid", "Listen 80", "User #33", "Group #33"],
  ...["ErrorLog /dev/stderr", "TypesConfig /etc/mime.types", "DirectoryIndex index.html"],
  ...['LogFormat "%h %l %u %t \\"%r\\" %>s %b" common', "CustomLog /dev/stdout common"],
  ...["DocumentRoot $pages", "<Directory />", "Require all granted", "</Directory>"],
];

/** Serves the volume that is where upstream's image has its pages, else one page. */
const httpd: ImageSource = {
  closure: { suite: "bookworm", packages: ["apache2-bin", "media-types", "dash", "coreutils"] },
  env: path,
  command: [
    "sh",
    "-c",
    `pages=/usr/local/apache2/htdocs
[ -e $pages ] || { pages=/tmp/htdocs; mkdir -p $pages; echo '<h1>It works!</h1>' >$pages/index.html; }
echo www-data:x:33:33::/:/bin/sh >>/etc/passwd; echo www-data:x:33: >>/etc/group
cat >/tmp/httpd.conf <<END
${httpdConfiguration.join("\n")}
END
exec apache2 -D FOREGROUND -f /tmp/httpd.conf`,
  ],
};

const memcached: ImageSource = {
  closure: { suite: "bookworm", packages: ["memcached", "dash", "coreutils"] },
  env: path,
  entrypoint: ["sh", "-c", 'case "$1" in -*) set -- memcached "$@";; esac; exec "$@"', "sh"],
  command: ["memcached"],
  user: "65534:65534",
};

const python: ImageSource = {
  closure: { suite: "bookworm", packages: ["python3", "python3-venv", "dash", "coreutils"] },
  links: { "/usr/local/bin/python": "/usr/bin/python3" },
  env: path,
  command: ["python3"],
};

function tagged(source: ImageSource, tags: string): Readonly<Record<string, ImageSource>> {
  return Object.fromEntries(`latest ${tags}`.split(" ").map((tag) => [tag, source]));
}

/** Their repositories are complete: `busybox` is `docker.io/library/busybox`. */
export const commonImages: readonly CatalogueEntry[] = [
  { repositories: ["docker.io/library/busybox"], tags: tagged(busybox, "stable 1 1.28 1.35 1.36 1.37 1.36.1 1.37.0") },
  { repositories: ["docker.io/library/alpine"], tags: tagged(busybox, "3 3.18 3.19 3.20 3.21 3.22") },
  {
    repositories: ["docker.io/library/nginx"],
    tags: tagged(nginx, "stable mainline alpine stable-alpine 1 1.14.2 1.16.1 1.22 1.25 1.26 1.27 1.28"),
  },
  { repositories: ["docker.io/library/redis"], tags: tagged(redis, "alpine 6 7 7.0 7.2 7.4 8") },
  {
    repositories: ["docker.io/library/postgres"],
    tags: {
      ...Object.fromEntries(["15", "15-bookworm"].map((tag) => [tag, postgres("bookworm", "15")])),
      ...Object.fromEntries(["17", "17-trixie", "latest"].map((tag) => [tag, postgres("trixie", "17")])),
    },
  },
  { repositories: ["ghcr.io/cloudnative-pg/pgbouncer"], tags: tagged(pgbouncer, "1.24 1.24.1") },
  { repositories: ["docker.io/library/httpd"], tags: tagged(httpd, "alpine 2 2.4 2.4-alpine") },
  { repositories: ["docker.io/library/memcached"], tags: tagged(memcached, "alpine 1 1.6 1.6-alpine") },
  { repositories: ["docker.io/library/python"], tags: tagged(python, "slim 3 3-slim 3.11 3.11-slim") },
  { repositories: ["registry.k8s.io/pause"], tags: tagged(pause, "3.8 3.9 3.10 3.10.1") },
];
