/** Finds the text that every match of a regular expression contains, so that rules can be indexed by it. */

/** Letters with a meaning after a backslash: classes and anchors. */
const meaningful = /[a-z]/i
/** Escapes that continue after their letter: code points, properties, back references. */
const longer = /\\[xuckpP\d]/
/** A quantifier. */
export const repetition = /^\{\d+(,\d*)?\}/

/**
 * Returns the longest text that every match contains, for each alternative of `expression`; empty if one alternative
 * has none. With the flag i, the case of the text is not significant. Groups and classes simply end a text.
 */
export function requiredLiterals({ source, flags }: RegExp): readonly string[] {
  // With v, classes can be nested, which this does not parse. With i and u, some ASCII letters match letters that are not ASCII.
  if (flags.includes('v') || (flags.includes('i') && flags.includes('u')) || longer.test(source)) return []
  const alternatives = [new Alternative()]
  for (let i = 0; i < source.length; i++) {
    const alternative = alternatives.at(-1) as Alternative
    const letter = source[i] as string
    switch (letter) {
      case '|':
        alternatives.push(new Alternative())
        break
      case '\\': {
        const escaped = source[++i] ?? ''
        if (meaningful.test(escaped)) alternative.end()
        else alternative.add(escaped)
        break
      }
      case '?':
      case '*':
      case '{':
        alternative.endBeforeLast()
        i += (repetition.exec(source.slice(i))?.[0].length ?? 1) - 1
        break
      case '(':
      case '[':
      case '+':
      case '.':
      case '^':
      case '$':
        alternative.end()
        i = lastOf(source, i)
        break
      default:
        alternative.add(letter)
    }
  }
  const longest = alternatives.map(alternative => alternative.end())
  return longest.every(text => text !== '') ? longest : []
}

/** The texts that every match of an alternative contains. */
class Alternative {
  private run = ''
  private longest = ''

  add(letter: string): void {
    this.run += letter
  }

  /** Ends the current text. Returns the longest one so far. */
  end(): string {
    if (this.run.length > this.longest.length) this.longest = this.run
    this.run = ''
    return this.longest
  }

  /** The last character may be missing from a match, as it is followed by a quantifier. */
  endBeforeLast(): void {
    this.run = this.run.replace(/[\ud800-\udbff]?.$/s, '')
    this.end()
  }
}

/** The position of the last character of what begins at `from`. */
function lastOf(source: string, from: number): number {
  if (source[from] === '(') return behindGroup(source, from)
  return source[from] === '[' ? behindClass(source, from) : from
}

/** The position of the `)` that closes the group opened at `from`. */
function behindGroup(source: string, from: number): number {
  let depth = 0
  for (let i = from; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '[') i = behindClass(source, i)
    else if (source[i] === '(') depth++
    else if (source[i] === ')' && --depth === 0) return i
  }
  return source.length
}

/** The position of the `]` that closes the class opened at `from`. */
export function behindClass(source: string, from: number): number {
  for (let i = from + 1; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === ']') return i
  }
  return source.length
}
