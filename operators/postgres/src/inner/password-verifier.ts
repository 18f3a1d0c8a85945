/**
 * What PostgreSQL stores of a password, computed by the operator: the password itself is in no request and in
 * no statement.
 */
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

const iterations = 4_096;
const keyBytes = 32;
const saltBytes = 16;

/** As RFC 5802 and PostgreSQL's page about pg_authid describe it. */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password, salt, iterations, keyBytes, "sha256");
  const keyOf = (label: string): Buffer => createHmac("sha256", salted).update(label).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyOf("Server Key").toString("base64")}`;
}

/**
 * The server shows the salt to every client that logs in, so it may be derived: an equal password then has an
 * equal verifier, and the operator sees whether the server has it.
 */
export function saltOf(uid: string, role: string): Buffer {
  return createHash("sha256").update(`${uid}/${role}`).digest().subarray(0, saltBytes);
}

/** Of other characters, PostgreSQL and its clients make different bytes. */
const printable = /^[\x20-\x7e]+$/;
const verifierForm = /^SCRAM-SHA-256\$\d+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+$/;

/** The verifier of a password, or one that a user has computed; undefined when it is neither. */
export function verifierOf(password: string, uid: string, role: string): string | undefined {
  if (verifierForm.test(password)) return password;
  return printable.test(password) ? scramVerifier(password, saltOf(uid, role)) : undefined;
}
