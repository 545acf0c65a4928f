/**
 * Gaps in node's HTTP: compressed bodies, the bytes of a reply, headers in flat arrays, and servers with untrusted
 * certificates.
 */
import type { Transform } from 'node:stream'
import type { Paced, Reply } from './exchange.js'

type Decompress = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer

// Loaded only when something is compressed, since the journal is loaded at every start and hardly ever needs it.
const zlib = () => process.getBuiltinModule('node:zlib')

/** Available in node from 22.15 on. */
interface Zstd {
  readonly zstdDecompressSync?: Decompress
  readonly createZstdDecompress?: () => Transform
}

interface Decoder {
  readonly whole: Decompress
  readonly stream: () => Transform
}

/** "deflate" is used with and without a zlib header (RFC 9110 §8.4.1.2). */
const hasHeader = (first: Buffer | undefined) => ((first?.[0] ?? 0) & 0x0f) === 8

/** Throws for an unsupported coding. `first` are the first bytes of the body. */
function decoderFor(coding: string, first: Buffer | undefined): Decoder {
  const all = zlib() as ReturnType<typeof zlib> & Zstd
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return { whole: all.gunzipSync, stream: all.createGunzip }
    case 'deflate':
      return hasHeader(first)
        ? { whole: all.inflateSync, stream: all.createInflate }
        : { whole: all.inflateRawSync, stream: all.createInflateRaw }
    case 'br':
      return { whole: all.brotliDecompressSync, stream: all.createBrotliDecompress }
    case 'zstd': {
      const { zstdDecompressSync: whole, createZstdDecompress: stream } = all
      if (whole && stream) return { whole, stream }
    }
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
export const decoded = (body: Buffer, encoding: string | undefined, mostBytes: number): Buffer =>
  codingsIn(encoding).reduce(
    (bytes, coding) => decoderFor(coding, bytes).whole(bytes, { maxOutputLength: mostBytes }),
    body,
  )

/** Bytes, and when they arrived. */
interface Chunk {
  readonly atMs: number
  readonly bytes: Buffer
}

/**
 * Decompresses chunks. `encoding` is the value of Content-Encoding. Each chunk gets the bytes that became readable with
 * it. Rejects with an Error that says why if they cannot be decompressed, or are more than `mostBytes`. An incomplete
 * body is read as far as possible.
 */
export async function decodedChunks(
  chunks: readonly Chunk[],
  encoding: string | undefined,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<readonly Chunk[]> {
  let plain = chunks
  for (const coding of codingsIn(encoding)) plain = await unpacked(plain, coding, mostBytes)
  return plain
}

async function unpacked(chunks: readonly Chunk[], coding: string, mostBytes: number): Promise<readonly Chunk[]> {
  const [first] = chunks
  const { stream } = decoderFor(coding, first?.bytes)
  if (!first) return chunks
  const decoder = stream()
  const broken = new Promise<never>((_resolve, reject) => {
    decoder.once('error', ({ message }) => reject(new Error(`it is not the ${coding} that it says it is (${message})`)))
  })
  broken.catch(() => {})
  let parts: Buffer[] = []
  decoder.on('data', (part: Buffer) => void parts.push(part))
  const found: Chunk[] = []
  let allBytes = 0
  for (const { atMs, bytes } of chunks) {
    parts = []
    await Promise.race([broken, new Promise(done => decoder.write(bytes, done))])
    const unpacked = Buffer.concat(parts)
    found.push({ atMs, bytes: unpacked })
    allBytes += unpacked.length
    if (allBytes <= mostBytes) continue
    decoder.destroy()
    throw new Error(`unpacked it is larger than recordings.maxBytes (${mostBytes})`)
  }
  decoder.destroy()
  return found
}

/** The body of a reply as bytes, for inspection after it was sent. */
export function replyBytes({ body, again }: Pick<Reply, 'body' | 'again'>): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (Buffer.isBuffer(body)) return again?.() ?? body
  return Buffer.from(textOf(body), body.bytewise ? 'latin1' : 'utf8')
}

const textOf = ({ head, before, pieces, after, tail }: Paced) =>
  head + pieces.map(piece => before + piece + after).join('') + tail

/** The first value of the header with this name, which must be lower-case. */
export const headerIn = (headers: readonly string[], wanted: string): string | undefined =>
  headers.find((_value, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === wanted)

/** Node's own fetch, or one for `upstream.insecure`, which supports only text bodies. */
export const fetchFrom = ({ insecure }: { readonly insecure: boolean }): typeof fetch => (insecure ? trusting : fetch)

/** Node's fetch has no option to trust a certificate, but its requests do. */
const trusting: typeof fetch = async (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input)
  if (url.protocol !== 'https:') return fetch(input, init)
  // Rarely needed, and slow to load.
  const [{ request: open }, { Readable }] = await Promise.all([import('node:https'), import('node:stream')])
  const { method = 'GET', body, signal } = init
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const request = open(url, { method, headers, rejectUnauthorized: false, signal: signal ?? undefined })
    request.once('error', cause => reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause })))
    request.once('response', answer => {
      const { statusCode: status = 0 } = answer
      if (init.redirect === 'error' && status >= 300 && status < 400) {
        answer.destroy()
        return reject(new TypeError('fetch failed', { cause: new Error('unexpected redirect') }))
      }
      const hasBody = ![204, 205, 304].includes(status)
      const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      )
      resolve(new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, { status, headers }))
    })
    request.end(body)
  })
}

/** The end of a chunked body (RFC 9112 §7.1). */
export const LAST_CHUNK = '0\r\n\r\n'

/** Enough for the head of an answer without unusual headers. */
export const HEAD_ROOM = 1024
