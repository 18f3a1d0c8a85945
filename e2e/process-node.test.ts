/** Pods on a real cluster of two nodes: what a user of any Kubernetes expects of its kubelets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "@setpoint/apimachinery";
import { isReady, missingForPods, TestCluster, until } from "./node/test-cluster.ts";
import { toolsImage as image } from "./node/tools-image.ts";

const reason = missingForPods();
if (reason !== "") process.stderr.write(`process-node: skipped, ${reason}\n`);

interface VolumeView extends KubeObject {
  readonly spec: { readonly hostPath: { readonly path: string } };
}

describe.skipIf(reason !== "")("pods", () => {
  const parts = new AsyncDisposableStack();
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = parts.use(await TestCluster.start(2));
    await cluster.apply(everything);
  }, 60_000);
  afterAll(() => parts.disposeAsync());

  const sh = async (pod: string, script: string, container?: string): Promise<string> => {
    const { stdout, stderr } = await cluster.exec(pod, ["sh", "-c", script], undefined, container);
    return stdout + stderr;
  };

  test("init containers run first, then containers side by side, over one volume", async () => {
    const pod = await cluster.pod("pair", isReady);
    expect(pod.status.initContainerStatuses).toMatchObject([
      { name: "prepare", state: { terminated: { exitCode: 0 } } },
    ]);
    expect(pod.status.containerStatuses.map(({ name, ready }) => [name, ready])).toEqual([
      ["main", true],
      ["helper", true],
    ]);
    expect(await sh("pair", "cat /work/greeting", "helper")).toBe("hello from prepare\n");
  });

  test("variables and files come from ConfigMap, Secret and the pod itself", async () => {
    const pod = await cluster.pod("config", isReady);
    expect(
      await sh("config", "echo $COLOR $PASSWORD $POD_IP; cat /etc/app/color /etc/secret/password /etc/info/labels"),
    ).toBe(`blue s3cret ${pod.status.podIP}\nblues3cretapp="config"`);
    await cluster.apply(configMap("green"));
    await until("the file changes", 10, async () =>
      (await sh("config", "cat /etc/app/color")) === "green" ? true : undefined,
    );
    expect(await sh("config", "echo $COLOR")).toBe("blue\n");
  });

  test("a service is reached by its cluster IP and by its names, from the other node as well", async () => {
    const [web1, web2] = await Promise.all([cluster.pod("web-1", isReady), cluster.pod("web-2", isReady)]);
    expect(new Set([web1.spec.nodeName, web2.spec.nodeName]).size).toBe(2);
    const service = await cluster.get<KubeObject & { spec: { clusterIP: string } }>("Service", "web");
    for (const host of [service?.spec.clusterIP ?? "", "web", "web.default.svc.cluster.local"]) {
      for (const client of ["web-1", "web-2"]) {
        const script = `for i in 1 2 3 4 5 6; do wget -qO- http://${host}/name; done`;
        await until(`${host} answers in ${client} by both`, 10, async () => {
          const answers = new Set((await sh(client, script)).trim().split("\n"));
          return [...answers].sort().join() === "web-1,web-2" ? answers : undefined;
        });
      }
    }
  });

  test("a headless service names each of its pods, ready or not", async () => {
    const [db] = await Promise.all([
      cluster.pod("db-0", ({ status }) => status.containerStatuses[0]?.state.running !== undefined),
      cluster.pod("pair", isReady),
    ]);
    expect(isReady(db)).toBe(false);
    for (const name of ["db.default.svc.cluster.local", "db-0.db.default.svc.cluster.local"]) {
      await until(`${name} resolves`, 10, async () => {
        const answer = await sh("pair", `nslookup ${name}`, "helper");
        return answer.includes(`Address: ${db.status.podIP}`) ? answer : undefined;
      });
    }
    expect(await sh("pair", "nslookup nope.default.svc.cluster.local", "helper")).toContain("NXDOMAIN");
  });

  test("a sidecar starts first, serves while the pod works, and ends after it", async () => {
    const pod = await cluster.pod("job", ({ status }) => status.phase === "Succeeded");
    expect(await cluster.logs("job", { container: "main" })).toBe("served by the sidecar\n");
    expect(pod.status.initContainerStatuses?.[0]?.state.terminated).toBeDefined();
  });

  test("a pod that is not ready gets no traffic", async () => {
    await cluster.pod("web-2", isReady);
    await sh("web-2", "touch /tmp/broken");
    await cluster.pod("web-2", (pod) => !isReady(pod));
    const ask = "for i in 1 2 3 4 5 6; do wget -qO- http://web/name; done";
    await until("only web-1 answers", 10, async () =>
      (await sh("web-1", ask)) === "web-1\n".repeat(6) ? true : undefined,
    );
    await sh("web-2", "rm -f /tmp/broken");
    await cluster.pod("web-2", isReady);
  });

  test("exec passes input, both outputs and the exit code", async () => {
    await cluster.pod("pair", isReady);
    const result = await cluster.exec("pair", ["sh", "-c", "cat; echo oops >&2; exit 7"], "typed", "main");
    expect(result).toEqual({ exitCode: 7, stdout: "typed", stderr: "oops\n" });
  });

  test("a failed liveness probe restarts the container; logs -p shows the run before", async () => {
    const pod = await cluster.pod("sick", ({ status }) => (status.containerStatuses[0]?.restartCount ?? 0) > 0, 30);
    const ended = pod.status.containerStatuses[0]?.lastState.terminated;
    expect(ended).toMatchObject({ exitCode: 143, message: "not well\n" });
    expect(await cluster.logs("sick", { previous: "true" })).toMatch(/^run \d+\n/);
    expect((await cluster.events("sick")).join("\n")).toMatch(/Unhealthy: Liveness probe failed/);
  });

  test("logs -f gives lines as they are written and ends with the container", async () => {
    await cluster.apply(counter);
    await cluster.pod("counter", ({ status }) => status.containerStatuses[0]?.state.running !== undefined);
    const parts: string[] = [];
    const text = await cluster.logs("counter", { follow: "true" }, (soFar) => parts.push(soFar));
    expect(text).toBe("1\n2\n3\n4\n5\n6\n");
    expect(parts.length).toBeGreaterThan(1);
    expect(await cluster.logs("counter", { tailLines: "2" })).toBe("5\n6\n");
    expect(await cluster.logs("counter", { limitBytes: "5" })).toBe("1\n2\n3");
    expect((await cluster.logs("counter", { sinceSeconds: "4" })).length).toBeLessThan(12);
    await cluster.pod("counter", ({ status }) => status.phase === "Succeeded");
  });

  test("a container that is killed starts again", async () => {
    await cluster.pod("pair", isReady);
    await sh("pair", "kill -9 $(cat /work/pid)", "main");
    const pod = await cluster.pod("pair", ({ status }) => status.containerStatuses[0]?.restartCount === 1);
    expect(pod.status.containerStatuses[0]?.lastState).toMatchObject({
      terminated: { exitCode: 137, reason: "Error" },
    });
    await cluster.pod("pair", isReady);
  });

  test("a claim keeps its data over pods, and its deletion removes the folder", async () => {
    await cluster.pod("writer", ({ status }) => status.phase === "Succeeded");
    await cluster.delete("Pod", "writer");
    await cluster.apply(claimPod("reader", "cat /data/kept"));
    await cluster.pod("reader", ({ status }) => status.phase === "Succeeded");
    expect(await cluster.logs("reader")).toBe("data\n");
    const claim = await cluster.get<KubeObject & { spec: { volumeName: string } }>("PersistentVolumeClaim", "data");
    const volumeName = claim?.spec.volumeName ?? "";
    expect(await cluster.get<VolumeView>("PersistentVolume", volumeName)).toBeDefined();
    await cluster.delete("Pod", "reader");
    await cluster.delete("PersistentVolumeClaim", "data");
    const isGone = async () => ((await cluster.get("PersistentVolume", volumeName)) === undefined ? true : undefined);
    await until("the volume is gone", 30, isGone);
  });

  test("a container runs as the user it asked for, with a root it cannot write", async () => {
    await cluster.pod("nobody", isReady);
    expect(await sh("nobody", "id -u; id -g")).toBe("65534\n65534\n");
    expect(await sh("nobody", "touch /x; touch /etc/x; touch /tmp/x")).toMatch(
      /^(touch: .*: Read-only file system\n){3}$/,
    );
    expect(await sh("nobody", "touch /cache/x && echo written")).toBe("written\n");
  });

  test("an image that nobody knows is waited for, with what is known", async () => {
    const isRefused = (reason = ""): boolean => ["ErrImagePull", "ImagePullBackOff"].includes(reason);
    const pod = await cluster.pod("unknown", ({ status }) =>
      isRefused(status.containerStatuses[0]?.state.waiting?.reason),
    );
    expect(pod.status.phase).toBe("Pending");
    expect(pod.status.containerStatuses[0]?.state.waiting?.message).toContain("v3.4.23, v3.5.16");
  });
});

const configMap = (color: string): string => `
{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {color: ${color}}}`;

const web = (name: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: web}}
spec:
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
  containers:
    - name: web
      image: ${image}
      env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
      command: [sh, -c, "echo $HOSTNAME > /srv/name; exec httpd -f -p $IP:8080 -h /srv"]
      ports: [{name: http, containerPort: 8080}]
      readinessProbe: {exec: {command: [sh, -c, "! test -e /tmp/broken"]}, periodSeconds: 1, failureThreshold: 1}
`;

const claimPod = (name: string, script: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  restartPolicy: Never
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
  containers:
    - {name: main, image: ${image}, command: [sh, -c, "${script}"], volumeMounts: [{name: data, mountPath: /data}]}
`;

const counter = `
apiVersion: v1
kind: Pod
metadata: {name: counter}
spec:
  restartPolicy: Never
  containers:
    - {name: main, image: ${image}, command: [sh, -c, "for i in 1 2 3 4 5 6; do echo $i; sleep 1; done"]}
`;

const everything = `
${configMap("blue")}
---
{apiVersion: v1, kind: Secret, metadata: {name: app}, stringData: {password: s3cret}}
---
apiVersion: v1
kind: Pod
metadata: {name: pair}
spec:
  volumes: [{name: work, emptyDir: {}}]
  terminationGracePeriodSeconds: 1
  initContainers:
    - {name: prepare, image: ${image}, command: [sh, -c, "echo hello from prepare > /work/greeting"], volumeMounts: [{name: work, mountPath: /work}]}
  containers:
    - {name: main, image: ${image}, command: [sh, -c, "sleep 1000 & echo $! > /work/pid; wait $!; exit $?"], volumeMounts: [{name: work, mountPath: /work}]}
    - {name: helper, image: ${image}, command: [sleep, "1000"], volumeMounts: [{name: work, mountPath: /work, readOnly: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: config, labels: {app: config}}
spec:
  terminationGracePeriodSeconds: 1
  volumes:
    - {name: app, configMap: {name: app}}
    - {name: secret, secret: {secretName: app}}
    - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  containers:
    - name: main
      image: ${image}
      command: [sleep, "1000"]
      env:
        - {name: COLOR, valueFrom: {configMapKeyRef: {name: app, key: color}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: app, key: password}}}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      volumeMounts:
        - {name: app, mountPath: /etc/app}
        - {name: secret, mountPath: /etc/secret}
        - {name: info, mountPath: /etc/info}
---
${web("web-1")}
---
${web("web-2")}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
---
{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: db}}}
---
apiVersion: v1
kind: Pod
metadata: {name: db-0, labels: {app: db}}
spec:
  hostname: db-0
  subdomain: db
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: ${image}
      command: [sleep, "1000"]
      readinessProbe: {tcpSocket: {port: 9}, periodSeconds: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: job}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: proxy
      image: ${image}
      restartPolicy: Always
      env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
      command: [sh, -c, "echo served by the sidecar > /srv/index.html; exec httpd -f -p $IP:8080 -h /srv"]
      startupProbe: {httpGet: {port: 8080, path: /index.html}, periodSeconds: 1}
  containers:
    - name: main
      image: ${image}
      env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
      command: [sh, -c, "wget -qO- http://$IP:8080/index.html"]
---
apiVersion: v1
kind: Pod
metadata: {name: sick}
spec:
  volumes: [{name: runs, emptyDir: {}}]
  containers:
    - name: main
      image: ${image}
      command: [sh, -c, "echo x >> /runs/count; echo run $(wc -l < /runs/count); echo not well > /dev/termination-log; touch /tmp/well; sleep 2; rm /tmp/well; trap 'exit 143' TERM; sleep 1000 & wait"]
      livenessProbe: {exec: {command: [test, -e, /tmp/well]}, periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 1}
      volumeMounts: [{name: runs, mountPath: /runs}]
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}
---
${claimPod("writer", "echo data > /data/kept")}
---
apiVersion: v1
kind: Pod
metadata: {name: nobody}
spec:
  securityContext: {runAsUser: 65534, runAsGroup: 65534, runAsNonRoot: true}
  volumes: [{name: cache, emptyDir: {}}]
  containers:
    - name: main
      image: ${image}
      command: [sleep, "1000"]
      securityContext: {readOnlyRootFilesystem: true}
      volumeMounts: [{name: cache, mountPath: /cache}]
---
apiVersion: v1
kind: Pod
metadata: {name: unknown}
spec:
  containers: [{name: main, image: "quay.io/coreos/etcd:v9"}]
`;
