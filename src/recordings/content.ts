/** Bytes as a person reads them: as text where they are some, else in Base64. */
import { isUtf8 } from 'node:buffer'

export type Content = { readonly text: string } | { readonly base64: string }

export function contentOf(bytes: Buffer): Content {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what has them is no text to a person, even where UTF-8 has them
  if (isUtf8(bytes) && !/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(bytes.toString('latin1')))
    return { text: bytes.toString('utf8') }
  return { base64: base64Of(bytes) }
}

/** In lines of a modest width. */
export function base64Of(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,100}/g) ?? []
  return lines.length > 1 ? `${lines.join('\n')}\n` : lines.join()
}

/** The bytes again. */
export function bytesIn({
  text,
  base64,
}: {
  readonly text?: string | undefined
  readonly base64?: string | undefined
}): Buffer {
  return base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64')
}
