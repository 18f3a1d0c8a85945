/** How the operator asks the primary's manager about roles and databases. */
import {
  type DatabaseAnswer,
  type DatabaseChange,
  databasePath,
  type DatabaseQuestion,
  databaseQuestionPath,
  type DatabaseRemoval,
  databaseRemovalPath,
} from "./database-protocol.ts";
import type { ManagerCertificates } from "./instance-gateway.ts";
import {
  type RemovalAnswer,
  type RoleAnswer,
  type RoleChange,
  rolePath,
  type RoleQuestion,
  roleQuestionPath,
  type RoleRemoval,
  roleRemovalPath,
} from "./inner-protocol.ts";
import { exchangeJson } from "./json-exchange.ts";

/** The manager's own limit of one statement is shorter. */
const deadlineMs = 20_000;

/** Where a manager is, and how both sides prove who they are. */
export interface ManagerAddress {
  readonly url: string;
  readonly certificates: ManagerCertificates;
}

/** Every call rejects with the manager's or PostgreSQL's own sentence. */
export interface InnerGateway {
  readonly askRoles: (at: ManagerAddress, question: RoleQuestion, signal: AbortSignal) => Promise<RoleAnswer>;
  readonly changeRoles: (at: ManagerAddress, change: RoleChange, signal: AbortSignal) => Promise<void>;
  readonly removeRoles: (at: ManagerAddress, removal: RoleRemoval, signal: AbortSignal) => Promise<RemovalAnswer>;
  readonly askDatabase: (
    at: ManagerAddress,
    question: DatabaseQuestion,
    signal: AbortSignal,
  ) => Promise<DatabaseAnswer>;
  readonly changeDatabase: (at: ManagerAddress, change: DatabaseChange, signal: AbortSignal) => Promise<void>;
  readonly removeDatabase: (
    at: ManagerAddress,
    removal: DatabaseRemoval,
    signal: AbortSignal,
  ) => Promise<RemovalAnswer>;
}

/** Over HTTPS. */
export const httpsInnerGateway: InnerGateway = {
  askRoles: async (...call) => (await send("POST", roleQuestionPath, ...call)) as RoleAnswer,
  changeRoles: async (...call) => void (await send("PUT", rolePath, ...call)),
  removeRoles: async (...call) => (await send("POST", roleRemovalPath, ...call)) as RemovalAnswer,
  askDatabase: async (...call) => (await send("POST", databaseQuestionPath, ...call)) as DatabaseAnswer,
  changeDatabase: async (...call) => void (await send("PUT", databasePath, ...call)),
  removeDatabase: async (...call) => (await send("POST", databaseRemovalPath, ...call)) as RemovalAnswer,
};

async function send(
  method: "PUT" | "POST",
  path: string,
  { url, certificates: { ca, certificate: cert, key, serverName } }: ManagerAddress,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  try {
    return await exchangeJson(`${url}${path}`, { method, body, ca, cert, key, serverName, signal: within });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(sentenceOf(error), { cause: error });
  }
}

/** What the answer says, without the address. */
function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const body = /answered \d+: (\{.*\})$/s.exec(message)?.[1];
  if (body === undefined) return message;
  try {
    const { error: sentence } = JSON.parse(body) as { readonly error?: unknown };
    return typeof sentence === "string" ? sentence : message;
  } catch {
    return message;
  }
}
