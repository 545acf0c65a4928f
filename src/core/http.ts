/** Helpers that node's HTTP lacks: decompressing bodies, the bytes of a reply, headers in flat arrays, addresses, and Retry-After. */
import type { Transform } from 'node:stream'
import type { PacedBody, Reply } from './reply.js'

type Decompress = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer

// Loaded only when something is compressed, since the journal is loaded at every start and hardly ever needs it.
const zlib = () => process.getBuiltinModule('node:zlib')

interface Decoder {
  readonly sync: Decompress
  readonly stream: () => Transform
}

/** Servers send "deflate" with and without a zlib header (RFC 9110 §8.4.1.2). */
const hasZlibHeader = (first: Buffer | undefined) => ((first?.[0] ?? 0) & 0x0f) === 8

/** Throws for an unsupported coding. `first` has the first bytes of the body. */
function decoderFor(coding: string, first: Buffer | undefined): Decoder {
  const all = zlib()
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return { sync: all.gunzipSync, stream: all.createGunzip }
    case 'deflate':
      return hasZlibHeader(first)
        ? { sync: all.inflateSync, stream: all.createInflate }
        : { sync: all.inflateRawSync, stream: all.createInflateRaw }
    case 'br':
      return { sync: all.brotliDecompressSync, stream: all.createBrotliDecompress }
    case 'zstd':
      return { sync: all.zstdDecompressSync, stream: all.createZstdDecompress }
  }
  throw new Error(`its Content-Encoding ${JSON.stringify(coding.slice(0, 100))} cannot be read here`)
}

/** The codings of a Content-Encoding header, in the order in which they must be removed. */
const codingsIn = (encoding: string | undefined): readonly string[] =>
  (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity')
    .reverse()

/**
 * Decompresses a body. `encoding` is the value of its Content-Encoding. Throws if it cannot be decompressed, or would
 * be longer than `mostBytes`.
 */
export const decompress = (body: Buffer, encoding: string | undefined, mostBytes: number): Buffer =>
  codingsIn(encoding).reduce(
    (bytes, coding) => decoderFor(coding, bytes).sync(bytes, { maxOutputLength: mostBytes }),
    body,
  )

/** Bytes, and when they arrived. */
interface Chunk {
  readonly atMs: number
  readonly bytes: Buffer
}

/**
 * Decompresses chunks. `encoding` is the value of Content-Encoding. Each chunk gets the bytes that became readable with
 * it. Rejects with an Error if they cannot be decompressed or are more than `mostBytes`; its message is the end of a
 * sentence about the body. An incomplete body is read as far as possible.
 */
export async function decompressChunks(
  chunks: readonly Chunk[],
  encoding: string | undefined,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<readonly Chunk[]> {
  let plain = chunks
  for (const coding of codingsIn(encoding)) plain = await decompressOne(plain, coding, mostBytes)
  return plain
}

async function decompressOne(chunks: readonly Chunk[], coding: string, mostBytes: number): Promise<readonly Chunk[]> {
  const [first] = chunks
  const { stream } = decoderFor(coding, first?.bytes)
  if (!first) return chunks
  const decoder = stream()
  const broken = new Promise<never>((_resolve, reject) => {
    decoder.once('error', ({ message }) => reject(new Error(`it is not valid ${coding} (${message})`)))
  })
  broken.catch(() => {})
  let parts: Buffer[] = []
  decoder.on('data', (part: Buffer) => void parts.push(part))
  const decompressed: Chunk[] = []
  let allBytes = 0
  for (const { atMs, bytes } of chunks) {
    parts = []
    await Promise.race([broken, new Promise(done => decoder.write(bytes, done))])
    const chunk = { atMs, bytes: Buffer.concat(parts) }
    decompressed.push(chunk)
    allBytes += chunk.bytes.length
    if (allBytes <= mostBytes) continue
    decoder.destroy()
    throw new Error(`it is larger than ${mostBytes} bytes when decompressed`)
  }
  decoder.destroy()
  return decompressed
}

export const noBytes = Buffer.alloc(0)

/** The body of a reply as bytes, for inspection after it was sent. */
export function replyBytes({ body }: Pick<Reply, 'body'>): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(pacedText(body), body.isLatin1 ? 'latin1' : 'utf8')
}

/** All of a body as one text. */
export const pacedText = ({ head, before, pieces, after, tail }: PacedBody): string =>
  pieces.length === 0 ? head + tail : head + before + pieces.join(after + before) + after + tail

/** The first value of the header with this name, which must be lower-case. */
export const headerIn = (headers: readonly string[], name: string): string | undefined =>
  headers.find((_value, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === name)

const liveAddress = /^(?:https?:)?\/\/[^/?#]*/i

/** The headers of a live answer in which addresses of the live platform at `baseUrl` are paths of this stand-in. */
export function withOwnAddresses(headers: readonly string[], baseUrl: string): string[] {
  return headers.map((value, i) => {
    const name = i % 2 === 1 ? headers[i - 1]?.toLowerCase() : undefined
    if (name === 'location' || name === 'content-location') return ownAddress(value, new URL(baseUrl))
    if (name === 'link')
      return value.replace(/<([^<>]*)>/g, (_, address) => `<${ownAddress(address, new URL(baseUrl))}>`)
    return value
  })
}

/** A path, which fits whatever name a client has for this stand-in. Other addresses stay, and so does their spelling. */
function ownAddress(address: string, { protocol, host, origin, pathname }: URL): string {
  const [start = ''] = liveAddress.exec(address) ?? []
  const written = start.startsWith('//') ? protocol + start : start
  const isLive = URL.canParse(written) ? new URL(written).host === host : start === '' && address.startsWith('/')
  if (!isLive) return address
  const prefix = pathname.replace(/(?<!\/)\/+$/, '')
  const path = address.slice(start.length)
  const rest = path.slice(prefix.length)
  // The stand-in has no path for what is outside the live platform's folder.
  if (!path.startsWith(prefix) || !/^([/?#]|$)/.test(rest)) return start === '' ? origin + address : address
  // Two slashes would begin the name of a host.
  if (/^\/[/\\]/.test(rest)) return `/.${rest}`
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The characters that a header's value may contain (RFC 9110 §5.5). */
const headerCharacters = /^[\t\x20-\x7e\x80-\xff]*$/

/** What an address cannot contain (RFC 3986 §2). A percent sign stays if it already encodes something. */
const notInAddress = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\da-f]{2})/giu

const encodedAddress = (text: string) => text.toWellFormed().replace(notInAddress, encodeURIComponent)

/** The value of a header as it can be sent: addresses are percent-encoded. `undefined` if it has other characters that no header may have. */
export function headerValueOf(name: string, text: string): string | undefined {
  const key = name.toLowerCase()
  if (key === 'location' || key === 'content-location') return encodedAddress(text)
  const value = key === 'link' ? text.replace(/<([^<>]*)>/g, (_, address) => `<${encodedAddress(address)}>`) : text
  return headerCharacters.test(value) ? value : undefined
}

/** The headers that say when to try again: in seconds for all clients, in milliseconds for OpenAI's, which read that first. */
export const retryHeaders = (afterMs: number): readonly string[] => [
  'retry-after',
  String(Math.max(1, Math.ceil(afterMs / 1000))),
  'retry-after-ms',
  String(Math.max(1, Math.ceil(afterMs))),
]

const MOST_TRIES = 3
/** A longer Retry-After is not waited for. */
const LONGEST_WAIT_MS = 30_000
/** For a 429 without Retry-After. */
const USUAL_WAIT_MS = 1000

/** Whether the server asks clients to come back later. */
export const isBusy = (status: number): boolean => status === 429 || status === 503

/** How long to wait before a request is sent again after this answer to its `attempt`, counted from 1; `undefined` if it is not. Retry-After is seconds or a date (RFC 9110 §10.2.3). */
export function retryWaitMs(status: number, retryAfter: string | undefined, attempt: number): number | undefined {
  if (!isBusy(status) || attempt >= MOST_TRIES) return undefined
  const written = retryAfter ?? ''
  const asked = /^\d+$/.test(written) ? Number(written) * 1000 : Date.parse(written) - Date.now()
  const waitMs = Number.isNaN(asked) ? USUAL_WAIT_MS : Math.max(0, asked)
  return waitMs <= LONGEST_WAIT_MS ? waitMs : undefined
}

/** The token of an Authorization header with the scheme Bearer, in any case; empty if there is none. */
export const bearerTokenIn = (authorization = ''): string => /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
