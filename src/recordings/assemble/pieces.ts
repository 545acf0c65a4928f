/** Cuts texts as the tokens of a model would come. */
import { letterAt } from '../../core/events.js'

/** Words with the space before them, long ones in parts. */
export const wordsOf = (text: string): readonly string[] => text.match(/\s*\S{1,12}|\s+$/gu) ?? []

/** A part of a text, and what is said of its tokens. */
interface TokenPiece {
  readonly text: string
  readonly tokens: readonly unknown[]
}

/** A text cut where its tokens end. Letters that several tokens share stay whole, and so does a text that is not made of them. */
export function tokenPieces(text: string, tokens: readonly unknown[]): readonly TokenPiece[] {
  const bytes = Buffer.from(text)
  const parts = tokens.map(bytesOf)
  if (!Buffer.concat(parts).equals(bytes) || bytes.toString('utf8') !== text) return [{ text, tokens }]
  const pieces: TokenPiece[] = []
  let [start, end, first] = [0, 0, 0]
  for (const [i, part] of parts.entries()) {
    end += part.length
    const isLast = i === parts.length - 1
    if (letterAt(bytes, end) !== end || (end === bytes.length && !isLast)) continue
    pieces.push({ text: bytes.toString('utf8', start, end), tokens: tokens.slice(first, i + 1) })
    start = end
    first = i + 1
  }
  return pieces
}

/** A token that is only a part of a letter cannot be told as text, so its bytes count. */
function bytesOf(told: unknown): Buffer {
  const { token, bytes } = (told ?? {}) as { readonly token?: unknown; readonly bytes?: unknown }
  return Array.isArray(bytes) ? Buffer.from(bytes) : Buffer.from(typeof token === 'string' ? token : '')
}
