/** Takes the compression off a body that is there as a whole. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

/** `coding` is what its Content-Encoding says. Throws where it cannot be decoded, or would be longer than `mostBytes`. */
export function decoded(body: Buffer, coding: string | undefined, mostBytes: number): Buffer {
  const limit = { maxOutputLength: mostBytes }
  switch (coding?.toLowerCase() ?? 'identity') {
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, limit)
    case 'deflate':
      return inflateSync(body, limit)
    case 'br':
      return brotliDecompressSync(body, limit)
    default:
      throw new Error(`No way to decode ${coding}.`)
  }
}
