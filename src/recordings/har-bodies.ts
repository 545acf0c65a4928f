/** Brings bodies that a tool keeps in a form of its own into that of HAR: files beside it, pieces, hexadecimal digits, gzip. */
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { decompress } from '../core/http.js'
import { type Entry, harHeaders } from './har-form.js'
import { MOST_BODY_BYTES } from './recording.js'

export interface HarSource {
  /** What wrote the file, as it says. */
  readonly tool: string
  /** The folder of the file, or `undefined` for standard input. */
  readonly folder: string | undefined
}

/** A body that cannot be had; the message is the end of a sentence about the entry. */
export class LostBody extends Error {}

/** The entry with its bodies as HAR has them. Throws a LostBody. */
export function withBodies(entry: Entry, source: HarSource): Entry {
  const { request, response } = entry
  const postData = request.postData && { ...request.postData, ...attachedText(request.postData, source) }
  const content = { ...response.content, ...attachedText(response.content, source) }
  return {
    ...entry,
    request: { ...request, postData },
    response: { ...response, content: decoded(content, harHeaders(response), source) },
  }
}

interface Attached {
  readonly text?: string | null | undefined
  readonly _file?: string | null | undefined
}

/** The text of the file that an entry names: Playwright's `attach`. */
function attachedText({ text, _file: file }: Attached, { folder }: HarSource) {
  if (!file || text) return {}
  if (folder === undefined) throw new LostBody(`has a body in ${file}, beside the HAR file. Import the file itself`)
  const full = path.resolve(folder, file)
  if (path.relative(folder, full).startsWith('..')) throw new LostBody(`has a body in ${file}, outside of its folder`)
  try {
    const bytes = readFileSync(full)
    return isUtf8(bytes) ? { text: bytes.toString() } : base64(bytes)
  } catch (error) {
    throw new LostBody(`has a body in ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

type Content = Entry['response']['content']
const base64 = (bytes: Buffer) => ({ text: bytes.toString('base64'), encoding: 'base64', size: bytes.length })

type Digits = 'base64' | 'hex'

/** An answer whose bytes are written as digits, or in pieces, or compressed: as the Base64 of what the client has read. */
function decoded(content: Content, headers: Readonly<Record<string, string>>, { tool }: HarSource): Content {
  const { 'content-encoding': coding, 'content-length': length } = headers
  const text = content.text ?? ''
  const digits = digitsOf(content, coding, /polly/i.test(tool))
  // Polly gives the size of what was sent.
  if (digits === undefined) return coding && content.size === Number(length) ? { ...content, size: -1 } : content
  const pieces = piecesIn(text, digits)
  const bytes = pieces ? Buffer.concat(pieces) : Buffer.from(text, digits)
  const plain = decompressed(bytes, coding)
  if (plain) return { ...content, ...base64(plain) }
  if (pieces && coding) throw new LostBody(`has a body in pieces that are not valid ${coding}`)
  // Most tools have decompressed it. Whether Base64 of theirs is any is decided later.
  const isCertain = pieces !== undefined || digits === 'hex' || /polly/i.test(tool)
  return isCertain ? { ...content, ...base64(bytes) } : content
}

function digitsOf({ text, encoding, mimeType, _isBinary }: Content, coding: string | undefined, isPolly: boolean) {
  if (/^base64$/i.test(encoding)) return 'base64'
  if (_isBinary || /^hex$/i.test(encoding)) return 'hex'
  if (!isPolly || !text) return undefined
  // Before version 4.2, Polly did not say it.
  const isHex = coding ? piecesIn(text, 'hex') : isDigits(text, 'hex') && !/json|text|xml|script|form/i.test(mimeType)
  return isHex ? 'hex' : undefined
}

/** The pieces of a body that Polly keeps as they came, in a JSON array. */
function piecesIn(text: string, digits: Digits): readonly Buffer[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const pieces: unknown = JSON.parse(text)
    const isList = Array.isArray(pieces) && pieces.every(piece => typeof piece === 'string' && isDigits(piece, digits))
    return isList ? pieces.map(piece => Buffer.from(piece, digits)) : undefined
  } catch {
    return undefined
  }
}

const isDigits = (text: string, digits: Digits) =>
  digits === 'hex' ? /^([\da-f]{2})*$/i.test(text) : /^[\w+/-]*={0,2}$/.test(text)

function decompressed(bytes: Buffer, coding: string | undefined): Buffer | undefined {
  if (!coding || bytes.length === 0) return undefined
  try {
    const plain = decompress(bytes, coding, MOST_BODY_BYTES)
    return plain === bytes ? undefined : plain
  } catch {
    return undefined
  }
}
