/** The bodies of a HAR file as bytes, mended where a tool is known to have written something else than was sent. */
import { isUtf8 } from 'node:buffer'
import { asUtf8 } from '../core/reply.js'
import type { RecordedResponse } from './recording.js'

/** A text, as HAR says how it is written. A size of -1 is unknown. */
interface SavedText {
  readonly text?: string | null | undefined
  readonly encoding: string
  readonly size: number
}

/** Called with what was mended, or could not be, as the end of a sentence about the entry. */
export interface Remarks {
  mended(what: string): void
  lost(what: string): void
}

/** The bytes of a saved text, and whether they are as they were sent rather than decoded. */
export function savedBytes({ text, encoding, size }: SavedText, { mended }: Pick<Remarks, 'mended'>) {
  const written = text ?? ''
  const utf8 = Buffer.from(written)
  if (!/^base64$/i.test(encoding)) return { bytes: utf8, isRaw: false }
  const bytes = Buffer.from(written, 'base64')
  const isBase64 = /^[\w+/-]*={0,2}$/.test(written.replace(/\s+/g, ''))
  if (isBase64 && (bytes.length === size || utf8.length !== size)) return { bytes, isRaw: true }
  mended('has a text that is called Base64 and is none; it was taken as it is')
  return { bytes: utf8, isRaw: false }
}

/** The headers of a decoded text: as UTF-8, if its bytes would say something else in the charset that they name. */
export function withTypeOfText(
  headers: RecordedResponse['headers'],
  bytes: Buffer,
  { mended }: Pick<Remarks, 'mended'>,
): RecordedResponse['headers'] {
  const [, type = ''] = headers.find(([name]) => name === 'content-type') ?? []
  const [, charset] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? []
  if (charset === undefined || says(bytes, charset)) return headers
  mended(`was sent as ${charset}; it is kept as UTF-8`)
  return headers.map(([name, value]) => [name, name === 'content-type' ? asUtf8(value) : value])
}

function says(bytes: Buffer, charset: string): boolean {
  try {
    return new TextDecoder(charset).decode(bytes) === bytes.toString()
  } catch {
    return false
  }
}

/** The characters of the bytes from 0x80 in windows-1252. */
const from80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** The first and second byte of a non-ASCII character, or the replacement for a byte that could not be read. */
const garbled = /[\xc2-\xf4][\x80-\xbf\u0100-\uffff]/

/**
 * Chromium reads event streams with one character per byte, as Latin-1 or as windows-1252. `size` is the number of bytes
 * as they were sent, except in files of Playwright, which counts those of the garbled text.
 */
export function savedStream({ text, size }: SavedText, type: string, { mended, lost }: Remarks): Buffer {
  const written = text ?? ''
  const utf8 = Buffer.from(written)
  if (!garbled.test(written)) return utf8
  const isOtherSize = size !== utf8.length
  const codes = Array.from(written, one => (one < '\x80' ? one.charCodeAt(0) : byteOf(one)))
  const bytes = Buffer.from(codes)
  if ((isOtherSize || !/charset/i.test(type)) && codes.every(code => code < 0x100) && isUtf8(bytes)) {
    mended('was saved with its UTF-8 read as Latin-1, as Chromium does; its characters have been restored')
    return bytes
  }
  if (isOtherSize)
    lost('looks garbled: its UTF-8 was read in another encoding, and part of it is lost. Record it again')
  return utf8
}

function byteOf(character: string): number {
  const i = from80.indexOf(character)
  return i < 0 ? (character.codePointAt(0) ?? 0) : 0x80 + i
}
