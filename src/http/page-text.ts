/** Reads the visible text of an HTML page: enough to find the reason in a gateway's error page. */

/** A part of a page's text, and the title, heading or invisible element around it, if any. */
interface Part {
  readonly text: string
  readonly tag: string
  /** Distinguishes two elements with the same tag. */
  readonly element: number
}

/** Elements whose content is not visible. */
const invisible = new Set(['script', 'style', 'svg', 'template', 'noscript'])
/** Titles without information. The text of the page says more. */
const uninformative = /^(error|untitled|document)?$/i
/** Only the beginning of a page is read, since the reason is there. */
const MOST_CHARACTERS = 65_536

/** Returns the title, else the first heading, else the whole visible text. */
export function pageText(html: string): string {
  const parts = partsOf(html.slice(0, MOST_CHARACTERS))
  const heading = parts.find(({ tag, text }) => /^h[1-3]$/.test(tag) && text.trim() !== '')
  const candidates = [
    parts.filter(({ tag }) => tag === 'title'),
    parts.filter(({ element }) => element === heading?.element),
  ]
  const found = candidates.map(joinedText).find(text => !uninformative.test(text))
  return found ?? joinedText(parts.filter(({ tag }) => tag !== 'title'))
}

/** Splits a page at its tags. A regular expression over the whole page could take seconds. */
function partsOf(html: string): readonly Part[] {
  const parts: Part[] = []
  let tag = ''
  let element = 0
  let isComment = false
  for (const [i, piece] of `>${html}`.split('<').entries()) {
    if (i > 0 && piece.startsWith('!--')) isComment = true
    const endMark = isComment ? '-->' : '>'
    const end = piece.indexOf(endMark)
    if (isComment && end < 0) continue
    if (!isComment) {
      const [, slash, name = ''] = /^(\/?)([a-z][a-z0-9]*)/i.exec(piece) ?? []
      const tagName = name.toLowerCase()
      if (slash && tagName === tag) tag = ''
      else if (!slash && tag === '' && (invisible.has(tagName) || /^(title|h[1-3])$/.test(tagName))) {
        tag = tagName
        element++
      }
    }
    isComment = false
    // A "<" that does not begin a tag is text.
    const text = end < 0 ? piece : piece.slice(end + endMark.length)
    if (text !== '' && !invisible.has(tag)) parts.push({ text, tag, element: tag === '' ? 0 : element })
  }
  return parts
}

const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' },
  ...{ mdash: '—', ndash: '–', hellip: '…', middot: '·', copy: '©' },
}

const joinedText = (parts: readonly Part[]): string =>
  parts
    .map(({ text }) => text)
    .join(' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? all
      const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return point <= 0x10ffff ? String.fromCodePoint(point) : all
    })
    .replace(/\s+/g, ' ')
    .trim()
