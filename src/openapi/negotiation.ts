/** Content negotiation: Content-Type, Accept and Prefer. */

interface Range {
  readonly type: string
  readonly quality: number
}

const mediaType = (type: string) => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const matches = (range: string, type: string) =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** The entry of `types` that matches a Content-Type. Entries may be ranges such as `image/*`. */
export function matchingType(sent: string, types: readonly string[]): string | undefined {
  const type = mediaType(sent)
  return types.find(one => mediaType(one) === type) ?? types.find(one => matches(mediaType(one), type))
}

/** The entry of `types` that an Accept header prefers. On a tie, JSON wins. */
export function acceptedType(accept: string | undefined, types: readonly string[]): string | undefined {
  const ranges = rangesIn(accept ?? '*/*')
  const qualityOf = (type: string) => {
    const matching = ranges.filter(
      ({ type: range }) => matches(range, mediaType(type)) || matches(mediaType(type), range),
    )
    return matching.toSorted((a, b) => specificity(b) - specificity(a))[0]?.quality ?? 0
  }
  const rated = types.map((type, i) => ({ type, i, quality: qualityOf(type), json: /[/+]json\b/i.test(type) ? 0 : 1 }))
  const [best] = rated
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality || a.json - b.json || a.i - b.i)
  return best?.type
}

const specificity = ({ type }: Range) => (type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2)

/** Further ranges are ignored. */
const MOST_RANGES = 50

function rangesIn(accept: string): readonly Range[] {
  return accept
    .split(',', MOST_RANGES)
    .map(part => {
      const [, quality = '1'] = /;\s*q=([\d.]+)/i.exec(part) ?? []
      return { type: mediaType(part), quality: Number(quality) || 0 }
    })
    .filter(({ type }) => type !== '')
}

export interface Preferences {
  readonly code?: number
  readonly example?: string
  /** Whether to generate values instead of using examples. */
  readonly dynamic?: boolean
}

/**
 * Reads the same preferences as Prism: `code=404`, `example=empty`, `dynamic=true`. Others are ignored (RFC 7240 §2).
 */
export function preferencesIn(header: string | readonly string[] | undefined): Preferences {
  if (header === undefined) return {}
  const found = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of [header].flat().join(',').matchAll(preference)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted ?? plain)
  }
  const [code = '', example, dynamic] = ['code', 'example', 'dynamic'].map(name => found.get(name))
  return {
    ...(/^[1-5]\d\d$/.test(code) && { code: Number(code) }),
    ...(example !== undefined && { example }),
    ...(dynamic === 'true' && { dynamic: true }),
  }
}

const preference = /(?:^|[,;])\s*([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,;"]*))/g
