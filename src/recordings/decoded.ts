/** Takes an answer out of the compression it came in: what is kept has to be searched for secrets, and read by people. */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { RecordedChunk } from './recording.js'

type Decoder = ReturnType<typeof createGunzip>

const decoders: Readonly<Record<string, (first: Buffer) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // What is called deflate comes with a head and without one (RFC 9110 §8.4.1.2).
  deflate: first => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
}

/**
 * The chunks without their `encoding` (the header's value), each with the bytes that could be read from it. Rejects with an Error that says
 * why when they cannot be read, or are more than `mostBytes`. What broke off is read as far as it goes.
 */
export async function decodedChunks(
  chunks: readonly RecordedChunk[],
  encoding: string,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<readonly RecordedChunk[]> {
  const names = encoding
    .toLowerCase()
    .split(/ *, */)
    .filter(name => name !== '' && name !== 'identity')
  let decoded = chunks
  // They were put on in this order.
  for (const name of names.reverse()) decoded = await unpacked(decoded, name, mostBytes)
  return decoded
}

async function unpacked(
  chunks: readonly RecordedChunk[],
  name: string,
  mostBytes: number,
): Promise<readonly RecordedChunk[]> {
  const make = Object.hasOwn(decoders, name) ? decoders[name] : undefined
  if (!make) throw new Error(`its Content-Encoding ${JSON.stringify(name.slice(0, 100))} cannot be read here`)
  const [first] = chunks
  if (!first) return chunks
  const decoder = make(first.bytes)
  const broken = new Promise<never>((_resolve, reject) => {
    decoder.once('error', ({ message }) => reject(new Error(`it is not the ${name} that it says it is (${message})`)))
  })
  broken.catch(() => {})
  let parts: Buffer[] = []
  decoder.on('data', (part: Buffer) => void parts.push(part))
  const found: RecordedChunk[] = []
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
