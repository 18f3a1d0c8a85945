/** From the lists of system calls to the profile that the runtime loads. */
import { lookupTable } from "@setpoint/apimachinery";
import { allowedCalls, callsByCapability, deniedCalls, keyCalls } from "./system-calls.ts";

export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  readonly args?: readonly SeccompArgument[];
}

interface SeccompArgument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_LT" | "SCMP_CMP_GT" | "SCMP_CMP_MASKED_EQ";
}

export interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly defaultErrnoRet?: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly SeccompRule[];
}

const notPermitted = 1;
const notImplemented = 38;

/**
 * CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: new namespaces are new ways to the kernel.
 */
const namespaceFlags = 0x7e_02_00_00;

/** AF_ALG and AF_VSOCK: the kernel's cryptography and the machine's hypervisor. */
const refusedFamilies = { alg: 38, vsock: 40 };

/** PER_LINUX, UNAME26 and PER_LINUX32 by themselves and together, and the question which one it is. */
const personalities = [0x0, 0x8, 0x2_00_00, 0x2_00_08, 0xff_ff_ff_ff];

const architectures: Readonly<Record<string, string>> = lookupTable({
  x64: "SCMP_ARCH_X86_64",
  arm64: "SCMP_ARCH_AARCH64",
});

/**
 * The default profile for a container with these capabilities on a machine of this architecture, as Node
 * names it.
 */
export function defaultSeccompProfile(capabilities: readonly string[], architecture: string): SeccompProfile {
  const held = new Set(capabilities);
  const given = Object.entries(callsByCapability).flatMap(([name, calls]) => (held.has(name) ? calls : []));
  const refused = Object.values(callsByCapability)
    .flat()
    .filter((call) => !given.includes(call));
  const denied = [...new Set([...deniedCalls, ...refused])];
  const known = architectures[architecture];
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: notImplemented,
    architectures: known === undefined ? [] : [known],
    syscalls: [
      { names: [...allowedCalls, ...new Set(given)], action: "SCMP_ACT_ALLOW" },
      { names: denied, action: "SCMP_ACT_ERRNO", errnoRet: notPermitted },
      ...(held.has("CAP_SYS_ADMIN") ? [allow("clone"), allow("clone3")] : [plainClone]),
      allow("socket", { index: 0, value: refusedFamilies.alg, op: "SCMP_CMP_LT" }),
      allow("socket", { index: 0, value: refusedFamilies.alg + 1, op: "SCMP_CMP_EQ" }),
      allow("socket", { index: 0, value: refusedFamilies.vsock, op: "SCMP_CMP_GT" }),
      ...personalities.map((value) => allow("personality", { index: 0, value, op: "SCMP_CMP_EQ" })),
    ],
  };
}

/** Architectures whose programs a machine runs; what is not named, the filter ends. */
const foreignArchitectures: Readonly<Record<string, readonly string[]>> = lookupTable({
  x64: ["SCMP_ARCH_X86", "SCMP_ARCH_X32"],
  arm64: ["SCMP_ARCH_ARM"],
});

/**
 * For a container without a filter: all but the keys of the node's session, which each of its processes would
 * inherit.
 */
export function unconfinedSeccompProfile(architecture: string): SeccompProfile {
  const known = architectures[architecture];
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    architectures: known === undefined ? [] : [known, ...(foreignArchitectures[architecture] ?? [])],
    syscalls: [{ names: keyCalls, action: "SCMP_ACT_ERRNO", errnoRet: notPermitted }],
  };
}

/**
 * Threads and processes. The flags of `clone3` lie in memory that a filter cannot read, so programs fall back
 * to this.
 */
const plainClone = allow("clone", { index: 0, value: namespaceFlags, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" });

function allow(name: string, ...args: readonly SeccompArgument[]): SeccompRule {
  return { names: [name], action: "SCMP_ACT_ALLOW", ...(args.length === 0 ? {} : { args }) };
}
