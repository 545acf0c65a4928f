/** Globs of addresses, as Supabase Auth reads them. */

/** Returns what a glob matches. Throws a SyntaxError for a range such as `[z-a]`, which contains nothing. */
export const globPattern = (glob: string) => new RegExp(`^${sourceOf(glob)}$`, 's')

/** Whether the ranges of a glob contain something. */
export function isGlob(text: string): boolean {
  try {
    globPattern(text)
    return true
  } catch {
    return false
  }
}

/**
 * Translates Supabase's globs: `*` matches anything but `.` and `/`, `**` anything, `?` one character, `[!a-z]` a
 * character that is not listed, `{a,b}` either.
 */
function sourceOf(glob: string): string {
  return glob.replace(/\\.|\*\*|\[!?[^\]]+\]|\{[^{}]*\}|./gs, part => {
    const inside = part.slice(1, -1)
    if (part === '**') return '.*'
    if (part === '*') return '[^./]*'
    if (part === '?') return '[^./]'
    if (part.length === 1) return literal(part)
    if (part.startsWith('{')) return `(?:${inside.split(',').map(sourceOf).join('|')})`
    if (part.startsWith('[!')) return `[^${literal(inside.slice(1))}]`
    return part.startsWith('[') ? `[${literal(inside)}]` : literal(part.slice(1))
  })
}

const literal = (text: string) => text.replace(/[.+*?^${}()|[\]\\/]/g, '\\$&')
