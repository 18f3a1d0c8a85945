const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether a value is a text of base64; line ends count for nothing, as in Go. */
export function isBase64(value: unknown): boolean {
  return typeof value === "string" && base64.test(/[\r\n]/.test(value) ? value.replaceAll(/[\r\n]/g, "") : value);
}
