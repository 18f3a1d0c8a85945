/** Addresses that receivers are sent to. */
import { type Place, refuseAt } from "./place.ts";

/** The address itself; `isSecret` when no message may quote it. */
export function checkUrl(place: Place, text: string, isSecret = false): string {
  if (isAddress(text)) return text;
  throw refuseAt(place, `expected an http or https URL${isSecret ? "" : `, got "${text}"`}`);
}

/** A template is an address only when an alert fills it. */
export function checkTemplateUrl(place: Place, text: string): string {
  if (!text.includes("{{")) return checkUrl(place, text, true);
  if (isTemplate(text)) return text;
  throw refuseAt(place, "expected a template whose actions all end with }}");
}

/** Whether each action of a template ends. */
export function isTemplate(text: string): boolean {
  return text
    .split("{{")
    .slice(1)
    .every((action) => action.includes("}}"));
}

export function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return /^https?:\/\/[^/]/.test(text) && (protocol === "http:" || protocol === "https:") && hostname !== "";
}
