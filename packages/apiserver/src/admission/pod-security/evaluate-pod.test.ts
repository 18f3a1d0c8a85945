import { expect, test } from "vitest";
import { evaluatePod, violationsText } from "./evaluate-pod.ts";
import type { SecurityPolicy } from "./namespace-policy.ts";

const container = {
  name: "a",
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
};
const good = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  containers: [container],
};

function text(level: SecurityPolicy["level"], spec: object, minor = 36, metadata: object = {}): string {
  return violationsText(evaluatePod({ level, version: "latest", minor }, { metadata, spec }));
}

function withContext(context: object, more: object = {}): object {
  return {
    ...good,
    containers: [{ ...container, ...more, securityContext: { ...container.securityContext, ...context } }],
  };
}

test("a hardened pod passes every level", () => {
  expect(text("baseline", good)).toBe("");
  expect(text("restricted", good)).toBe("");
});

test("a plain pod passes baseline, and restricted names all that it lacks in upstream's words", () => {
  const plain = { containers: [{ name: "x" }] };
  expect(text("baseline", plain)).toBe("");
  expect(text("restricted", plain)).toBe(
    'allowPrivilegeEscalation != false (container "x" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "x" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "x" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "x" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  );
});

test.each([
  [withContext({ privileged: true }), 'privileged (container "a" must not set securityContext.privileged=true)'],
  [
    withContext({ capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "CHOWN", "SYS_TIME"] } }),
    'non-default capabilities (container "a" must not include "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
  ],
  [{ ...good, hostNetwork: true, hostIPC: true }, "host namespaces (hostNetwork=true, hostIPC=true)"],
  [
    {
      ...good,
      volumes: [
        { name: "v", hostPath: { path: "/" } },
        { name: "w", hostPath: { path: "/" } },
      ],
    },
    'hostPath volumes (volumes "v", "w")',
  ],
  [
    withContext({}, { ports: [{ hostPort: 80 }, { hostPort: 0 }, { hostPort: 443 }] }),
    'hostPort (container "a" uses hostPorts 443, 80)',
  ],
  [
    withContext({}, { livenessProbe: { httpGet: { host: "127.0.0.1" } } }),
    'probe or lifecycle host (container "a" uses probe or lifecycle host "127.0.0.1")',
  ],
  [
    withContext({ procMount: "Unmasked" }),
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    withContext({ seLinuxOptions: { type: "spc_t", user: "root" } }),
    'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
  ],
  [
    { ...good, securityContext: { seccompProfile: { type: "Unconfined" } } },
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [{ ...good, securityContext: { sysctls: [{ name: "kernel.msgmax" }] } }, "forbidden sysctls (kernel.msgmax)"],
  [
    withContext({ windowsOptions: { hostProcess: true } }),
    'hostProcess (container "a" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    withContext({ appArmorProfile: { type: "Unconfined" } }),
    'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
  ],
])("baseline refuses what leaves the pod (%#)", (spec, expected) => {
  expect(text("baseline", spec)).toBe(expected);
});

test.each([
  [
    { ...good, volumes: [{ name: "v", hostPath: { path: "/" } }] },
    'restricted volume types (volume "v" uses restricted volume type "hostPath")',
  ],
  [
    withContext({ runAsNonRoot: false }),
    'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  ],
  [withContext({ runAsUser: 0 }), 'runAsUser=0 (container "a" must not set runAsUser=0)'],
  [
    withContext({ capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE", "CHOWN"] } }),
    'unrestricted capabilities (container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    withContext({ seccompProfile: { type: "Unconfined" } }),
    'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
])("restricted refuses what a hardened pod does without (%#)", (spec, expected) => {
  expect(text("restricted", spec)).toBe(expected);
});

test("init and ephemeral containers are looked at like the others", () => {
  const root = { name: "i", securityContext: { privileged: true } };
  const spec = { ...good, initContainers: [root], ephemeralContainers: [{ ...root, name: "e" }] };
  expect(text("baseline", spec)).toBe('privileged (containers "i", "e" must not set securityContext.privileged=true)');
});

test("an older version asks what it asked", () => {
  expect(text("restricted", withContext({ runAsUser: 0 }), 22)).toBe("");
  const probe = withContext({}, { readinessProbe: { tcpSocket: { host: "10.0.0.1" } } });
  expect([text("baseline", probe, 33), text("baseline", probe, 34) === ""]).toEqual(["", false]);
  const annotations = { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" };
  expect(text("baseline", good, 18, { annotations })).toBe(
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  );
});
