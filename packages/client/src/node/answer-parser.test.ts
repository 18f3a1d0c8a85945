import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerHead, AnswerParser } from "./answer-parser.ts";

interface Seen extends AnswerHead {
  readonly isLast: boolean;
  readonly body: string;
  readonly isWhole: boolean;
}

/** What a parser makes of bytes that come in these pieces, for one method after the other. */
function parsed(pieces: readonly Buffer[], { methods = ["GET"], isClosed = false } = {}): readonly Seen[] {
  const seen: Seen[] = [];
  const last = (change: Partial<Seen>): void => void seen.push({ ...(seen.pop() as Seen), ...change });
  const parser = new AnswerParser({
    head: (head, isLast) => {
      const headers = { ...head.headers };
      seen.push({ status: head.status, headers, isLast, body: "", isWhole: false });
    },
    data: (chunk) => last({ body: (seen.at(-1)?.body ?? "") + chunk.toString() }),
    end: () => {
      last({ isWhole: true });
      parser.expect(methods[seen.length] ?? "GET");
    },
  });
  parser.expect(methods[0] ?? "GET");
  for (const piece of pieces) parser.push(piece);
  if (isClosed) parser.close();
  return seen;
}

const one = (text: string): readonly Buffer[] => [Buffer.from(text)];

const conversation = [
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nWarning: 299 - "a"\r\nwarning: 299 - "b"\r\ncontent-length: 2\r\n\r\n{}',
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;why=not\r\n world\r\n0\r\nSum: 1\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 204 \r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n",
  "HTTP/1.1 409\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
].join("");
const methods = ["GET", "GET", "DELETE", "GET", "HEAD", "PUT"];
const answers: readonly Seen[] = [
  {
    status: 200,
    headers: { "content-type": "application/json", warning: '299 - "a", 299 - "b"', "content-length": "2" },
    ...{ isLast: false, body: "{}", isWhole: true },
  },
  { status: 200, headers: { "transfer-encoding": "chunked" }, isLast: false, body: "hello world", isWhole: true },
  { status: 204, headers: {}, isLast: false, body: "", isWhole: true },
  { status: 304, headers: { "content-length": "99" }, isLast: false, body: "", isWhole: true },
  { status: 200, headers: { "content-length": "12" }, isLast: false, body: "", isWhole: true },
  { status: 409, headers: { connection: "close", "content-length": "0" }, isLast: true, body: "", isWhole: true },
];

test("answers are read one after the other, in whatever pieces they come", () => {
  expect(parsed(one(conversation), { methods })).toEqual(answers);
  const bytes = Buffer.from(conversation);
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 40 });
  fc.assert(
    fc.property(cuts, (unordered) => {
      const ends = [...unordered.toSorted((a, b) => a - b), bytes.length];
      const pieces = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
      expect(parsed(pieces, { methods })).toEqual(answers);
    }),
  );
  expect(
    parsed(
      [...bytes].map((byte) => Buffer.from([byte])),
      { methods },
    ),
  ).toEqual(answers);
});

test("a body without a length ends with its connection, and only there", () => {
  const text = "HTTP/1.1 200 OK\r\n\r\nall of";
  const pieces = [...one(text), ...one(" it")];
  expect(parsed(pieces)).toMatchObject([{ body: "all of it", isLast: true, isWhole: false }]);
  expect(parsed(pieces, { isClosed: true })).toMatchObject([{ body: "all of it", isWhole: true }]);
});

test("whatever else the end of a connection cuts is not whole", () => {
  const texts = ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", conversation.slice(0, 40), chunked("5\r\nhel")];
  for (const text of texts) expect(parsed(one(text), { isClosed: true }).filter(({ isWhole }) => isWhole)).toEqual([]);
});

test("HTTP/1.0 closes unless it says otherwise", () => {
  const answer = (more: string): string => `HTTP/1.0 200 OK\r\ncontent-length: 0\r\n${more}\r\n`;
  expect(parsed(one(answer("")))).toMatchObject([{ isLast: true }]);
  expect(parsed(one(answer("Connection: Keep-Alive\r\n")))).toMatchObject([{ isLast: false }]);
});

function chunked(body: string): string {
  return `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`;
}

test.each([
  ["SSH-2.0-OpenSSH_9.2\r\n\r\n", 'it begins with "SSH-2.0-OpenSSH_9.2"'],
  ["HTTP/2 200\r\n\r\n", "it begins with"],
  ["HTTP/1.1 20 OK\r\n\r\n", "it begins with"],
  ["HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 'the header "no colon"'],
  ["HTTP/1.1 200 OK\r\na: b\r\n folded: c\r\n\r\n", 'the header " folded: c"'],
  ["HTTP/1.1 200 OK\r\ncontent-length : 3\r\n\r\n", "the header"],
  ["HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n", 'content-length is "3, 4"'],
  ["HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\n", 'content-length is "-3"'],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0x3\r\n\r\n", 'content-length is "0x3"'],
  ["HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n", "its transfer-encoding"],
  ["HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "its transfer-encoding"],
  [chunked("g\r\n"), 'the size of a chunk is "g"'],
  [chunked("-1\r\n"), 'the size of a chunk is "-1"'],
  [chunked("fffffffffffffffff\r\n"), "the size of a chunk is"],
  [chunked("3\r\nlong\r\n"), "a chunk is longer than it says"],
  [chunked("1".repeat(2_000)), "the size of a chunk is longer than 1024 bytes"],
  [`HTTP/1.1 200 OK\r\na: ${"b".repeat(70_000)}`, "its head is longer than 65536 bytes"],
  [chunked(`0\r\na: ${"b".repeat(70_000)}`), "its trailer is longer than 65536 bytes"],
])("what could be read in two ways, or has no end, is refused: %j", (text, why) => {
  expect(() => parsed(one(text))).toThrow(`the answer is no HTTP/1.1: `);
  expect(() => parsed(one(text))).toThrow(why);
});

test("a header named as what every object has is a header like others", () => {
  const [answer] = parsed(one("HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ncontent-length: 0\r\n\r\n"));
  expect(Object.entries(answer?.headers ?? {})).toContainEqual(["constructor", "b"]);
});
